/**
 * `daybook/encoding`: signing messages without a server, from module bytes that the caller has (docs/encode.md).
 * Opens no file and no connection, and runs in Node and in browsers.
 */

import { byteTools } from './move/bcs/bytes.ts';
import { jsonOfPlain, type PlainJson, plainJson } from './move/json/json-plain.ts';
import {
  type DecodeContext,
  decodeSubmission as decodeMessage,
  parseMessageText,
  type SubmissionNotes,
} from './submission/decode/index.ts';
import {
  type EncodeContext,
  encodeSubmission as encodeRequest,
} from './submission/encode/index.ts';

export type { MaybePromise } from './maybe-promise.ts';
export { type PlainJson, PlainJsonError, type PlainJsonErrorCode } from './move/json/json-plain.ts';
export type { CompiledModule, LoaderLimits } from './move/modules/compiled.ts';
export { BinaryFormatError } from './move/modules/format.ts';
export type { ModuleLookup } from './move/modules/lookup.ts';
export { DuplicateModuleError, modulesFrom } from './move/modules/module-set.ts';
export { loadModule as readModule } from './move/modules/read.ts';
export type { ModuleId } from './move/types/module-id.ts';
export {
  type DecodeContext,
  DecodeError,
  type DecodeErrorCode,
  MAX_SIGNING_MESSAGE_BYTES,
  type SubmissionNotes,
  type Warning,
  type WarningCode,
} from './submission/decode/index.ts';
export {
  type EncodeContext,
  EncodeError,
  type EncodeErrorCode,
  type EncodeStage,
} from './submission/encode/index.ts';

/** u8 to u32 as numbers, u64 and larger as decimal text or bigint, addresses and bytes as hex. */
export type ArgumentValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly ArgumentValue[]
  | { readonly [name: string]: ArgumentValue };

/** `arguments` without signers. */
export interface EntryFunctionPayloadObject<Argument = ArgumentValue> {
  readonly type: 'entry_function_payload';
  /** `{address}::{module}::{function}` */
  readonly function: string;
  readonly type_arguments: readonly string[];
  readonly arguments: readonly Argument[];
}

export interface ScriptPayloadObject<Argument = ArgumentValue> {
  readonly type: 'script_payload';
  readonly code: {
    /** Hex. */
    readonly bytecode: string;
    /** Trusted if given: the bytecode is ignored then. */
    readonly abi?: PlainJson;
  };
  readonly type_arguments: readonly string[];
  readonly arguments: readonly Argument[];
}

export interface MultisigPayloadObject<Argument = ArgumentValue> {
  readonly type: 'multisig_payload';
  readonly multisig_address: string;
  /** Absent if the payload is stored on the chain. */
  readonly transaction_payload?:
    | EntryFunctionPayloadObject<Argument>
    | ScriptPayloadObject<Argument>
    | null;
}

export interface EncryptedPayloadObject<Integer = string | bigint> {
  readonly type: 'encrypted_transaction_payload';
  readonly encrypted_state: 'encrypted';
  /** 64 hex digits, `0x` optional. */
  readonly payload_hash: string;
  /** Hex. */
  readonly ciphertext: string;
  readonly encryption_epoch: Integer;
  readonly claimed_entry_fun?: { readonly module: string; readonly name?: string | null } | null;
}

/**
 * A transaction to encode. Integers are decimal texts or bigints; addresses are hex, `0x` and leading zeros optional.
 */
export interface SubmissionRequest {
  readonly sender: string;
  /** Required even with a nonce, but ignored then. */
  readonly sequence_number: string | bigint;
  readonly max_gas_amount: string | bigint;
  readonly gas_unit_price: string | bigint;
  readonly expiration_timestamp_secs: string | bigint;
  readonly payload:
    | EntryFunctionPayloadObject
    | ScriptPayloadObject
    | MultisigPayloadObject
    | EncryptedPayloadObject;
  readonly replay_protection_nonce?: string | bigint | null;
  /** If present, even empty: a multi-agent transaction. */
  readonly secondary_signers?: readonly string[] | null;
}

/**
 * The bytes that the signers of a transaction sign: a 32-byte domain separator, then the BCS of the transaction.
 * @param request an object, or its JSON as text or UTF-8 bytes
 * @throws EncodeError with the text that a client of the reference node gets; PlainJsonError for an object that is not
 * JSON; errors of the lookup
 */
export function encodeSubmission(
  request: SubmissionRequest | string | Uint8Array,
  context: EncodeContext,
): Promise<Uint8Array> {
  if (typeof request === 'string') return encodeRequest(byteTools.utf8Bytes(request), context);
  if (request instanceof Uint8Array) return encodeRequest(request, context);
  try {
    return encodeRequest(jsonOfPlain(request), context);
  } catch (error) {
    // Not an async function: a promise within a promise would cost a tenth of the total time.
    return Promise.reject(error);
  }
}

/** A payload that a request cannot express; the encoder rejects it. */
export interface RawPayloadObject {
  readonly type: 'daybook_raw_payload';
  /** Hex. */
  readonly bcs: string;
}

/** Module publishing, which chains no longer support; the encoder rejects it. */
export interface ModuleBundlePayloadObject {
  readonly type: 'module_bundle_payload';
}

/** A decoded transaction; `payload.type` tells what it does. */
export interface DecodedSubmission {
  readonly sender: string;
  readonly sequence_number: string;
  readonly max_gas_amount: string;
  readonly gas_unit_price: string;
  readonly expiration_timestamp_secs: string;
  readonly payload:
    | EntryFunctionPayloadObject<PlainJson>
    | ScriptPayloadObject<PlainJson>
    | MultisigPayloadObject<PlainJson>
    | EncryptedPayloadObject<string>
    | ModuleBundlePayloadObject
    | RawPayloadObject;
  readonly replay_protection_nonce?: string;
  /** Present, even empty: a multi-agent transaction. */
  readonly secondary_signers?: readonly string[];
}

export interface DecodedRequest {
  /**
   * The request in the form of `encodeSubmission`, except for content that this form cannot express;
   * `notes.encodesBack` tells whether encoding it returns the decoded bytes.
   */
  readonly request: DecodedSubmission;
  readonly notes: SubmissionNotes;
}

/**
 * Decodes a signing message into its request, with notes for the signer.
 * @param message the bytes, or their hex, `0x` optional
 * @throws DecodeError for bytes that are not a signing message; errors of the lookup
 */
export async function decodeSubmission(
  message: Uint8Array | string,
  context: DecodeContext,
): Promise<DecodedRequest> {
  const bytes = typeof message === 'string' ? parseMessageText(message) : message;
  const { request, notes } = await decodeMessage(bytes, context);
  return { request: plainJson(request) as unknown as DecodedSubmission, notes };
}
