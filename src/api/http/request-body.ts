/**
 * Reading request bodies: counted against the limit as sent and as decompressed, chunked or not
 * (docs/spec/http.md §5.1, §10.3; docs/spec/decisions.md D8).
 */
import type { IncomingMessage } from 'node:http';
import { overloadError } from '../load/overload.ts';
import type { ApiSettings } from '../settings.ts';
import { bodyTooLarge, decompressBody } from './compression.ts';
import { frameworkError } from './error-table.ts';

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
 * The whole body of a request, decompressed unless that is switched off.
 * @param budget shared by all requests of a server
 * @throws ApiError 413 `payload too large`, 400 `io: …`, 503 when too many bodies wait
 */
export function readBody(
  request: IncomingMessage,
  limits: { readonly contentLengthLimitBytes: number; readonly compressionEnabled: boolean },
  budget: BodyBudget,
): Promise<Buffer> {
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
    : sent.then((bytes) => decompressBody(bytes, coding, limitBytes));
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
function bytesToReserve({ headers }: IncomingMessage, limitBytes: number): number {
  const declaredBytes =
    headers['transfer-encoding'] === undefined
      ? Number(headers['content-length'] ?? 0)
      : limitBytes;
  return declaredBytes <= SMALL_BODY_BYTES ? 0 : declaredBytes;
}

/**
 * Collects what is sent. Over the limit it stops collecting and discards the rest. What came together with the head is
 * taken without listeners: on a small request they are most of what reading costs.
 */
function readSentBytes(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let receivedBytes = 0;
    // Listeners end with the request; removing each of them costs more than letting it be called.
    let isOver = false;
    const fail = (error: Error): void => {
      isOver = true;
      chunks.length = 0;
      reject(error);
    };
    const onError = (cause: Error): void => {
      if (!isOver) fail(frameworkError(400, `io: ${cause.message}`, { cause }));
    };
    const onClose = (): void => {
      if (!isOver) onError(new Error('connection closed before the body was complete'));
    };
    const take = (): void => {
      for (let chunk = request.read() as Buffer | null; chunk !== null; chunk = request.read()) {
        if (isOver) continue;
        receivedBytes += chunk.length;
        chunks.push(chunk);
        if (receivedBytes > limitBytes) fail(bodyTooLarge());
      }
      if (isOver || !request.complete) return;
      isOver = true;
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, receivedBytes));
    };
    // The parser gives the body after the head has been handled.
    process.nextTick(() => {
      if (request.destroyed) {
        onClose();
        return;
      }
      take();
      if (!request.complete) request.on('readable', take).on('error', onError).on('close', onClose);
    });
  });
}
