/**
 * Random calls as a wallet creates them with @aptos-labs/ts-sdk: arguments are plain values, which the SDK converts by
 * the ABI of our module endpoint.
 */
import {
  AccountAddress,
  ChainId,
  convertArgument,
  EntryFunction,
  type EntryFunctionArgumentTypes,
  type FunctionABI,
  type MoveModule,
  parseTypeTag,
  RawTransaction,
  type SimpleEntryFunctionArgumentTypes,
  type TransactionPayload,
  TransactionPayloadEntryFunction,
} from '@aptos-labs/ts-sdk';
import type { PlainJson } from '../../src/move/json/json-plain.ts';
import type { Random } from '../random.ts';

/** A value as our JSON and as the SDK takes it. */
interface Value {
  readonly json: PlainJson;
  readonly sdk: SimpleEntryFunctionArgumentTypes;
}

/** A call converted by the SDK; `undefined` if it has no form for a parameter. */
export interface SdkCall {
  readonly payload: {
    readonly type: 'entry_function_payload';
    readonly function: string;
    readonly type_arguments: string[];
    readonly arguments: PlainJson[];
  };
  readonly entryFunction: EntryFunction;
}

const TYPE_ARGUMENTS = [
  'u8',
  'bool',
  'address',
  'u128',
  '0x1::aptos_coin::AptosCoin',
  '0x1::string::String',
  'vector<u64>',
  'vector<vector<u8>>',
];

const TEXTS = ['', 'a', 'Grüße "x"\n', '\u0000\u2028😀', 'y'.repeat(200)];

function randomInteger(bits: number, random: Random): bigint {
  const kind = random.below(3);
  if (kind === 0) return BigInt(random.below(100));
  if (kind === 1) return (1n << BigInt(bits)) - 1n;
  return BigInt(`0x${random.bytes(bits / 8).toString('hex')}`);
}

/** An address, short or long. */
export function randomAddress(random: Random): string {
  return `0x${random.pick([random.below(4096).toString(16), random.bytes(32).toString('hex')])}`;
}

/** Inner text of `name<…>`; undefined for other types. */
function inside(type: string, name: string): string | undefined {
  return type.startsWith(`${name}<`) && type.endsWith('>')
    ? type.slice(name.length + 1, -1)
    : undefined;
}

/** A value of a type given as text; undefined for types that do not have both forms. */
export function randomValue(type: string, random: Random, isWhole = true): Value | undefined {
  const integer = /^u(8|16|32|64|128|256)$/.exec(type);
  if (integer !== null) {
    const bits = Number(integer[1]);
    const value = randomInteger(bits, random);
    return bits <= 32
      ? { json: Number(value), sdk: Number(value) }
      : { json: String(value), sdk: random.pick([value, String(value)]) };
  }
  switch (type) {
    case 'bool': {
      const value = random.below(2) === 0;
      return { json: value, sdk: value };
    }
    case 'address': {
      const value = `0x${random.bytes(32).toString('hex')}`;
      return { json: value, sdk: value };
    }
    case 'vector<u8>': {
      // The API takes text as hex, the SDK takes it as it is, and both take bytes.
      const bytes = random.bytes(random.pick([0, 1, 127, 128, 300]));
      return { json: `0x${bytes.toString('hex')}`, sdk: Uint8Array.from(bytes) };
    }
    case '0x1::string::String': {
      const text = random.pick(TEXTS);
      return { json: text, sdk: text };
    }
  }
  return randomParts(type, random, isWhole);
}

function randomParts(type: string, random: Random, isWhole: boolean): Value | undefined {
  const element = inside(type, 'vector');
  if (element !== undefined) {
    const items: Value[] = [];
    for (let left = random.below(4); left > 0; left -= 1) {
      const item = randomValue(element, random, false);
      if (item === undefined) return undefined;
      items.push(item);
    }
    return { json: items.map(({ json }) => json), sdk: items.map(({ sdk }) => sdk) };
  }
  if (inside(type, '0x1::object::Object') !== undefined) {
    const address = randomValue('address', random)!;
    return isWhole ? address : { json: { inner: address.json }, sdk: address.sdk };
  }
  const some = inside(type, '0x1::option::Option');
  if (some === undefined) return undefined;
  const value = randomValue(some, random, false);
  if (value === undefined) return undefined;
  const isSome = random.below(2) === 0;
  if (some === 'u8') {
    const hex = isSome ? `0x${Buffer.of(Number(value.json)).toString('hex')}` : '0x';
    return { json: { vec: hex }, sdk: isSome ? value.sdk : null };
  }
  return { json: { vec: isSome ? [value.json] : [] }, sdk: isSome ? value.sdk : null };
}

/** A random call of an entry function of an ABI. */
export function randomSdkCall(abi: MoveModule, name: string, random: Random): SdkCall | undefined {
  const { generic_type_params: generics, params } = abi.exposed_functions.find(
    (one) => one.name === name,
  )!;
  const typeArguments = generics.map(() => random.pick(TYPE_ARGUMENTS));
  const taking = params.filter((type) => type !== 'signer' && type !== '&signer');
  const substituted = taking.map((type) =>
    type.replaceAll(/\bT(\d+)\b/g, (_, index) => typeArguments[Number(index)]!),
  );
  const values: Value[] = [];
  for (const type of substituted) {
    const value = randomValue(type, random);
    if (value === undefined) return undefined;
    values.push(value);
  }
  const tags = typeArguments.map((text) => parseTypeTag(text));
  const functionAbi: FunctionABI = {
    typeParameters: generics,
    parameters: taking.map((type) => parseTypeTag(type, { allowGenerics: true })),
  };
  const converted: EntryFunctionArgumentTypes[] = values.map(({ sdk }, position) =>
    convertArgument(name, functionAbi, sdk, position, tags),
  );
  const module = `${abi.address}::${abi.name}` as const;
  return {
    payload: {
      type: 'entry_function_payload',
      function: `${module}::${name}`,
      type_arguments: typeArguments,
      arguments: values.map(({ json }) => json),
    },
    entryFunction: EntryFunction.build(module as `0x${string}::${string}`, name, tags, converted),
  };
}

/** Members of a request and a raw transaction with the same contents, on chain 7. */
export function randomTransaction(payload: TransactionPayload, random: Random) {
  const sender = randomAddress(random);
  const [sequenceNumber, gas, price, expiration] = Array.from({ length: 4 }, () =>
    randomInteger(64, random),
  ) as [bigint, bigint, bigint, bigint];
  const raw = new RawTransaction(
    AccountAddress.from(sender, { maxMissingChars: 63 }),
    sequenceNumber,
    payload,
    gas,
    price,
    expiration,
    new ChainId(7),
  );
  const fields = {
    sender,
    sequence_number: String(sequenceNumber),
    max_gas_amount: String(gas),
    gas_unit_price: String(price),
    expiration_timestamp_secs: String(expiration),
  };
  return { raw, fields };
}

/** The payload of a single call. */
export function callPayload(call: SdkCall): TransactionPayload {
  return new TransactionPayloadEntryFunction(call.entryFunction);
}
