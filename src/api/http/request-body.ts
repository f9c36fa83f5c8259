/**
 * Reading request bodies: counted against the limit as sent and as decompressed, chunked or not
 * (docs/spec/http.md §5.1, §10.3; docs/spec/decisions.md D8).
 */
import type { IncomingMessage } from 'node:http';
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import { type ApiError, frameworkError } from '../error-table.ts';
import type { Admission } from '../load/admission.ts';
import { bodyTooLarge, decompressBody } from './compression.ts';

/** In bytes. Bodies up to this are not counted as held: large ones of slow clients must not stop ordinary requests. */
const SMALL_BODY_BYTES = 64 * 1024;

export function exceedsDeclaredLimit(request: IncomingMessage, limitBytes: number): boolean {
  return Number(request.headers['content-length'] ?? 0) > limitBytes;
}

/**
 * Reads a whole body, decompressed unless that is switched off. Returns an uncompressed body synchronously if all of it
 * has arrived. Call it no earlier than the tick after the 'request' event: the parser delivers the body after that.
 * @throws ApiError 413 `payload too large`, 400 `io: …`, 503 when too much is held
 */
export function readBody(
  request: IncomingMessage,
  limits: { readonly contentLengthLimitBytes: number; readonly compressionEnabled: boolean },
  admission: Admission,
): MaybePromise<Buffer> {
  const limitBytes = limits.contentLengthLimitBytes;
  if (exceedsDeclaredLimit(request, limitBytes)) throw bodyTooLarge();
  const rawBody = readRawBody(request, limitBytes, admission);
  const coding = limits.compressionEnabled ? request.headers['content-encoding'] : undefined;
  return coding === undefined
    ? rawBody
    : andThen(rawBody, (bytes) => decompressBody(bytes, coding, limitBytes));
}

/** The body length that the request's head declares, in bytes; infinite for a chunked body. */
export function declaredBodyBytes({ headers }: IncomingMessage): number {
  if (headers['transfer-encoding'] !== undefined) return Number.POSITIVE_INFINITY;
  return Number(headers['content-length'] ?? 0);
}

/**
 * Collects the bytes that are sent. Over the limit it stops collecting and discards the rest. Bytes that came with the
 * head are read without listeners or a promise, which are most of the cost of reading a small request.
 */
function readRawBody(
  request: IncomingMessage,
  limitBytes: number,
  admission: Admission,
): MaybePromise<Buffer> {
  const declaredBytes = declaredBodyBytes(request);
  const chunks: Buffer[] = [];
  let receivedBytes = 0;
  /** Reads the bytes that have arrived. @returns whether the outcome is known */
  const readAvailable = (): boolean => {
    for (let chunk = request.read() as Buffer | null; chunk !== null; chunk = request.read()) {
      receivedBytes += chunk.length;
      if (receivedBytes <= limitBytes) chunks.push(chunk);
      else chunks.length = 0;
    }
    return request.complete || receivedBytes === declaredBytes || receivedBytes > limitBytes;
  };
  const body = (): Buffer => {
    if (receivedBytes > limitBytes) throw bodyTooLarge();
    return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, receivedBytes);
  };
  if (request.destroyed) throw readFailure(prematureClose());
  if (readAvailable()) {
    // nextTick runs after the last chunk and before 'end'. Nothing waits for 'end'.
    if (!request.complete) request.resume();
    return body();
  }
  const pending = admission.pending(request, 'body');
  const maxBytes = Math.min(declaredBytes, limitBytes);
  try {
    if (maxBytes > SMALL_BODY_BYTES) pending.hold(maxBytes);
  } catch (refusal) {
    pending.end();
    throw refusal;
  }
  return new Promise<void>((resolve, reject) => {
    let isSettled = false;
    const end = (failure?: Error): void => {
      if (isSettled) return;
      isSettled = true;
      pending.end();
      if (failure === undefined) resolve();
      else reject(failure);
    };
    // The listeners are dropped with the request; removing each of them costs more than letting it be called.
    request.on('readable', () => {
      if (readAvailable()) end();
    });
    request.on('error', (cause) => end(readFailure(cause)));
    request.on('close', () => end(readFailure(prematureClose())));
  }).then(body);
}

function prematureClose(): Error {
  return new Error('connection closed before the body was complete');
}

function readFailure(cause: Error): ApiError {
  return frameworkError(400, `io: ${cause.message}`, { cause });
}
