/** Payloads of the request: the union by `type` and the fields of each kind (docs/spec/encode.md §A2). */

import type { JsonValue } from '../../move/json/json-text.ts';
import type { Address } from '../../move/types/address.ts';
import type { ModuleId } from '../../move/types/module-id.ts';
import type { MoveType } from '../../move/types/move-type.ts';
import { EncodeError } from './encode-error.ts';
import { type EncryptedRequest, readEncryptedPayload } from './encrypted-payload.ts';
import {
  addressField,
  asList,
  asObject,
  bytesField,
  entryFunctionField,
  type JsonField,
  moveTypeListField,
  optionalField,
  type Trace,
  unexpectedType,
  within,
} from './fields.ts';
import { readFunctionAbi } from './script-abi.ts';

/** What entry functions and scripts are called with. */
export interface CallRequest {
  readonly typeArguments: readonly MoveType[];
  /** Signers are no arguments. */
  readonly arguments: readonly JsonValue[];
}

export interface EntryFunctionRequest extends CallRequest {
  readonly kind: 'entryFunction';
  readonly module: ModuleId;
  readonly function: string;
}

export interface ScriptRequest extends CallRequest {
  readonly kind: 'script';
  readonly code: Buffer;
  /** The parameters of a given `abi`: it is believed, and the code is not looked at. */
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

/** Reads the payload of a request. @throws EncodeError of stage `parse` */
export function readPayload(value: JsonField, outer: Trace): RequestPayload {
  const trace = within('TransactionPayload', outer);
  switch (asObject(value)?.get('type')) {
    case 'entry_function_payload':
      return readEntryFunction(value, trace);
    case 'script_payload':
      return readScript(value, trace);
    case 'multisig_payload':
      return readMultisig(value, trace);
    case 'module_bundle_payload':
      return { kind: 'moduleBundle' };
    case 'encrypted_transaction_payload':
      return readEncryptedPayload(value, trace);
    default:
      throw badPayload('TransactionPayload', value, outer);
  }
}

function badPayload(type: string, value: JsonField, trace: Trace): EncodeError {
  return new EncodeError('parse', 'bad_payload', unexpectedType(type, value, trace).detail);
}

function readEntryFunction(value: JsonField, outer: Trace): EntryFunctionRequest {
  const payload = asObject(value)!;
  const trace = within('EntryFunctionPayload', outer);
  const { module, name } = entryFunctionField(payload.get('function'), trace);
  const typeArguments = moveTypeListField(payload.get('type_arguments'), trace);
  const args = argumentsField(payload.get('arguments'), trace);
  return { kind: 'entryFunction', module, function: name, typeArguments, arguments: args };
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
  return {
    kind: 'multisig',
    multisigAddress: addressField(payload.get('multisig_address'), trace),
    payload: optionalField(
      payload.get('transaction_payload'),
      MULTISIG_UNION,
      trace,
      readMultisigTransactionPayload,
    ),
  };
}

function readMultisigTransactionPayload(
  value: JsonValue,
  outer: Trace,
): EntryFunctionRequest | ScriptRequest {
  const trace = within(MULTISIG_UNION, outer);
  switch (asObject(value)?.get('type')) {
    case 'entry_function_payload':
      return readEntryFunction(value, trace);
    case 'script_payload':
      return readScript(value, trace);
    default:
      throw badPayload(MULTISIG_UNION, value, outer);
  }
}

function argumentsField(value: JsonField, trace: Trace): readonly JsonValue[] {
  const list = asList(value);
  if (list === undefined) throw unexpectedType('[any]', value, trace);
  return list;
}
