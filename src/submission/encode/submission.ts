/**
 * Requests to submit or simulate transactions: all fields, the checks that need no state, and the BCS of the
 * transaction (docs/spec/transactions.md §9.1, §9.4).
 */
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import { BcsError } from '../../move/bcs/bcs-reader.ts';
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { HASH_BYTES } from '../../move/crypto/hash.ts';
import type { JsonValue } from '../../move/json/json-text.ts';
import { SignedTransaction } from '../../move/transactions/user-transaction.ts';
import { EncodeError } from './encode-error.ts';
import { asObject, type JsonField, listField, type Trace, unexpectedType } from './fields.ts';
import { type EncodeContext, encodeRequest, verifyEncodeRequest } from './index.ts';
import { type RequestTraces, requestTraces } from './payload.ts';
import { type EncodeRequest, parseRequestText, readTransactionRequest } from './request.ts';
import { type RequestSignature, readTransactionSignature } from './signature.ts';

const TYPE = 'SubmitTransactionRequest';
const TRACES = requestTraces(TYPE, '');

export interface Submission {
  readonly request: EncodeRequest;
  readonly signature: RequestSignature;
}

/** Reads and verifies a request with its signature. @throws EncodeError of the stages `parse` and `verify` */
export function parseSubmission(body: Uint8Array): Submission {
  const submission = readSubmission(parseRequestText(body), TRACES, '');
  verify(submission);
  return submission;
}

/** Reads and verifies a list of such requests. @throws EncodeError of the stages `parse` and `verify` */
export function parseSubmissions(body: Uint8Array): Submission[] {
  let traces: RequestTraces | undefined;
  const read = (value: JsonValue, outer: Trace): Submission => {
    traces ??= requestTraces(TYPE, outer);
    return readSubmission(value, traces, outer);
  };
  const submissions = listField(parseRequestText(body), TYPE, '', read);
  for (const submission of submissions) verify(submission);
  return submissions;
}

function readSubmission(value: JsonField, traces: RequestTraces, outer: Trace): Submission {
  const object = asObject(value);
  if (object === undefined) throw unexpectedType(TYPE, value, outer);
  const request = readTransactionRequest(object, traces);
  return { request, signature: readTransactionSignature(object.get('signature'), traces.outer) };
}

function verify({ request, signature }: Submission): void {
  verifyEncodeRequest(request);
  signature.verify();
}

/** BCS of the SignedTransaction of a request. @throws EncodeError of stage `convert`, or rejects with it */
export function signedTransactionOf(
  { request, signature }: Submission,
  context: EncodeContext,
): MaybePromise<Buffer> {
  const message = encodeRequest(request, context);
  return andThen(message, (bytes) => {
    const signed = encodeBcs((writer) => {
      writer.fixed(bytes.subarray(HASH_BYTES));
      signature.write(writer);
    });
    try {
      SignedTransaction.decode(signed);
      return signed;
    } catch (cause) {
      if (!(cause instanceof BcsError)) throw cause;
      throw new EncodeError('convert', 'bad_signature', cause.detail, { cause });
    }
  });
}
