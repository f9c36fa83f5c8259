/**
 * Requests to encode (docs/spec/encode.md §A1, A2): examples to start from, and the form's fields to and from the JSON.
 * The JSON is what is sent; the form only changes fields of it and leaves everything else as it is.
 */
import {
  JsonNumber,
  type JsonObject,
  JsonSyntaxError,
  type JsonValue,
} from '../../src/move/json/json-text.ts';
import { field, formatJson, listField, parseJson, textField } from './json-fields.ts';
import { type AbiFunction, argumentTypes } from './move-abi.ts';

const NATIVE_COIN = '0x1::aptos_coin::AptosCoin';
/** How long an example's transaction would be valid. */
const EXPIRATION_SECS = 600;

/** A request to start from. */
export interface EncodeExample {
  readonly name: string;
  readonly title: string;
  readonly changes: Readonly<Record<string, unknown>>;
}

const TRANSFER = {
  type: 'entry_function_payload',
  function: '0x1::coin::transfer',
  type_arguments: [NATIVE_COIN],
  arguments: ['0xb0b', '18446744073709551615'],
};

/** A script that takes every unsigned scalar and does nothing, in bytecode version 6. */
const SCALARS_SCRIPT =
  '0xa11ceb0b060000000205000e080e20000a060c020d0e03040f01050a0200000000000000000000000000000000' +
  '000000000000000000000000000000010001000102';

/** One example per shape of transaction. */
export const ENCODE_EXAMPLES: readonly EncodeExample[] = [
  { name: 'transfer', title: 'Entry function: transfer a coin', changes: { payload: TRANSFER } },
  {
    name: 'multi-agent',
    title: 'Multi-agent: a second signer',
    changes: { payload: TRANSFER, secondary_signers: ['0xca11'] },
  },
  {
    name: 'orderless',
    title: 'Orderless: a replay protection nonce',
    changes: { payload: TRANSFER, replay_protection_nonce: '1342341341' },
  },
  {
    name: 'multisig',
    title: 'Multisig account: run what was agreed',
    changes: { payload: { type: 'multisig_payload', multisig_address: '0x321c75b8015e7f1e' } },
  },
  {
    name: 'multisig-call',
    title: 'Multisig account: an entry function',
    changes: {
      payload: {
        type: 'multisig_payload',
        multisig_address: '0x321c75b8015e7f1e',
        transaction_payload: TRANSFER,
      },
    },
  },
  {
    name: 'script',
    title: 'Script: every unsigned scalar',
    changes: {
      payload: {
        type: 'script_payload',
        code: { bytecode: SCALARS_SCRIPT },
        type_arguments: [],
        arguments: [
          255,
          65535,
          4294967295,
          '18446744073709551615',
          '340282366920938463463374607431768211455',
          '115792089237316195423570985008687907853269984665640564039457584007913129639935',
          true,
          '0xcafe',
          '0xdeadbeef',
        ],
      },
    },
  },
];

/** The JSON text of an example; it expires some minutes after `nowMs` (milliseconds since 1970). */
export function exampleText(example: EncodeExample, nowMs: number): string {
  const request = {
    sender: '0xa11ce',
    sequence_number: '42',
    max_gas_amount: '2000',
    gas_unit_price: '100',
    expiration_timestamp_secs: String(Math.floor(nowMs / 1000) + EXPIRATION_SECS),
    ...example.changes,
  };
  return JSON.stringify(request, null, 2);
}

/** The request fields that hold one text each. */
export const TEXT_FIELDS = [
  'sender',
  'sequence_number',
  'max_gas_amount',
  'gas_unit_price',
  'expiration_timestamp_secs',
  'replay_protection_nonce',
] as const;
export type TextFieldName = (typeof TEXT_FIELDS)[number];

/** What the form shows. */
export interface EncodeForm {
  readonly texts: ReadonlyMap<TextFieldName, string>;
  readonly secondarySigners: readonly string[];
  readonly function: string;
  readonly typeArguments: readonly string[];
  readonly arguments: readonly JsonValue[];
}

/** Reads the form's fields from a request; undefined when it holds what the form cannot show. */
export function readForm(request: JsonValue): EncodeForm | undefined {
  const payload = field(request, 'payload');
  if (textField(payload, 'type') !== 'entry_function_payload') return undefined;
  const texts = TEXT_FIELDS.map((name) => [name, textField(request, name) ?? ''] as const);
  return {
    texts: new Map(texts),
    secondarySigners: onlyTexts(listField(request, 'secondary_signers')),
    function: textField(payload, 'function') ?? '',
    typeArguments: onlyTexts(listField(payload, 'type_arguments')),
    arguments: listField(payload, 'arguments'),
  };
}

function onlyTexts(items: readonly JsonValue[]): string[] {
  return items.filter((item) => typeof item === 'string');
}

/** `request` with the form's fields written into it; optional fields that are empty are taken out. */
export function writeForm(request: JsonValue, form: EncodeForm): JsonValue {
  const changed = new Map(request instanceof Map ? (request as JsonObject) : []);
  for (const [name, text] of form.texts) {
    if (name === 'replay_protection_nonce' && text === '') changed.delete(name);
    else changed.set(name, text);
  }
  if (form.secondarySigners.length > 0) changed.set('secondary_signers', form.secondarySigners);
  else if (listField(request, 'secondary_signers').length > 0) changed.delete('secondary_signers');
  const payload = new Map((field(request, 'payload') ?? new Map()) as JsonObject);
  payload.set('type', 'entry_function_payload');
  payload.set('function', form.function);
  payload.set('type_arguments', form.typeArguments);
  payload.set('arguments', form.arguments);
  changed.set('payload', payload);
  return changed;
}

/** Splits a list of types or addresses at the commas outside of angle brackets. */
export function splitList(text: string): string[] {
  const items: string[] = [];
  let depth = 0;
  let item = '';
  for (const character of text) {
    if (character === '<') depth += 1;
    if (character === '>') depth -= 1;
    if (character === ',' && depth === 0) {
      items.push(item.trim());
      item = '';
    } else item += character;
  }
  items.push(item.trim());
  return items.filter((piece) => piece !== '');
}

/** Types whose values are JSON strings (docs/spec/encode.md §A4, values). */
const STRING_TYPE =
  /^(?:u64|u128|u256|i64|i128|i256|address|vector<u8>|0x1::string::String|0x1::object::Object<.*>)$/;
const NUMBER_TYPE = /^[ui](?:8|16|32)$/;

/** How an argument is typed into a field: strings without quotes where the type takes nothing else. */
export function argumentText(value: JsonValue, type: string | undefined): string {
  const bare = typeof value === 'string' && type !== undefined && STRING_TYPE.test(type);
  return bare ? value : formatJson(value);
}

/** The JSON of what was typed. What the type does not take is left for the node to refuse. */
export function argumentValue(text: string, type: string | undefined): JsonValue {
  if (type !== undefined && STRING_TYPE.test(type)) return text;
  const trimmed = text.trim();
  if (type !== undefined && NUMBER_TYPE.test(type) && /^-?\d+$/.test(trimmed)) {
    return new JsonNumber(trimmed);
  }
  try {
    return parseJson(trimmed);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return text;
    throw error;
  }
}

/** A value that the type takes, to be replaced. */
export function placeholderValue(type: string): JsonValue {
  if (type === 'bool') return false;
  if (NUMBER_TYPE.test(type)) return new JsonNumber('1');
  if (/^[ui]\d+$/.test(type)) return '1';
  if (type === 'address' || type.startsWith('0x1::object::Object<')) return '0x1';
  if (type === 'vector<u8>') return '0x';
  if (type.startsWith('vector<')) return [];
  if (type.startsWith('0x1::option::Option<')) return new Map([['vec', []]]);
  return type === '0x1::string::String' ? 'text' : new Map();
}

/** Replaces `T0`, `T1`, … by the given type arguments. */
export function substituteTypes(type: string, typeArguments: readonly string[]): string {
  return type.replace(/\bT(\d+)\b/g, (name, at: string) => typeArguments[Number(at)] ?? name);
}

/** A call of a declared function with values to be replaced. */
export function callSkeleton(
  declared: AbiFunction,
): Pick<EncodeForm, 'typeArguments' | 'arguments'> {
  const typeArguments = declared.typeParameters.map(() => NATIVE_COIN);
  const types = argumentTypes(declared).map((type) => substituteTypes(type, typeArguments));
  return { typeArguments, arguments: types.map(placeholderValue) };
}

/** Splits `0x1::coin::transfer`; undefined when the text is not a function name. */
export function splitFunctionName(
  text: string,
): { readonly address: string; readonly module: string; readonly name: string } | undefined {
  const parts = /^((?:0x)?[0-9a-fA-F]{1,64})::([\w$]+)::([\w$]+)$/.exec(text.trim());
  if (parts === null) return undefined;
  return { address: parts[1]!, module: parts[2]!, name: parts[3]! };
}
