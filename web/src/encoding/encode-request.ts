/**
 * Requests to encode (docs/spec/encode.md §A1, A2): examples to start from, and conversion between the form's fields
 * and the JSON. The JSON is what is sent. The form only changes its own fields and leaves everything else as it is.
 */
import { tryParse } from '../../../src/move/errors.ts';
import { JsonNumber } from '../../../src/move/json/json-text.ts';
import { type AbiFunction, argumentTypes } from '../asking/answers.ts';
import {
  formatJson,
  isList,
  isObject,
  type Json,
  type JsonObject,
  parseJson,
} from '../asking/exact-json.ts';
import { NATIVE_COIN } from '../asking/requests.ts';

/** Lifetime of an example's transaction. */
const EXPIRATION_SECS = 600;
/** The account that publishes code on every sample ledger. */
export const SAMPLE_PUBLISHER =
  '0xcafeef724f479a8de22ed68b92ca2cc6887aa6e28ba16b62e9b5a9869212691b';
const SECOND_PUBLISHER = '0xbeefd38c8a953879b70f83a625ce55f09b2a8156038bebf3f5489501b5ede0d3';

/** A request to start from. */
interface EncodeExample {
  readonly name: string;
  readonly title: string;
  readonly changes: JsonObject;
}

const TRANSFER = {
  type: 'entry_function_payload',
  function: '0x1::aptos_account::transfer',
  type_arguments: [],
  arguments: [SECOND_PUBLISHER, '1000000'],
};

/** A script that takes every unsigned scalar and does nothing, in bytecode version 6. */
const SCALARS_SCRIPT = {
  type: 'script_payload',
  code: {
    bytecode:
      '0xa11ceb0b060000000205000e080e20000a060c020d0e03040f01050a0200000000000000000000000000000000' +
      '000000000000000000000000000000010001000102',
  },
  type_arguments: [],
  arguments: [
    255,
    65535,
    4294967295,
    '18446744073709551615',
    '340282366920938463463374607431768211455',
    '115792089237316195423570985008687907853269984665640564039457584007913129639935',
    true,
    SECOND_PUBLISHER,
    '0xdeadbeef',
  ],
};

const MULTISIG = { type: 'multisig_payload', multisig_address: SECOND_PUBLISHER };

/** One example per shape of transaction. */
export const ENCODE_EXAMPLES: readonly EncodeExample[] = [
  { name: 'transfer', title: 'Entry function: transfer a coin', changes: { payload: TRANSFER } },
  {
    name: 'multi-agent',
    title: 'Multi-agent: a second signer',
    changes: { payload: TRANSFER, secondary_signers: [SECOND_PUBLISHER] },
  },
  {
    name: 'orderless',
    title: 'Orderless: a replay protection nonce',
    changes: { payload: TRANSFER, replay_protection_nonce: '1342341341' },
  },
  {
    name: 'multisig',
    title: 'Multisig account: run what was agreed',
    changes: { payload: MULTISIG },
  },
  {
    name: 'multisig-call',
    title: 'Multisig account: an entry function',
    changes: { payload: { ...MULTISIG, transaction_payload: TRANSFER } },
  },
  {
    name: 'script',
    title: 'Script: every unsigned scalar',
    changes: { payload: SCALARS_SCRIPT },
  },
];

/** The JSON text of an example; it expires some minutes after `nowMs` (milliseconds since 1970). */
export function exampleText({ changes }: EncodeExample, nowMs: number): string {
  const request = {
    sender: SAMPLE_PUBLISHER,
    sequence_number: '42',
    max_gas_amount: '2000',
    gas_unit_price: '100',
    expiration_timestamp_secs: String(Math.floor(nowMs / 1000) + EXPIRATION_SECS),
    ...changes,
  };
  return formatJson(request, 2);
}

/** The request fields with a text value. */
export const TEXT_FIELDS = [
  'sender',
  'sequence_number',
  'max_gas_amount',
  'gas_unit_price',
  'expiration_timestamp_secs',
  'replay_protection_nonce',
] as const;
export type TextFieldName = (typeof TEXT_FIELDS)[number];

/** The contents of the form. */
export interface EncodeForm {
  readonly texts: ReadonlyMap<TextFieldName, string>;
  readonly secondarySigners: readonly string[];
  readonly function: string;
  readonly typeArguments: readonly string[];
  readonly arguments: readonly Json[];
}

/** Reads the form's fields from a request; undefined if it has contents that the form cannot show. */
export function readForm(request: Json): EncodeForm | undefined {
  const { secondary_signers: signers, ...fields } = isObject(request) ? request : {};
  const payload = isObject(fields['payload']) ? fields['payload'] : {};
  if (payload['type'] !== 'entry_function_payload') return undefined;
  const text = (value: Json | undefined) => (typeof value === 'string' ? value : '');
  return {
    texts: new Map(TEXT_FIELDS.map((name) => [name, text(fields[name])])),
    secondarySigners: listOf(signers).map(text).filter(Boolean),
    function: text(payload['function']),
    typeArguments: listOf(payload['type_arguments']).map(text).filter(Boolean),
    arguments: listOf(payload['arguments']),
  };
}

function listOf(value: Json | undefined): readonly Json[] {
  return isList(value) ? value : [];
}

/** `request` with the form's fields written into it; empty optional fields are removed. */
export function writeForm(request: Json, form: EncodeForm): Json {
  const changed: Record<string, Json> = Object.assign(
    Object.create(null),
    isObject(request) ? request : {},
    Object.fromEntries(form.texts),
  );
  if (changed['replay_protection_nonce'] === '') delete changed['replay_protection_nonce'];
  if (form.secondarySigners.length > 0) changed['secondary_signers'] = form.secondarySigners;
  else if (listOf(changed['secondary_signers']).length > 0) delete changed['secondary_signers'];
  changed['payload'] = Object.assign(Object.create(null), changed['payload'], {
    type: 'entry_function_payload',
    function: form.function,
    type_arguments: form.typeArguments,
    arguments: form.arguments,
  });
  return changed;
}

/** Splits a list of types or addresses at the commas outside of angle brackets. */
export function splitList(text: string): string[] {
  const items = [''];
  let depth = 0;
  for (const character of text) {
    if (character === '<') depth += 1;
    if (character === '>') depth -= 1;
    if (character === ',' && depth === 0) items.push('');
    else items[items.length - 1] += character;
  }
  return items.map((item) => item.trim()).filter((item) => item !== '');
}

/** Types whose values are JSON strings (docs/spec/encode.md §A4, values). */
const STRING_TYPE =
  /^(?:u64|u128|u256|i64|i128|i256|address|vector<u8>|0x1::string::String|0x1::object::Object<.*>)$/;
const NUMBER_TYPE = /^[ui](?:8|16|32)$/;

/** An argument as text for a field: strings without quotes if the type only takes strings. */
export function argumentText(value: Json, type = ''): string {
  return typeof value === 'string' && STRING_TYPE.test(type) ? value : formatJson(value);
}

/** The JSON of a field's text. Values of a wrong type are left for the node to refuse. */
export function argumentValue(text: string, type = ''): Json {
  if (STRING_TYPE.test(type)) return text;
  const trimmed = text.trim();
  if (NUMBER_TYPE.test(type) && /^-?\d+$/.test(trimmed)) return new JsonNumber(trimmed);
  const read = tryParse(() => ({ json: parseJson(trimmed) }));
  return read === undefined ? text : read.json;
}

/** A valid value of the type, for the reader to replace. */
export function placeholderValue(type: string): Json {
  if (type === 'bool') return false;
  if (NUMBER_TYPE.test(type)) return 1;
  if (/^[ui]\d+$/.test(type)) return '1';
  if (type === 'address' || type.startsWith('0x1::object::Object<')) return '0x1';
  if (type === 'vector<u8>') return '0x';
  if (type.startsWith('vector<')) return [];
  if (type.startsWith('0x1::option::Option<')) return { vec: [] };
  return type === '0x1::string::String' ? 'text' : {};
}

/** Replaces `T0`, `T1`, … by the given type arguments. */
export function substituteTypes(type: string, typeArguments: readonly string[]): string {
  return type.replace(/\bT(\d+)\b/g, (name, at: string) => typeArguments[Number(at)] ?? name);
}

/** A call of a declared function with values for the reader to replace. */
export function callSkeleton(
  declared: AbiFunction,
): Pick<EncodeForm, 'typeArguments' | 'arguments'> {
  const typeArguments = declared.generic_type_params.map(() => NATIVE_COIN);
  const types = argumentTypes(declared.params).map((type) => substituteTypes(type, typeArguments));
  return { typeArguments, arguments: types.map(placeholderValue) };
}

/** Splits `0x1::coin::transfer`; undefined when the text is not a function name. */
export function splitFunctionName(
  text: string,
): { readonly address: string; readonly module: string; readonly name: string } | undefined {
  const [, address, module, name] =
    /^((?:0x)?[0-9a-fA-F]{1,64})::([\w$]+)::([\w$]+)$/.exec(text.trim()) ?? [];
  return name === undefined ? undefined : { address: address!, module: module!, name };
}
