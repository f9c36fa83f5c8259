/**
 * The request of an encode submission: its JSON, its fields and the order in which they are checked
 * (docs/spec/encode.md §A1).
 */
import {
  type JsonObject,
  JsonSyntaxError,
  type JsonValue,
  parseJson,
} from '../../move/json/json-text.ts';
import type { Address } from '../../move/types/address.ts';
import { EncodeError } from './encode-error.ts';
import {
  addressField,
  asObject,
  type JsonField,
  listField,
  optionalField,
  type U64,
  u64Field,
  unexpectedType,
} from './fields.ts';
import { type RequestPayload, type RequestTraces, readPayload, requestTraces } from './payload.ts';

export interface EncodeRequest {
  readonly sender: Address;
  /** Ignored if there is a nonce. */
  readonly sequenceNumber: U64;
  readonly maxGasAmount: U64;
  readonly gasUnitPrice: U64;
  readonly expirationTimestampSecs: U64;
  readonly payload: RequestPayload;
  readonly replayProtectionNonce: bigint | undefined;
  /** Absent for one signer or with signatures. Empty for several signers of which the sender is the only one. */
  readonly secondarySigners: readonly Address[] | undefined;
}

const TRACES = requestTraces('EncodeSubmissionRequest', '');

/**
 * Reads a request from its JSON, as bytes or as a value. An empty body is read as null.
 * @throws EncodeError of stage `parse`
 */
export function parseEncodeRequest(body: JsonValue | Uint8Array): EncodeRequest {
  const value = body instanceof Uint8Array ? parseRequestText(body) : body;
  const request = asObject(value);
  if (request === undefined) throw unexpectedType('EncodeSubmissionRequest', value, '');
  return readTransactionRequest(request, TRACES, request.get('secondary_signers'));
}

/** Reads the fields of a request in the order in which they are checked. @throws EncodeError of stage `parse` */
export function readTransactionRequest(
  request: JsonObject,
  traces: RequestTraces,
  signers?: JsonField,
): EncodeRequest {
  const { fields } = traces;
  return {
    sender: addressField(request.get('sender'), fields),
    sequenceNumber: u64Field(request.get('sequence_number'), fields),
    maxGasAmount: u64Field(request.get('max_gas_amount'), fields),
    gasUnitPrice: u64Field(request.get('gas_unit_price'), fields),
    expirationTimestampSecs: u64Field(request.get('expiration_timestamp_secs'), fields),
    payload: readPayload(request.get('payload'), traces),
    replayProtectionNonce: optionalField(
      request.get('replay_protection_nonce'),
      'string(U64)',
      fields,
      (value, trace) => BigInt(u64Field(value, trace)),
    ),
    secondarySigners: optionalField(signers, '[string(Address)]', traces.outer, (value, trace) =>
      listField(value, 'string(Address)', trace, addressField),
    ),
  };
}

/** The JSON value of a request. An empty body is read as null. @throws EncodeError `json_syntax` */
export function parseRequestText(body: Uint8Array): JsonValue {
  if (body.length === 0) return null;
  try {
    return parseJson(body);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw new EncodeError('parse', 'json_syntax', error.message, { cause: error });
  }
}
