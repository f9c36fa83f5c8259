/**
 * The request of an encode submission: its JSON, its fields and the order they are checked in (docs/spec/encode.md
 * §A1).
 */
import { JsonSyntaxError, type JsonValue, parseJson } from '../../move/json/json-text.ts';
import type { Address } from '../../move/types/address.ts';
import { EncodeError } from './encode-error.ts';
import {
  addressField,
  asObject,
  listField,
  optionalField,
  type Trace,
  type U64,
  u64Field,
  unexpectedType,
  within,
} from './fields.ts';
import { type RequestPayload, readPayload } from './payload.ts';

/** A request whose fields are all of the right form. */
export interface EncodeRequest {
  readonly sender: Address;
  /** Ignored if there is a nonce. */
  readonly sequenceNumber: U64;
  readonly maxGasAmount: U64;
  readonly gasUnitPrice: U64;
  readonly expirationTimestampSecs: U64;
  readonly payload: RequestPayload;
  readonly replayProtectionNonce: bigint | undefined;
  /** Absent: one signer. Empty: several signers, of which the sender is the only one. */
  readonly secondarySigners: readonly Address[] | undefined;
}

const OUTER = within('EncodeSubmissionRequest', '');
const INNER = within('UserTransactionRequestInner', OUTER);

/**
 * Reads a request from its JSON, as bytes or as a value. No bytes at all read as null.
 * @throws EncodeError of stage `parse`
 */
export function parseEncodeRequest(body: JsonValue | Uint8Array): EncodeRequest {
  const value = body instanceof Uint8Array ? parseRequestText(body) : body;
  const request = asObject(value);
  if (request === undefined) throw unexpectedType('EncodeSubmissionRequest', value, '');
  return {
    sender: addressField(request.get('sender'), INNER),
    sequenceNumber: u64Field(request.get('sequence_number'), INNER),
    maxGasAmount: u64Field(request.get('max_gas_amount'), INNER),
    gasUnitPrice: u64Field(request.get('gas_unit_price'), INNER),
    expirationTimestampSecs: u64Field(request.get('expiration_timestamp_secs'), INNER),
    payload: readPayload(request.get('payload')),
    replayProtectionNonce: optionalField(
      request.get('replay_protection_nonce'),
      'string(U64)',
      INNER,
      (value, trace) => BigInt(u64Field(value, trace)),
    ),
    secondarySigners: optionalField(
      request.get('secondary_signers'),
      '[string(Address)]',
      OUTER,
      readSigners,
    ),
  };
}

function readSigners(value: JsonValue, trace: Trace): readonly Address[] {
  return listField(value, 'string(Address)', trace, addressField);
}

/** The JSON value of a request; no bytes at all read as null. @throws EncodeError `json_syntax` */
export function parseRequestText(body: Uint8Array): JsonValue {
  if (body.length === 0) return null;
  try {
    return parseJson(body);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw new EncodeError('parse', 'json_syntax', error.message, { cause: error });
  }
}
