/** The text of server-sent events (HTML Standard §9.2), as it goes out to any number of listeners. */
import { copiedBytes } from '../../cache.ts';
import { type ApiError, errorBody } from '../http/error-table.ts';
import type { PushedRecord, RecordBatch } from './record-source.ts';

/** Bytes for the body of a response, made once for all listeners. */
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

const LINE_END = Buffer.from('\r\n');
const END = '\n\n';

/** A comment, which clients ignore: shows that the connection is alive. */
export const HEARTBEAT = new Frame([':\n\n']);

/** A batch with the events of all its records. */
export interface RenderedBatch extends RecordBatch {
  readonly frame: Frame;
}

/** The events of records, at least one. */
export function recordsFrame(records: readonly PushedRecord[]): Frame {
  return new Frame(records.flatMap(({ id, json }) => [`id: ${id}\ndata: `, json, END]));
}

/** Tells the client after how long it may connect again. @param comment for people */
export function retryFrame(retryMs: number, comment?: string): Frame {
  const line = comment === undefined ? '' : `: ${comment}\n`;
  return new Frame([`${line}retry: ${retryMs}${END}`]);
}

/** An event `error` with the usual body. It has no id: a client resumes after the last event that had one. */
export function errorFrame(error: ApiError): Frame {
  return new Frame([`event: error\ndata: ${errorBody(error)}${END}`]);
}
