/**
 * `cafe::showcase`: calls with every kind of argument, an event with every shape of data, calls with two signers, with
 * a fee payer, without a sequence number, from a script, and calls that fail.
 */

import type { BcsWriter } from '../../../src/move/bcs/bcs-writer.ts';
import type { TransactionPayload } from '../../../src/move/transactions/payload.ts';
import type { ExecutionStatus } from '../../../src/move/transactions/transaction-info.ts';
import { ADDRESS_ONE } from '../../../src/move/types/address.ts';
import { writeBinary } from '../../../src/sample/assembler/binary.ts';
import { type Argument, callsOf, type FunctionCall } from '../../../src/sample/calls.ts';
import { CAFE_HEX } from '../../../src/sample/publishers.ts';
import type { Random } from '../../../src/sample/random.ts';
import { DRAWN, randomBigint } from '../../../src/sample/showcase.ts';
import { eventType } from '../model/events.ts';
import { type Action, NATIVE_COIN, pickReceiver, pickSender, type World } from '../model/world.ts';
import { transferNative } from './transfers.ts';

const MODULE = `${CAFE_HEX}::showcase`;
const SHOWN = eventType(`${MODULE}::Shown`);
/** Maximum amount of one of these payments, in octas. */
const MAX_PAYMENT_OCTAS = 1_000;

const together = callsOf(`${MODULE}::together`);
const coinTransfer = callsOf('0x1::coin::transfer', [NATIVE_COIN]);

interface Point {
  readonly x: number;
  readonly y: number;
}

function drawPoint(random: Random): Point {
  return { x: random.between(-500, 500), y: random.between(-500, 500) };
}

function writePoint(writer: BcsWriter, { x, y }: Point): void {
  writer.signed(BigInt(x), 64).signed(BigInt(y), 64);
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

/**
 * A function of the module, and how its random arguments are picked; they are encoded together with the transaction.
 */
interface ShowcaseFunction {
  readonly call: FunctionCall;
  readonly draw: (world: World) => readonly Argument[];
}

function shown(
  name: string,
  typeArguments: readonly string[],
  draw: ShowcaseFunction['draw'],
): ShowcaseFunction {
  return { call: callsOf(`${MODULE}::${name}`, typeArguments), draw };
}

const FUNCTIONS: readonly ShowcaseFunction[] = [
  DRAWN.unsignedNumbers,
  DRAWN.signedNumbers,
  shown('plain_values', [], ({ random, accounts }) => {
    const yes = random.perMille(500);
    const who = random.below(accounts.count);
    const raw = Buffer.alloc(random.below(64), random.below(256));
    return [(to) => to.bool(yes), accounts.addressBytes(who), (to) => to.bytes(raw)];
  }),
  DRAWN.vectors,
  DRAWN.texts,
  shown('objects', [], ({ gold, moon, native }) => [
    gold.metadataBytes,
    (to) => to.vector([moon, native], (inner, asset) => inner.fixed(asset.metadataBytes)),
    (to) => to.option(gold, (inner, asset) => inner.fixed(asset.metadataBytes)),
  ]),
  shown('structs', [], ({ random }) => {
    const points = Array.from({ length: random.between(1, 4) }, () => drawPoint(random));
    const variant = random.below(3);
    return [
      (to) => writePoint(to, points[0]!),
      (to) => writeShape(to, variant, points),
      (to) => to.vector(points, writePoint),
    ];
  }),
  shown('generic', ['u64', `${MODULE}::Point`], ({ random }) => {
    const values = Array.from({ length: random.between(1, 5) }, () => randomBigint(random, 64));
    return [
      values[0]!,
      (to) => to.vector(values, (inner, value) => inner.u64(value)),
      (to) => to.option(values[1], (inner, value) => inner.u64(value)),
    ];
  }),
  shown('roll', [], () => []),
];

function emitShown({ effects, gold, random }: World): void {
  const variant = random.below(3);
  const points = [drawPoint(random), drawPoint(random)];
  const tall = randomBigint(random, 256);
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

/** A call of one of the showcase's functions: plainly signed, with a fee payer or without a sequence number. */
export const showArguments: Action = (world) => {
  const { random } = world;
  const sender = pickSender(world);
  const { call, draw } = random.pick(FUNCTIONS);
  const args = draw(world);
  const payload = (): TransactionPayload => call(...args);
  emitShown(world);
  const form = random.pick(['single', 'single', 'singleSender', 'orderless', 'feePayer'] as const);
  if (form !== 'feePayer') return { sender, form, payload };
  return { sender, form, second: pickSender(world), payload };
};

/** `cafe::showcase::together`: two accounts sign, the second gives the first some of the native coin. */
export const payTogether: Action = (world) => {
  const { accounts, native, random } = world;
  const sender = pickSender(world);
  const second = pickSender(world);
  if (sender === second || second >= accounts.signers) return transferNative(world);
  const amount = BigInt(random.between(1, MAX_PAYMENT_OCTAS));
  native.withdraw(second, amount);
  native.deposit(sender, amount);
  return { sender, second, form: 'multiAgent', payload: () => together(amount) };
};

/** A script with parameters (&signer, address, u64): it has no name and its code is in the transaction. */
const TRANSFER_SCRIPT = writeBinary(
  10,
  // Two signatures: no types; a reference to signer, address, u64.
  { signatures: Buffer.of(0, 3, 0x06, 0x0c, 0x05, 0x03) },
  // No type parameters, parameters of signature 1, no access specifiers, locals of signature 0, one `Ret`.
  Buffer.of(0, 1, 1, 0, 1, 0x02),
);

export const transferByScript: Action = (world) => {
  const { accounts, native, random } = world;
  const sender = pickSender(world);
  const receiver = pickReceiver(world, native.holders);
  const amount = BigInt(random.between(1, MAX_PAYMENT_OCTAS));
  const form = random.pick(['single', 'orderless'] as const);
  native.withdraw(sender, amount);
  native.deposit(receiver, amount);
  return {
    sender,
    form,
    payload: () => ({
      kind: 'script',
      code: TRANSFER_SCRIPT,
      typeArguments: [],
      args: [
        { kind: 'address', value: accounts.address(receiver) },
        { kind: 'u64', value: amount },
      ],
    }),
  };
};

const COIN_MODULE = { kind: 'module', module: { address: ADDRESS_ONE, name: 'coin' } } as const;

/** Ways to fail: such a transaction only charges its fee and increments the sequence number. */
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

export const fail: Action = (world) => {
  const { accounts, native, random } = world;
  const sender = pickSender(world);
  const receiver = pickReceiver(world, native.holders);
  return {
    sender,
    status: random.pick(FAILURES),
    payload: () => coinTransfer(accounts.addressBytes(receiver), 10n ** 18n),
  };
};
