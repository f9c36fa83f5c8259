/**
 * The encoder compared with an independent one, @aptos-labs/ts-sdk 6.3.1: random calls of every entry function of the
 * real genesis ledgers, as plain, orderless, multisig and multi-agent transactions. A known difference is left out: a
 * script inside a multisig (SDK 6.3.1 writes inner index 00, the reference 01; docs/spec/encode.md §A7).
 */
import {
  AccountAddress,
  Bool,
  ChainId,
  EntryFunction,
  type EntryFunctionArgument,
  generateSigningMessageForTransaction,
  MoveOption,
  MoveString,
  MoveVector,
  MultiAgentTransaction,
  MultiSig,
  MultiSigTransactionPayload,
  parseTypeTag,
  RawTransaction,
  type Serializable,
  SimpleTransaction,
  TransactionExecutableEntryFunction,
  TransactionExtraConfigV1,
  TransactionInnerPayloadV1,
  TransactionPayloadEntryFunction,
  TransactionPayloadMultiSig,
  U8,
  U16,
  U32,
  U64,
  U128,
  U256,
} from '@aptos-labs/ts-sdk';
import { describe, expect, it } from 'vitest';
import {
  type CompiledModule,
  functionNameOfHandle,
  moduleIdOf,
} from '../../src/move/modules/compiled.ts';
import { readModule } from '../../src/move/modules/read.ts';
import { formatAddress } from '../../src/move/types/address.ts';
import {
  formatMoveType,
  isSignerParameter,
  type MoveType,
  moveTypeOfToken,
  substituteTypeParameters,
} from '../../src/move/types/move-type.ts';
import { readMoveType } from '../../src/move/types/type-parser.ts';
import { encodeSubmission } from '../../src/submission/encode/index.ts';
import { genesisModules, genesisPresent } from '../move/modules/genesis-modules.ts';
import { testSeed } from '../random.ts';

const seed = testSeed('encode-sdk');
const TRANSACTIONS = 20_000;

/** A small seeded generator (mulberry32). */
function randomNumbers(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

class Random {
  readonly #next: () => number;

  constructor(start: number) {
    this.#next = randomNumbers(start);
  }

  below(count: number): number {
    return Math.floor(this.#next() * count);
  }

  of<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  /** Often small, often the maximum. */
  integer(bits: number): bigint {
    const kind = this.below(3);
    if (kind === 0) return BigInt(this.below(100));
    if (kind === 1) return (1n << BigInt(bits)) - 1n;
    return BigInt(`0x${this.hex(bits / 8)}`);
  }

  hex(byteLength: number): string {
    const bytes = Array.from({ length: byteLength }, () => this.below(256));
    return Buffer.from(bytes).toString('hex');
  }

  address(): string {
    return this.below(2) === 0 ? `0x${this.below(4096).toString(16)}` : `0x${this.hex(32)}`;
  }
}

/** A value as our JSON and as an SDK object; undefined if the SDK's classes have no form for the type. */
type Value = { readonly json: unknown; readonly sdk: Serializable & EntryFunctionArgument };

const SMALL = { u8: [8, U8], u16: [16, U16], u32: [32, U32] } as const;
const LARGE = { u64: [64, U64], u128: [128, U128], u256: [256, U256] } as const;

function randomValue(type: MoveType, random: Random, isWhole: boolean): Value | undefined {
  switch (type.kind) {
    case 'bool': {
      const value = random.below(2) === 0;
      return { json: value, sdk: new Bool(value) };
    }
    case 'u8':
    case 'u16':
    case 'u32': {
      const [bits, SdkInteger] = SMALL[type.kind];
      const value = Number(random.integer(bits));
      return { json: value, sdk: new SdkInteger(value) };
    }
    case 'u64':
    case 'u128':
    case 'u256': {
      const [bits, SdkInteger] = LARGE[type.kind];
      const value = random.integer(bits);
      return { json: String(value), sdk: new SdkInteger(value) };
    }
    case 'address': {
      const text = random.address();
      return { json: text, sdk: AccountAddress.from(text, { maxMissingChars: 63 }) };
    }
    case 'vector':
      return randomVector(type.element, random);
    case 'struct':
      return randomStruct(type, random, isWhole);
    default:
      return undefined;
  }
}

function randomVector(element: MoveType, random: Random): Value | undefined {
  if (element.kind === 'u8') {
    const hex = random.hex(random.of([0, 1, 31, 127, 128, 300]));
    return {
      json: random.below(2) === 0 ? hex : `0x${hex}`,
      sdk: MoveVector.U8(Buffer.from(hex, 'hex')),
    };
  }
  const items: Value[] = [];
  for (let left = random.below(4); left > 0; left -= 1) {
    const item = randomValue(element, random, false);
    if (item === undefined) return undefined;
    items.push(item);
  }
  return { json: items.map(({ json }) => json), sdk: new MoveVector(items.map(({ sdk }) => sdk)) };
}

function randomStruct(
  type: MoveType & { kind: 'struct' },
  random: Random,
  isWhole: boolean,
): Value | undefined {
  const path = formatMoveType(type);
  if (path === '0x1::string::String') {
    const text = random.of(['', 'a', 'Café "x"\n', '\u0000\u2028😀', 'y'.repeat(200)]);
    return { json: text, sdk: new MoveString(text) };
  }
  if (path.startsWith('0x1::object::Object<')) {
    const value = randomValue({ kind: 'address' }, random, true)!;
    return isWhole ? value : { json: { inner: value.json }, sdk: value.sdk };
  }
  const [inner] = type.struct.typeArguments;
  if (!path.startsWith('0x1::option::Option<') || inner === undefined) return undefined;
  const value = randomValue(inner, random, false);
  if (value === undefined) return undefined;
  const isSome = random.below(2) === 0;
  const list = isSome ? [value.json] : [];
  const hex = isSome ? `0x${Buffer.from([Number(value.json)]).toString('hex')}` : '0x';
  const json = { vec: inner.kind === 'u8' ? hex : list };
  return { json, sdk: new MoveOption(isSome ? value.sdk : undefined) };
}

interface Callable {
  readonly module: string;
  readonly name: string;
  readonly typeParameterCount: number;
  readonly parameters: readonly MoveType[];
}

function entryFunctions(module: CompiledModule): Callable[] {
  const { address, name } = moduleIdOf(module);
  return module.functionDefinitions
    .filter(({ isEntry }) => isEntry)
    .map((definition) => {
      const handle = module.functionHandles[definition.handle]!;
      return {
        module: `${formatAddress(address)}::${name}`,
        name: functionNameOfHandle(module, definition.handle),
        typeParameterCount: handle.typeParameters.length,
        parameters: module.signatures[handle.parameters]!.map((token) =>
          moveTypeOfToken(module, token),
        ),
      };
    });
}

const TYPE_ARGUMENTS = [
  'u8',
  'bool',
  'address',
  'u256',
  'vector<u64>',
  '0x1::aptos_coin::AptosCoin',
  '0x1::fungible_asset::Metadata',
  'vector<vector<0x1::string::String>>',
  '0x5::a::B<0x6::c::D<u8, bool>, vector<0x7::e::F>>',
];

const CHAIN_ID = 7;

interface Transaction {
  readonly request: object;
  readonly expected: Uint8Array;
}

/** A random call; undefined if the SDK has no form for a parameter. */
function randomTransaction(callable: Callable, random: Random): Transaction | undefined {
  const typeArguments = Array.from({ length: callable.typeParameterCount }, () =>
    random.of(TYPE_ARGUMENTS),
  );
  const types = typeArguments.map(readMoveType);
  const values: Value[] = [];
  for (const parameter of callable.parameters) {
    const type = substituteTypeParameters(parameter, types);
    if (isSignerParameter(type)) continue;
    const value = randomValue(type, random, true);
    if (value === undefined) return undefined;
    values.push(value);
  }
  const call = EntryFunction.build(
    callable.module as `0x${string}::${string}`,
    callable.name,
    typeArguments.map((text) => parseTypeTag(text)),
    values.map(({ sdk }) => sdk),
  );
  const payload = {
    type: 'entry_function_payload',
    function: `${callable.module}::${callable.name}`,
    type_arguments: typeArguments,
    arguments: values.map(({ json }) => json),
  };
  return wrapCall(call, payload, random);
}

function wrapCall(call: EntryFunction, payload: object, random: Random): Transaction {
  const sender = random.address();
  const integers = Array.from({ length: 4 }, () => random.integer(64));
  const nonce = random.below(3) === 0 ? random.integer(64) : undefined;
  const multisig = random.below(3) === 0 ? random.address() : undefined;
  const signers =
    random.below(3) === 0
      ? Array.from({ length: random.below(3) }, () => random.address())
      : undefined;
  const account = (text: string) => AccountAddress.from(text, { maxMissingChars: 63 });
  const plain =
    multisig === undefined
      ? new TransactionPayloadEntryFunction(call)
      : new TransactionPayloadMultiSig(
          new MultiSig(account(multisig), new MultiSigTransactionPayload(call)),
        );
  const orderless = new TransactionInnerPayloadV1(
    new TransactionExecutableEntryFunction(call),
    new TransactionExtraConfigV1(multisig === undefined ? undefined : account(multisig), nonce),
  );
  const raw = new RawTransaction(
    account(sender),
    nonce === undefined ? integers[0]! : 2n ** 64n - 1n,
    nonce === undefined ? plain : orderless,
    integers[1]!,
    integers[2]!,
    integers[3]!,
    new ChainId(CHAIN_ID),
  );
  const whole =
    signers === undefined
      ? new SimpleTransaction(raw)
      : new MultiAgentTransaction(raw, signers.map(account));
  const request = {
    sender,
    sequence_number: String(integers[0]),
    max_gas_amount: String(integers[1]),
    gas_unit_price: String(integers[2]),
    expiration_timestamp_secs: String(integers[3]),
    payload:
      multisig === undefined
        ? payload
        : {
            type: 'multisig_payload',
            multisig_address: multisig,
            transaction_payload: payload,
          },
    ...(nonce === undefined ? {} : { replay_protection_nonce: String(nonce) }),
    ...(signers === undefined ? {} : { secondary_signers: signers }),
  };
  return { request, expected: generateSigningMessageForTransaction(whole) };
}

describe.skipIf(!genesisPresent)('entry functions of the real genesis (needs ../shared)', () => {
  it.each(['mainnet', 'devnet'] as const)(
    `%s: ${TRANSACTIONS / 2} random calls are the SDK's, SEED=${seed}`,
    async (network) => {
      const modules = genesisModules(network).map((bytes) => readModule(bytes));
      const byId = new Map(modules.map((module) => [key(moduleIdOf(module)), module]));
      const callables = modules.flatMap(entryFunctions);
      const random = new Random(seed);
      const left = new Set<string>();
      const context = {
        chainId: CHAIN_ID,
        lookupModule: (id: { address: string; name: string }) => byId.get(key(id)),
      };
      for (let done = 0, turn = 0; done < TRANSACTIONS / 2; turn += 1) {
        const callable = callables[turn % callables.length]!;
        const transaction = randomTransaction(callable, random);
        if (transaction === undefined) {
          left.add(`${callable.module}::${callable.name}`);
          continue;
        }
        done += 1;
        const body = Buffer.from(JSON.stringify(transaction.request));
        const message = await encodeSubmission(body, context);
        if (!message.equals(transaction.expected)) {
          expect(message.toString('hex'), JSON.stringify(transaction.request)).toBe(
            Buffer.from(transaction.expected).toString('hex'),
          );
        }
      }
      // Those with a reference to a struct, which cannot be called, or with a struct for which the SDK has no class.
      expect(left.size / callables.length).toBeLessThan(0.1);
    },
    60_000,
  );
});

function key(id: { readonly address: string; readonly name: string }): string {
  return `${id.address}::${id.name}`;
}
