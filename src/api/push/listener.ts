/**
 * One client of an event stream, and the text that it gets (HTML Standard §9.2). Frames are written to the socket
 * itself: `response.write` splits each into four pieces and takes three times as long, which is most of the work for
 * ten thousand listeners.
 */
import type { ServerResponse } from 'node:http';
import { copiedBytes } from '../../cache.ts';
import { ApiError, errorBody } from '../error-table.ts';
import type { PushedRecord, RecordBatch } from './sources.ts';

/** Bytes that may be queued for a client that does not read, in addition to the system's buffers. */
export const MAX_UNREAD_BYTES = 64 * 1024;

/**
 * Why a stream ended: the client closed it; the client did not read in time; pruning overtook it; the node could not
 * continue reading; the node stopped.
 */
export const END_REASONS = ['closed', 'slow', 'pruned', 'failed', 'shutdown'] as const;
type EndReason = (typeof END_REASONS)[number];

/** The event streams of a process, for metrics. */
export class ListenerTally {
  /** Streams that are open or being opened. */
  open = 0;
  /** Records sent, counted for each listener. */
  sent = 0;
  readonly ended: Record<EndReason, number> = {
    ...{ closed: 0, slow: 0, pruned: 0, failed: 0, shutdown: 0 },
  };
}

const LINE_END = Buffer.from('\r\n');
const END = '\n\n';

export class Frame {
  /** A chunk of HTTP/1.1 (RFC 9112 §7.1). */
  readonly chunk: Buffer;
  /** The same without the chunk's size, for HTTP/1.0. */
  readonly plain: Buffer;

  constructor(pieces: readonly (string | Uint8Array)[]) {
    const bytes = pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece));
    const length = bytes.reduce((sum, piece) => sum + piece.length, 0);
    const size = Buffer.from(`${length.toString(16)}\r\n`);
    this.chunk = copiedBytes(Buffer.concat([size, ...bytes, LINE_END]));
    this.plain = this.chunk.subarray(size.length, size.length + length);
  }
}

/** A comment, which clients ignore: it shows that the connection is alive. */
export const HEARTBEAT = new Frame([':\n\n']);

export interface RenderedBatch extends RecordBatch {
  readonly frame: Frame;
}

export function rendered(batch: RecordBatch): RenderedBatch {
  const { records } = batch;
  return { ...batch, frame: records.length === 0 ? HEARTBEAT : recordsFrame(records) };
}

/** @param records at least one */
export function recordsFrame(records: readonly PushedRecord[]): Frame {
  return new Frame(records.flatMap(({ id, json }) => [`id: ${id}\ndata: `, json, END]));
}

/** Tells the client after how long to reconnect. @param comment for people */
export function retryFrame(retryMs: number, comment?: string): Frame {
  const line = comment === undefined ? '' : `: ${comment}\n`;
  return new Frame([`${line}retry: ${retryMs}${END}`]);
}

/** An event `error` with the usual body. It has no id, so a client resumes after the last event that had one. */
export function errorFrame(error: ApiError): Frame {
  return new Frame([`event: error\ndata: ${errorBody(error)}${END}`]);
}

const TOO_SLOW = errorFrame(
  new ApiError(503, 'internal_error', 'The stream ended: events were not read in time'),
);

export class Listener {
  /** The client has received every requested record below this position. */
  next: bigint;
  /** When something was last sent, in the time of `performance.now()`. */
  sentMs = performance.now();
  readonly #from: bigint;
  readonly #response: ServerResponse;
  readonly #tally: ListenerTally;
  #hasEnded = false;

  /** @param response its head was sent */
  constructor(response: ServerResponse, from: bigint, tally: ListenerTally) {
    this.#response = response;
    this.#from = from;
    this.next = from;
    this.#tally = tally;
    response.once('timeout', (socket) => {
      this.#recordEnd('slow');
      socket.destroy();
    });
    response.once('close', () => this.#recordEnd('closed'));
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  get unreadBytes(): number {
    return this.#response.socket?.writableLength ?? 0;
  }

  /**
   * Sends the records of a batch that the client does not have. Ends the stream of a client with too much unread.
   * @param maxUnreadBytes ignored for a client that has read everything, which can take a batch of any size
   */
  sendNew(batch: RenderedBatch, maxUnreadBytes: number): void {
    const { records } = batch;
    const { next } = this;
    if (batch.next > next) this.next = batch.next;
    const isNew = ({ position }: PushedRecord) => position >= next && position >= this.#from;
    const last = records[records.length - 1];
    if (this.hasEnded || last === undefined || !isNew(last)) return;
    const fresh = isNew(records[0]!) ? records : records.filter(isNew);
    const frame = fresh === records ? batch.frame : recordsFrame(fresh);
    const unread = this.unreadBytes;
    if (unread > 0 && unread + this.#bytesOf(frame).length > maxUnreadBytes) {
      this.end('slow', TOO_SLOW);
      return;
    }
    this.#tally.sent += fresh.length;
    this.send(frame);
  }

  send(frame: Frame): void {
    const { socket } = this.#response;
    if (this.hasEnded || socket === null || socket.destroyed) return;
    this.sentMs = performance.now();
    socket.write(this.#bytesOf(frame));
  }

  /** Resolves when the client has taken everything so far, or is gone. */
  async drained(): Promise<void> {
    const { socket } = this.#response;
    if (socket === null || socket.destroyed || socket.writableLength === 0) return;
    await new Promise((resolve) => socket.write('', resolve));
  }

  /** @param last the last frame that the client gets */
  end(reason: EndReason, last: Frame): void {
    if (this.hasEnded) return;
    this.send(last);
    this.#recordEnd(reason);
    this.#response.end();
  }

  #bytesOf({ chunk, plain }: Frame): Buffer {
    return this.#response.chunkedEncoding ? chunk : plain;
  }

  #recordEnd(reason: EndReason): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#tally.ended[reason] += 1;
  }
}
