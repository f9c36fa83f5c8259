/**
 * Payloads of the request: the union by `type` and the fields of each kind, including the `abi` of a script's code and
 * encrypted payloads (docs/spec/encode.md §A2).
 */
import type { JsonObject, JsonValue } from '../../move/json/json-text.ts';
import type { Address } from '../../move/types/address.ts';
import type { ModuleId } from '../../move/types/module-id.ts';
import type { MoveType } from '../../move/types/move-type.ts';
import { EncodeError } from './encode-error.ts';
import {
  addressField,
  asList,
  asObject,
  booleanField,
  bytesField,
  entryFunctionField,
  enumField,
  type FunctionId,
  hashField,
  type JsonField,
  listField,
  moduleIdField,
  moveTypeListField,
  optionalField,
  stringField,
  type Trace,
  type U64,
  u64Field,
  unexpectedType,
  within,
} from './fields.ts';

interface CallRequest {
  readonly typeArguments: readonly MoveType[];
  /** Signers are not arguments. */
  readonly arguments: readonly JsonValue[];
}

export interface EntryFunctionRequest extends CallRequest {
  readonly kind: 'entryFunction';
  readonly id: FunctionId;
}

export interface ScriptRequest extends CallRequest {
  readonly kind: 'script';
  readonly code: Buffer;
  /** The parameters of the `abi`, if given. They are trusted: the code is not read. */
  readonly abiParameters: readonly MoveType[] | undefined;
}

export type RequestPayload =
  | EntryFunctionRequest
  | ScriptRequest
  | {
      readonly kind: 'multisig';
      readonly multisigAddress: Address;
      readonly payload: EntryFunctionRequest | ScriptRequest | undefined;
    }
  | { readonly kind: 'moduleBundle' }
  | EncryptedRequest;

const MULTISIG_UNION = 'MultisigTransactionPayload';

/** The traces of a kind of request and of its payload, built once instead of per request. */
export interface RequestTraces {
  readonly outer: Trace;
  readonly fields: Trace;
  readonly payload: Trace;
  readonly entryFunction: Trace;
}

/** @param type how messages name the request */
export function requestTraces(type: string, enclosing: Trace): RequestTraces {
  const outer = within(type, enclosing);
  const fields = within('UserTransactionRequestInner', outer);
  const payload = within('TransactionPayload', fields);
  return { outer, fields, payload, entryFunction: within('EntryFunctionPayload', payload) };
}

/** Reads the payload of a request. @throws EncodeError of stage `parse` */
export function readPayload(value: JsonField, traces: RequestTraces): RequestPayload {
  const trace = traces.payload;
  switch (asObject(value)?.get('type')) {
    case 'entry_function_payload':
      return readEntryFunction(value, traces.entryFunction);
    case 'script_payload':
      return readScript(value, trace);
    case 'multisig_payload':
      return readMultisig(value, trace);
    case 'module_bundle_payload':
      return { kind: 'moduleBundle' };
    case 'encrypted_transaction_payload':
      return readEncryptedPayload(value, trace);
    default:
      throw badPayload('TransactionPayload', value, traces.fields);
  }
}

function badPayload(type: string, value: JsonField, trace: Trace): EncodeError {
  return new EncodeError('parse', 'bad_payload', unexpectedType(type, value, trace).detail);
}

function readEntryFunction(value: JsonField, trace: Trace): EntryFunctionRequest {
  const payload = asObject(value)!;
  const id = entryFunctionField(payload.get('function'), trace);
  const typeArguments = moveTypeListField(payload.get('type_arguments'), trace);
  const args = argumentsField(payload.get('arguments'), trace);
  return { kind: 'entryFunction', id, typeArguments, arguments: args };
}

function readScript(value: JsonField, outer: Trace): ScriptRequest {
  const payload = asObject(value)!;
  const trace = within('ScriptPayload', outer);
  const code = asObject(payload.get('code'));
  if (code === undefined) {
    throw unexpectedType('MoveScriptBytecode', payload.get('code'), trace);
  }
  const codeTrace = within('MoveScriptBytecode', trace);
  return {
    kind: 'script',
    code: bytesField(code.get('bytecode'), codeTrace),
    abiParameters: optionalField(code.get('abi'), 'MoveFunction', codeTrace, readFunctionAbi),
    typeArguments: moveTypeListField(payload.get('type_arguments'), trace),
    arguments: argumentsField(payload.get('arguments'), trace),
  };
}

function readMultisig(value: JsonField, outer: Trace): RequestPayload {
  const payload = asObject(value)!;
  const trace = within('MultisigPayload', outer);
  const readInner = (inner: JsonValue, traceOfInner: Trace) => {
    const call = readCall(inner, within(MULTISIG_UNION, traceOfInner));
    if (call === undefined) throw badPayload(MULTISIG_UNION, inner, traceOfInner);
    return call;
  };
  return {
    kind: 'multisig',
    multisigAddress: addressField(payload.get('multisig_address'), trace),
    payload: optionalField(payload.get('transaction_payload'), MULTISIG_UNION, trace, readInner),
  };
}

function readCall(
  value: JsonField,
  trace: Trace,
): EntryFunctionRequest | ScriptRequest | undefined {
  switch (asObject(value)?.get('type')) {
    case 'entry_function_payload':
      return readEntryFunction(value, within('EntryFunctionPayload', trace));
    case 'script_payload':
      return readScript(value, trace);
    default:
      return undefined;
  }
}

export function argumentsField(value: JsonField, trace: Trace): readonly JsonValue[] {
  const list = asList(value);
  if (list === undefined) throw unexpectedType('[any]', value, trace);
  return list;
}

const VISIBILITIES = ['private', 'public', 'friend'] as const;
const ABILITIES: ReadonlySet<string> = new Set(['copy', 'drop', 'store', 'key']);

/** The parameters of the `abi` that a client may give next to a script's code; all its fields are checked. */
function readFunctionAbi(value: JsonValue, outer: Trace): readonly MoveType[] {
  const abi = asObject(value);
  if (abi === undefined) throw unexpectedType('MoveFunction', value, outer);
  const trace = within('MoveFunction', outer);
  stringField(abi.get('name'), 'IdentifierWrapper', trace);
  enumField(abi.get('visibility'), 'MoveFunctionVisibility', VISIBILITIES, trace);
  booleanField(abi.get('is_entry'), trace);
  booleanField(abi.get('is_view'), trace);
  listField(abi.get('generic_type_params'), 'MoveFunctionGenericTypeParam', trace, checkGeneric);
  const parameters = moveTypeListField(abi.get('params'), trace);
  moveTypeListField(abi.get('return'), trace);
  return parameters;
}

function checkGeneric(value: JsonValue, outer: Trace): void {
  const generic = asObject(value);
  if (generic === undefined) throw unexpectedType('MoveFunctionGenericTypeParam', value, outer);
  const trace = within('MoveFunctionGenericTypeParam', outer);
  listField(generic.get('constraints'), 'string(MoveAbility)', trace, checkAbility);
}

function checkAbility(value: JsonValue, trace: Trace): void {
  const name = stringField(value, 'MoveAbility', trace);
  if (ABILITIES.has(name)) return;
  throw new EncodeError(
    'parse',
    'bad_field',
    `failed to parse "string(MoveAbility)": Invalid ability string: ${name}${trace}`,
  );
}

/** The name of each state's structure. */
const ENCRYPTED_STATES = {
  encrypted: 'EncryptedPayload',
  failed_decryption: 'FailedDecryptionPayload',
  decrypted: 'DecryptedPayload',
};
const STATE_NAMES = Object.keys(ENCRYPTED_STATES) as (keyof typeof ENCRYPTED_STATES)[];

interface ClaimedFunction {
  readonly module: ModuleId;
  readonly name: string | undefined;
}

export interface EncryptedRequest {
  readonly kind: 'encrypted';
  /** Only `encrypted` can be submitted. */
  readonly state: keyof typeof ENCRYPTED_STATES;
  /** 32 bytes. */
  readonly payloadHash: Buffer;
  /** Not decoded before conversion. */
  readonly ciphertext: Buffer;
  readonly encryptionEpoch: U64;
  readonly claimedFunction: ClaimedFunction | undefined;
}

const ENCRYPTED_UNION = 'EncryptedTransactionPayload';

function readEncryptedPayload(value: JsonField, outer: Trace): EncryptedRequest {
  const payload = asObject(value)!;
  const state = STATE_NAMES.find((one) => one === payload.get('encrypted_state'));
  if (state === undefined) throw badPayload(ENCRYPTED_UNION, value, outer);
  const trace = within(ENCRYPTED_STATES[state], within(ENCRYPTED_UNION, outer));
  const request: EncryptedRequest = {
    kind: 'encrypted',
    state,
    payloadHash: hashField(payload.get('payload_hash'), trace),
    ciphertext: bytesField(payload.get('ciphertext'), trace),
    encryptionEpoch: u64Field(payload.get('encryption_epoch'), trace),
    claimedFunction: optionalField(
      payload.get('claimed_entry_fun'),
      'ClaimedEntryFunction',
      trace,
      readClaimedFunction,
    ),
  };
  if (state === 'decrypted') checkDecrypted(payload, trace);
  return request;
}

const DECRYPTED_UNION = 'EncryptedTransactionInnerPayload';

/** A decrypted payload cannot be submitted. It is parsed only to report its errors. */
function checkDecrypted(payload: JsonObject, outer: Trace): void {
  const decrypted = payload.get('decrypted_payload');
  const trace = within(DECRYPTED_UNION, outer);
  const inner =
    asObject(decrypted)?.get('type') === 'multisig_payload'
      ? readMultisig(decrypted, trace)
      : readCall(decrypted, trace);
  if (inner === undefined) throw badPayload(DECRYPTED_UNION, decrypted, outer);
  bytesField(payload.get('decryption_nonce'), outer);
}

function readClaimedFunction(value: JsonValue, outer: Trace): ClaimedFunction {
  const claimed = asObject(value);
  if (claimed === undefined) throw unexpectedType('ClaimedEntryFunction', value, outer);
  const trace = within('ClaimedEntryFunction', outer);
  const module = moduleIdField(claimed.get('module'), trace);
  const name = optionalField(
    claimed.get('name'),
    'string(IdentifierWrapper)',
    trace,
    (text, nameTrace) => stringField(text, 'IdentifierWrapper', nameTrace),
  );
  return { module, name };
}
