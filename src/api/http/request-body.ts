/**
 * Reading request bodies: counted against the limit as sent and as decompressed, chunked or not
 * (docs/spec/http.md §5.1, §10.3; docs/spec/decisions.md D8).
 */
import type { IncomingMessage } from 'node:http';
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import { overloadError } from '../load/overload.ts';
import type { ApiSettings } from '../settings.ts';
import { bodyTooLarge, decompressBody } from './compression.ts';
import { type ApiError, frameworkError } from './error-table.ts';

/** Bodies up to this size, in bytes, never wait: slow clients with large ones must not stop ordinary requests. */
export const SMALL_BODY_BYTES = 64 * 1024;

/**
 * A budget for the bodies being received over all connections of a process, granted in order of arrival; further
 * bodies wait on their connections. Otherwise a thousand clients that send 8 MiB each and stop before the end would
 * occupy 8 GiB.
 */
export class BodyBudget {
  /** Bytes received at once, at most. */
  readonly maxBytes: number;
  readonly #maxWaiting: number;
  readonly #waiting: { readonly neededBytes: number; readonly start: () => void }[] = [];
  #freeBytes: number;

  constructor({
    maxReceivingBytes,
    maxWaitingBodies,
  }: Pick<ApiSettings, 'maxReceivingBytes' | 'maxWaitingBodies'>) {
    this.maxBytes = maxReceivingBytes === 0 ? Number.POSITIVE_INFINITY : maxReceivingBytes;
    this.#maxWaiting = maxWaitingBodies === 0 ? Number.POSITIVE_INFINITY : maxWaitingBodies;
    this.#freeBytes = this.maxBytes;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Resolves when this many bytes are free; the caller returns the same number with `release`.
   * @throws ApiError 503 when too many wait already
   */
  async reserve(neededBytes: number): Promise<void> {
    if (this.#waiting.length >= this.#maxWaiting) throw overloadError('body');
    await new Promise<void>((resolve) => {
      this.#waiting.push({ neededBytes, start: resolve });
      this.#admit();
    });
  }

  /** Gives bytes back. */
  release(bytes: number): void {
    this.#freeBytes += bytes;
    this.#admit();
  }

  #admit(): void {
    for (;;) {
      const [first] = this.#waiting;
      if (first === undefined || first.neededBytes > this.#freeBytes) return;
      this.#waiting.shift();
      this.#freeBytes -= first.neededBytes;
      first.start();
    }
  }
}

/** Whether the `Content-Length` of a request already exceeds the limit. */
export function declaresTooMuch(request: IncomingMessage, limitBytes: number): boolean {
  return Number(request.headers['content-length'] ?? 0) > limitBytes;
}

/**
 * The whole body of a request, decompressed unless that is switched off: at once where all of it is here. Call it no
 * earlier than in the tick after the request's event: the parser gives the body after the head has been handled.
 * @param budget shared by all requests of a server
 * @throws ApiError 413 `payload too large`, 400 `io: …`, 503 when too many bodies wait
 */
export function readBody(
  request: IncomingMessage,
  limits: { readonly contentLengthLimitBytes: number; readonly compressionEnabled: boolean },
  budget: BodyBudget,
): MaybePromise<Buffer> {
  const limitBytes = limits.contentLengthLimitBytes;
  if (declaresTooMuch(request, limitBytes)) throw bodyTooLarge();
  const neededBytes = Math.min(bytesToReserve(request, limitBytes), budget.maxBytes);
  const sent =
    neededBytes === 0
      ? readSentBytes(request, limitBytes)
      : readWithinBudget(request, limitBytes, neededBytes, budget);
  const coding = limits.compressionEnabled ? request.headers['content-encoding'] : undefined;
  return coding === undefined
    ? sent
    : andThen(sent, (bytes) => decompressBody(bytes, coding, limitBytes));
}

/** Until a listener is added, the body stays with the client. */
async function readWithinBudget(
  request: IncomingMessage,
  limitBytes: number,
  neededBytes: number,
  budget: BodyBudget,
): Promise<Buffer> {
  await budget.reserve(neededBytes);
  try {
    return await readSentBytes(request, limitBytes);
  } finally {
    budget.release(neededBytes);
  }
}

/** The maximum bytes of a body; 0 for a small one. A chunked one may become as large as any. */
function bytesToReserve(request: IncomingMessage, limitBytes: number): number {
  const maxBytes = Math.min(lengthOf(request), limitBytes);
  return maxBytes <= SMALL_BODY_BYTES ? 0 : maxBytes;
}

/** The length of a body as its head tells it, in bytes; infinite for a chunked one. */
function lengthOf({ headers }: IncomingMessage): number {
  if (headers['transfer-encoding'] !== undefined) return Number.POSITIVE_INFINITY;
  return Number(headers['content-length'] ?? 0);
}

/**
 * Collects what is sent. Over the limit it stops collecting and discards the rest. What came together with the head is
 * taken without listeners or a promise: on a small request they are most of what reading costs.
 */
function readSentBytes(request: IncomingMessage, limitBytes: number): MaybePromise<Buffer> {
  const wholeBytes = lengthOf(request);
  const chunks: Buffer[] = [];
  let receivedBytes = 0;
  /** Takes what has come. @returns whether nothing more can change what the body comes to */
  const take = (): boolean => {
    for (let chunk = request.read() as Buffer | null; chunk !== null; chunk = request.read()) {
      receivedBytes += chunk.length;
      if (receivedBytes <= limitBytes) chunks.push(chunk);
      else chunks.length = 0;
    }
    return request.complete || receivedBytes === wholeBytes || receivedBytes > limitBytes;
  };
  const body = (): Buffer => {
    if (receivedBytes > limitBytes) throw bodyTooLarge();
    return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, receivedBytes);
  };
  if (request.destroyed) throw readFailure(closedEarly());
  let isOver = take();
  if (isOver) {
    // Node runs ticks when the parser has given the last bytes, before it gives the end, which nobody waits for.
    if (!request.complete) request.resume();
    return body();
  }
  return new Promise<void>((resolve, reject) => {
    // Listeners end with the request; removing each of them costs more than letting it be called.
    const takeMore = (): void => {
      isOver = take() || isOver;
      if (isOver) resolve();
    };
    const fail = (cause: Error): void => {
      isOver = true;
      reject(readFailure(cause));
    };
    request.on('readable', takeMore);
    request.on('error', (cause) => {
      if (!isOver) fail(cause);
    });
    request.on('close', () => {
      if (!isOver) fail(closedEarly());
    });
  }).then(body);
}

function closedEarly(): Error {
  return new Error('connection closed before the body was complete');
}

function readFailure(cause: Error): ApiError {
  return frameworkError(400, `io: ${cause.message}`, { cause });
}
