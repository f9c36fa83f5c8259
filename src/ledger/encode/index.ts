/**
 * Encode submission: from a transaction request in JSON to the bytes that its signers sign, as the reference makes
 * them (docs/spec/encode.md A). No HTTP here; reading and verifying can be had alone because the API refuses some
 * requests
 * for other reasons after those (A0).
 */

import type { MaybePromise } from '../../maybe-promise.ts';
import type { JsonValue } from '../../move/json/json-text.ts';
import { convertWhenFound, type EncodeContext } from './convert.ts';
import { encodeQuickly } from './quick.ts';
import { type EncodeRequest, parseEncodeRequest, parseRequestText } from './request.ts';
import { verifyEncodeRequest } from './verify.ts';

export type { EncodeContext } from './convert.ts';
export { EncodeError, type EncodeErrorCode, type EncodeStage } from './encode-error.ts';
export type { EncodeRequest } from './request.ts';
export { parseEncodeRequest, parseRequestText } from './request.ts';
export { verifyEncodeRequest } from './verify.ts';

/**
 * The signing message of a request, given as JSON bytes or as a parsed value: 32 bytes that name the domain, then
 * the BCS of the transaction.
 * @throws EncodeError with the text that a client of the reference gets
 */
export async function encodeSubmission(
  request: JsonValue | Uint8Array,
  context: EncodeContext,
): Promise<Buffer> {
  const value = request instanceof Uint8Array ? parseRequestText(request) : request;
  const message = encodeValue(value, context);
  return message instanceof Promise ? await message : message;
}

/**
 * The signing message of a request whose JSON is read; at once when everything is at hand. Throws or rejects as
 * `encodeSubmission`.
 */
export function encodeValue(value: JsonValue, context: EncodeContext): MaybePromise<Buffer> {
  return encodeQuickly(value, context) ?? convertWhenFound(readEncodeRequest(value), context);
}

/** A request read and verified. @throws EncodeError of the stages `parse` and `verify` */
export function readEncodeRequest(value: JsonValue): EncodeRequest {
  const request = parseEncodeRequest(value);
  verifyEncodeRequest(request);
  return request;
}
