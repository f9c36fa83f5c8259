/**
 * `cafe::showcase`: calls with every kind of argument, an event with every shape of data, calls signed by two, paid
 * by another, without sequence number, as a script, and calls that fail.
 */

import type { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import type { CompiledScript } from '../../move/modules/compiled.ts';
import type { ExecutionStatus } from '../../move/transactions/transaction-info.ts';
import { ADDRESS_ONE } from '../../move/types/address.ts';
import { writeScript } from '../assembler/write-module.ts';
import { eventType } from '../effects.ts';
import { CAFE } from '../framework/application-modules.ts';
import type { Random } from '../random.ts';
import {
  type Action,
  argument,
  type Call,
  entryFunction,
  pickReceiver,
  pickSender,
  u64Argument,
  type World,
} from '../world.ts';
import { transferNative } from './transfers.ts';

const SHOWN = eventType('0xcafe::showcase::Shown');
const POINT = '0xcafe::showcase::Point';

function wide(random: Random, bits: number): bigint {
  let value = 0n;
  for (let done = 0; done < bits; done += 32) value = (value << 32n) | BigInt(random.u32());
  return BigInt.asUintN(bits, value);
}

function signed(random: Random, bits: 8 | 16 | 32 | 64 | 128 | 256): (to: BcsWriter) => unknown {
  const value = BigInt.asIntN(bits, wide(random, bits));
  return (to) => to.signed(value, bits);
}

interface Point {
  readonly x: number;
  readonly y: number;
}

function drawPoint(random: Random): Point {
  return { x: random.between(-500, 500), y: random.between(-500, 500) };
}

function writePoint(writer: BcsWriter, point: Point): void {
  writer.signed(BigInt(point.x), 64).signed(BigInt(point.y), 64);
}

/** Dot; Circle { centre, radius }; Path(points, closed). */
function writeShape(writer: BcsWriter, variant: number, points: readonly Point[]): void {
  writer.uleb32(variant);
  if (variant === 1) {
    writePoint(writer, points[0]!);
    writer.u32(Math.abs(points[0]!.x));
  }
  if (variant === 2) writer.vector(points, writePoint).bool(points.length > 2);
}

/** Draws the arguments of one function; none of them is encoded before the transaction is. */
type ArgumentDrawer = (world: World) => readonly ((to: BcsWriter) => unknown)[];

interface ShowcaseFunction {
  readonly name: string;
  readonly typeArguments: readonly string[];
  readonly draw: ArgumentDrawer;
}

const FUNCTIONS: readonly ShowcaseFunction[] = [
  {
    name: 'unsigned_numbers',
    typeArguments: [],
    draw: ({ random }) => {
      const small = random.below(256);
      const [u64, u128, u256] = [wide(random, 64), wide(random, 128), wide(random, 256)];
      return [
        (to) => to.u8(small),
        (to) => to.u16(small * 255),
        (to) => to.u32(small * 65_535),
        (to) => to.u64(u64),
        (to) => to.u128(u128),
        (to) => to.u256(u256),
      ];
    },
  },
  {
    name: 'signed_numbers',
    typeArguments: [],
    draw: ({ random }) => ([8, 16, 32, 64, 128, 256] as const).map((bits) => signed(random, bits)),
  },
  {
    name: 'plain_values',
    typeArguments: [],
    draw: ({ random, accounts }) => {
      const yes = random.perMille(500);
      const who = random.below(accounts.count);
      const raw = Buffer.alloc(random.below(64), random.below(256));
      return [
        (to) => to.bool(yes),
        (to) => to.fixed(accounts.addressBytes(who)),
        (to) => to.bytes(raw),
      ];
    },
  },
  {
    name: 'vectors',
    typeArguments: [],
    draw: ({ random }) => {
      const numbers = Array.from({ length: random.below(8) }, () => wide(random, 64));
      const rows = Array.from({ length: random.below(4) }, (_, row) =>
        Array.from({ length: row }, () => random.perMille(500)),
      );
      return [
        (to) => to.vector(numbers, (inner, value) => inner.u64(value)),
        (to) => to.vector(numbers, (inner, value) => inner.string(`no. ${value}`)),
        (to) => to.vector(rows, (inner, row) => inner.vector(row, (cell, bit) => cell.bool(bit))),
      ];
    },
  },
  {
    name: 'texts',
    typeArguments: [],
    draw: ({ random }) => {
      const text = random.pick(['hello', 'grüß dich', 'こんにちは', '']);
      const small = random.perMille(500) ? random.below(256) : undefined;
      const nested = random.perMille(500) ? [undefined, wide(random, 64)] : undefined;
      return [
        (to) => to.string(text),
        (to) => to.option(small === undefined ? undefined : text, (inner, t) => inner.string(t)),
        (to) => to.option(small, (inner, value) => inner.u8(value)),
        (to) =>
          to.option(nested, (inner, values) =>
            inner.vector(values, (item, value) => item.option(value, (last, v) => last.u64(v))),
          ),
      ];
    },
  },
  {
    name: 'objects',
    typeArguments: [],
    draw: ({ gold, moon, native }) => [
      (to) => to.fixed(gold.metadataBytes),
      (to) => to.vector([moon, native], (inner, asset) => inner.fixed(asset.metadataBytes)),
      (to) => to.option(gold, (inner, asset) => inner.fixed(asset.metadataBytes)),
    ],
  },
  {
    name: 'structs',
    typeArguments: [],
    draw: ({ random }) => {
      const points = Array.from({ length: random.between(1, 4) }, () => drawPoint(random));
      const variant = random.below(3);
      return [
        (to) => writePoint(to, points[0]!),
        (to) => writeShape(to, variant, points),
        (to) => to.vector(points, writePoint),
      ];
    },
  },
  {
    name: 'generic',
    typeArguments: ['u64', POINT],
    draw: ({ random }) => {
      const values = Array.from({ length: random.between(1, 5) }, () => wide(random, 64));
      return [
        (to) => to.u64(values[0]!),
        (to) => to.vector(values, (inner, value) => inner.u64(value)),
        (to) => to.option(values[1], (inner, value) => inner.u64(value)),
      ];
    },
  },
  { name: 'roll', typeArguments: [], draw: () => [] },
];

function emitShown({ effects, gold, random }: World): void {
  const variant = random.below(3);
  const points = [drawPoint(random), drawPoint(random)];
  const tall = wide(random, 256);
  const maybe = random.perMille(500) ? random.below(256) : undefined;
  effects.moduleEvent(SHOWN, (writer) => {
    writeShape(writer, variant, points);
    writer.u256(tall).signed(BigInt.asIntN(256, tall), 256);
    writer.option(maybe, (to, value) => to.u8(value));
    writer.vector([[], [1], [2, 65_535]], (to, list) => to.vector(list, (item, n) => item.u16(n)));
    writer.length32(1).string('answer').signed(-42n, 8);
    writer.fixed(gold.metadataBytes);
  });
}

/** A call of one of the showcase's functions, plainly signed or with a fee payer or without sequence number. */
export const showArguments: Action = (world): Call => {
  const { random } = world;
  const sender = pickSender(world);
  const chosen = random.pick(FUNCTIONS);
  const args = chosen.draw(world);
  emitShown(world);
  const form = random.pick(['single', 'single', 'singleSender', 'orderless', 'feePayer'] as const);
  return {
    sender,
    form,
    ...(form === 'feePayer' ? { second: pickSender(world) } : {}),
    payload: () =>
      entryFunction(CAFE, 'showcase', chosen.name, chosen.typeArguments, args.map(argument)),
  };
};

/** `cafe::showcase::together`: two accounts sign, the second gives the first some of the native coin. */
export const payTogether: Action = (world): Call => {
  const { accounts, chain, effects, native, random } = world;
  const sender = pickSender(world);
  const second = pickSender(world);
  if (sender === second || second >= accounts.signers) return transferNative(world);
  const amount = BigInt(random.between(1, 1_000));
  native.withdraw(effects, second, amount, chain);
  native.deposit(effects, sender, amount, chain);
  return {
    sender,
    second,
    form: 'multiAgent',
    payload: () => entryFunction(CAFE, 'showcase', 'together', [], [u64Argument(amount)]),
  };
};

/** A script with parameters (&signer, address, u64): it has no name and its code stands in the transaction. */
const TRANSFER_SCRIPT: CompiledScript = {
  kind: 'script',
  versionWord: 0x0a00000a,
  version: 10,
  moduleHandles: [],
  structHandles: [],
  functionHandles: [],
  functionInstantiations: [],
  signatures: [
    [],
    [
      { kind: 'reference', mutable: false, to: { kind: 'signer' } },
      { kind: 'address' },
      { kind: 'u64' },
    ],
  ],
  identifiers: [],
  addresses: [],
  constants: [],
  metadata: [],
  typeParameters: [],
  parameters: 1,
  code: { locals: 0, code: [{ opcode: 0x02 }] },
};

const transferScriptBytes = writeScript(TRANSFER_SCRIPT);

/** A transfer of the native coin by script. */
export const transferByScript: Action = (world): Call => {
  const { accounts, chain, effects, native, random } = world;
  const sender = pickSender(world);
  const to = pickReceiver(world, native.holders);
  const amount = BigInt(random.between(1, 1_000));
  native.withdraw(effects, sender, amount, chain);
  native.deposit(effects, to, amount, chain);
  return {
    sender,
    payload: () => ({
      kind: 'script',
      code: transferScriptBytes,
      typeArguments: [],
      args: [
        { kind: 'address', value: accounts.address(to) },
        { kind: 'u64', value: amount },
      ],
    }),
  };
};

const COIN_MODULE = { kind: 'module', module: { address: ADDRESS_ONE, name: 'coin' } } as const;

/** Ways to fail: all that such a transaction leaves is its fee and the sequence number. */
const FAILURES: readonly ExecutionStatus[] = [
  {
    kind: 'moveAbort',
    location: COIN_MODULE,
    code: 0x10006n,
    info: {
      reasonName: 'EINSUFFICIENT_BALANCE',
      description: 'Not enough coins to complete transaction',
    },
  },
  { kind: 'moveAbort', location: { kind: 'script' }, code: 7n, info: undefined },
  { kind: 'outOfGas' },
  { kind: 'executionFailure', location: COIN_MODULE, function: 12, codeOffset: 3 },
  { kind: 'miscellaneousError', statusCode: 1004n },
];

/** A transfer that fails. */
export const fail: Action = (world): Call => {
  const { accounts, native, random } = world;
  const sender = pickSender(world);
  const to = pickReceiver(world, native.holders);
  return {
    sender,
    status: random.pick(FAILURES),
    payload: () => {
      const args = [Buffer.from(accounts.addressBytes(to)), u64Argument(10n ** 18n)];
      return entryFunction(ADDRESS_ONE, 'coin', 'transfer', [native.coinType!], args);
    },
  };
};
