/**
 * Reading request bodies: counted against the limit as sent and as decompressed, chunked or not
 * (docs/spec/http.md §5.1, §10.3; docs/spec/decisions.md D8).
 */
import type { IncomingMessage } from 'node:http';
import type { ApiSettings } from '../settings.ts';
import { bodyTooLarge, decompressBody } from './compression.ts';
import { FrameworkError } from './error-table.ts';
import { overloadError } from './overload.ts';

/** Bodies up to this size, in bytes, never wait: what slow clients hold back must not stop ordinary requests. */
export const SMALL_BODY_BYTES = 64 * 1024;

/** The bounds on bodies being received; 0 for none. */
export type ReceivingSettings = Pick<ApiSettings, 'maxReceivingBytes' | 'maxWaitingBodies'>;

/**
 * Room for bodies being received over all connections of a process, given out in the order of asking; more wait on
 * their connections. A thousand clients that send 8 MiB each and stop before the end would otherwise take 8 GiB.
 */
export class ReceivingRoom {
  /** Bytes received at once, at most. */
  readonly maxBytes: number;
  readonly #maxWaiting: number;
  readonly #waiting: { readonly neededBytes: number; readonly enter: () => void }[] = [];
  #freeBytes: number;

  constructor({ maxReceivingBytes, maxWaitingBodies }: ReceivingSettings) {
    this.maxBytes = maxReceivingBytes === 0 ? Number.POSITIVE_INFINITY : maxReceivingBytes;
    this.#maxWaiting = maxWaitingBodies === 0 ? Number.POSITIVE_INFINITY : maxWaitingBodies;
    this.#freeBytes = this.maxBytes;
  }

  /** How many bodies wait. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Resolves when there is room; the caller gives the same number of bytes back with `leave`.
   * @throws ApiError 503 when too many wait already
   */
  async enter(neededBytes: number): Promise<void> {
    if (this.#waiting.length >= this.#maxWaiting) throw overloadError('body');
    await new Promise<void>((resolve) => {
      this.#waiting.push({ neededBytes, enter: resolve });
      this.#admit();
    });
  }

  /** Gives room back. */
  leave(bytes: number): void {
    this.#freeBytes += bytes;
    this.#admit();
  }

  #admit(): void {
    for (;;) {
      const [first] = this.#waiting;
      if (first === undefined || first.neededBytes > this.#freeBytes) return;
      this.#waiting.shift();
      this.#freeBytes -= first.neededBytes;
      first.enter();
    }
  }
}

/** Whether the `Content-Length` of a request already exceeds the limit. */
export function declaresTooMuch(request: IncomingMessage, limitBytes: number): boolean {
  return Number(request.headers['content-length'] ?? 0) > limitBytes;
}

/**
 * The whole body of a request, decompressed unless that is switched off.
 * @param room shared by all requests of a server
 * @throws FrameworkError 413 `payload too large`, 400 `io: …`; ApiError 503 when too many bodies wait
 */
export async function readBody(
  request: IncomingMessage,
  limits: { readonly contentLengthLimitBytes: number; readonly compressionEnabled: boolean },
  room: ReceivingRoom,
): Promise<Buffer> {
  const limitBytes = limits.contentLengthLimitBytes;
  if (declaresTooMuch(request, limitBytes)) throw bodyTooLarge();
  const neededBytes = Math.min(roomFor(request, limitBytes), room.maxBytes);
  // Until somebody listens, the rest stays with the client.
  if (neededBytes > 0) await room.enter(neededBytes);
  let sent: Buffer;
  try {
    sent = await readSentBytes(request, limitBytes);
  } finally {
    room.leave(neededBytes);
  }
  const coding = limits.compressionEnabled ? request.headers['content-encoding'] : undefined;
  return coding === undefined ? sent : decompressBody(sent, coding, limitBytes);
}

/** What a body may come to take; nothing for a small one. A chunked one may become as large as any. */
function roomFor({ headers }: IncomingMessage, limitBytes: number): number {
  const declaredBytes =
    headers['transfer-encoding'] === undefined
      ? Number(headers['content-length'] ?? 0)
      : limitBytes;
  return declaredBytes <= SMALL_BODY_BYTES ? 0 : declaredBytes;
}

/** Collects what is sent. Over the limit it stops keeping, and lets the rest flow away unread. */
function readSentBytes(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let receivedBytes = 0;
    // Listeners go with the request; taking each of them away costs more than letting it be called.
    let isOver = false;
    const fail = (error: Error) => {
      isOver = true;
      reject(error);
    };
    const onError = (cause: Error) => {
      if (!isOver) fail(new FrameworkError(400, `io: ${cause.message}`, { cause }));
    };
    const onClose = () => {
      if (!isOver) onError(new Error('connection closed before the body was complete'));
    };
    if (request.destroyed) {
      onClose();
      return;
    }
    request.on('data', (chunk: Buffer) => {
      if (isOver) return;
      receivedBytes += chunk.length;
      if (receivedBytes <= limitBytes) {
        chunks.push(chunk);
        return;
      }
      chunks.length = 0;
      fail(bodyTooLarge());
    });
    request.on('end', () => {
      if (isOver) return;
      isOver = true;
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, receivedBytes));
    });
    request.on('error', onError).on('close', onClose);
  });
}
