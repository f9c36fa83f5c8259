/**
 * Requests to submit or simulate transactions, as far as a node reads them that executes nothing: all fields, and what
 * can be verified without state (docs/spec/transactions.md §9.1).
 */
import type { JsonValue } from '../../move/json/json-text.ts';
import { asObject, type JsonField, listField, type Trace, unexpectedType } from './fields.ts';
import { verifyEncodeRequest } from './index.ts';
import { type RequestTraces, requestTraces } from './payload.ts';
import { parseRequestText, readTransactionRequest } from './request.ts';
import { readTransactionSignature, type SignatureCheck } from './signature.ts';

const TYPE = 'SubmitTransactionRequest';
const TRACES = requestTraces(TYPE, '');

/** Reads and verifies a request with its signature. @throws EncodeError of the stages `parse` and `verify` */
export function checkSubmission(body: Uint8Array): void {
  readSubmission(parseRequestText(body), TRACES, '')();
}

/** Reads and verifies a list of such requests. @throws EncodeError of the stages `parse` and `verify` */
export function checkSubmissions(body: Uint8Array): void {
  let traces: RequestTraces | undefined;
  const read = (value: JsonValue, outer: Trace): SignatureCheck => {
    traces ??= requestTraces(TYPE, outer);
    return readSubmission(value, traces, outer);
  };
  for (const check of listField(parseRequestText(body), TYPE, '', read)) check();
}

/** Reads a request. @returns what verifies it */
function readSubmission(value: JsonField, traces: RequestTraces, outer: Trace): SignatureCheck {
  const object = asObject(value);
  if (object === undefined) throw unexpectedType(TYPE, value, outer);
  const request = readTransactionRequest(object, traces);
  const checkSignature = readTransactionSignature(object.get('signature'), traces.outer);
  return () => {
    verifyEncodeRequest(request);
    checkSignature();
  };
}
