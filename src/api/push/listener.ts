/**
 * One client of an event stream. Frames are written to the socket itself: `response.write` makes four pieces of each
 * and takes three times as long, which is most of the work for ten thousand listeners.
 */
import type { ServerResponse } from 'node:http';
import { ApiError } from '../http/error-table.ts';
import { errorFrame, type Frame, type RenderedBatch, recordsFrame } from './frames.ts';
import type { EndReason, ListenerTally } from './listener-tally.ts';
import type { PushedRecord } from './record-source.ts';

/** Bytes that may wait for a client that does not read, besides what its connection holds. */
export const MAX_UNREAD_BYTES = 64 * 1024;

const TOO_SLOW = errorFrame(
  new ApiError(503, 'internal_error', 'The stream ended: events were not read in time'),
);

export class Listener {
  /** Everything below this position was sent, or is below the one that was asked for. */
  next: bigint;
  /** When something was sent last, as `performance.now()` gives it. */
  sentMs = performance.now();
  readonly #from: bigint;
  readonly #response: ServerResponse;
  readonly #tally: ListenerTally;
  #end: EndReason | undefined;

  /** @param response whose head was sent */
  constructor(response: ServerResponse, from: bigint, tally: ListenerTally) {
    this.#response = response;
    this.#from = from;
    this.next = from;
    this.#tally = tally;
    // A client that takes nothing for as long as a request may take; nothing is written to one that does not read.
    response.once('timeout', (socket) => {
      this.#note('slow');
      socket.destroy();
    });
    response.once('close', () => this.#note('closed'));
  }

  get isOver(): boolean {
    return this.#end !== undefined;
  }

  /** Bytes that the client has not taken. */
  get unreadBytes(): number {
    return this.#response.socket?.writableLength ?? 0;
  }

  /**
   * Sends the records of a batch that the client does not have. One that has too much to read already is ended.
   * @param maxUnreadBytes of a client that has some; one that has none can take a batch of any size
   */
  take(batch: RenderedBatch, maxUnreadBytes: number): void {
    const { records } = batch;
    const { next } = this;
    if (batch.next > next) this.next = batch.next;
    const isWanted = ({ position }: PushedRecord) => position >= next && position >= this.#from;
    const last = records[records.length - 1];
    if (this.isOver || last === undefined || !isWanted(last)) return;
    const wanted = isWanted(records[0]!) ? records : records.filter(isWanted);
    const frame = wanted === records ? batch.frame : recordsFrame(wanted);
    const unread = this.unreadBytes;
    if (unread > 0 && unread + this.#bytesOf(frame).length > maxUnreadBytes) {
      this.end('slow', TOO_SLOW);
      return;
    }
    this.#tally.sent += wanted.length;
    this.send(frame);
  }

  send(frame: Frame): void {
    const { socket } = this.#response;
    if (this.isOver || socket === null || socket.destroyed) return;
    this.sentMs = performance.now();
    socket.write(this.#bytesOf(frame));
  }

  /** Resolves when the client has taken everything so far, or is gone. */
  async read(): Promise<void> {
    const { socket } = this.#response;
    if (socket === null || socket.destroyed || socket.writableLength === 0) return;
    await new Promise((resolve) => socket.write('', resolve));
  }

  /** Ends the stream. @param last what the client is told */
  end(reason: EndReason, last: Frame): void {
    if (this.isOver) return;
    this.send(last);
    this.#note(reason);
    this.#response.end();
  }

  #bytesOf({ chunk, plain }: Frame): Buffer {
    return this.#response.chunkedEncoding ? chunk : plain;
  }

  #note(reason: EndReason): void {
    if (this.#end !== undefined) return;
    this.#end = reason;
    this.#tally.ended[reason] += 1;
  }
}
