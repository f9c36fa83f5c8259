/**
 * Rows as bytes. The parser of `pg` decodes each field of a row as UTF-8, which destroys binary results, and text
 * results carry bytes as hex. So messages with rows are taken out of the stream here, and `pg` parses all others.
 * Protocol: https://www.postgresql.org/docs/current/protocol-message-formats.html, DataRow.
 */
import { EventEmitter } from 'node:events';
import type { Connection } from 'pg';

/** A field of a row; `null` for SQL's null. */
export type Field = Buffer | null;

/** One byte says what a message is, four its length, which includes themselves. */
const HEADER_BYTES = 5;
const LENGTH_BYTES = 4;
const DATA_ROW = 0x44;

/** What this needs of a connection of `pg`, in its pinned version. */
interface MessageSource extends EventEmitter {
  attachListeners(stream: EventEmitter): void;
}

/** Makes a connection that is not open yet give fields as buffers of their own. */
export function readRowsAsBytes(connection: Connection): void {
  const source = connection as unknown as MessageSource;
  const attachListeners = source.attachListeners.bind(source);
  source.attachListeners = (stream) => {
    const others = new EventEmitter();
    attachListeners(others);
    const splitter = new MessageSplitter(
      (bytes) => others.emit('data', bytes),
      (row, isOwned) => source.emit('dataRow', { fields: fieldsOf(row, isOwned) }),
    );
    stream.on('data', (chunk: Buffer) => splitter.push(chunk));
    stream.on('end', () => others.emit('end'));
  };
}

/** Splits what arrives into rows and the rest, in its order. */
export class MessageSplitter {
  readonly #onOthers: (bytes: Buffer) => void;
  readonly #onRow: (row: Buffer, isOwned: boolean) => void;
  /** The beginning of a header that is not complete. */
  #header: Buffer = Buffer.alloc(0);
  /** The row that is being received, without its header. */
  #row: Buffer | undefined;
  #rowBytes = 0;
  /** Bytes to come of another message. */
  #otherBytes = 0;

  /** @param onRow gets each row without its header, and whether nothing else shares its memory */
  constructor(onOthers: (bytes: Buffer) => void, onRow: (row: Buffer, isOwned: boolean) => void) {
    this.#onOthers = onOthers;
    this.#onRow = onRow;
  }

  push(arrived: Buffer): void {
    let chunk = arrived;
    if (this.#header.length > 0) {
      chunk = Buffer.concat([this.#header, arrived]);
      this.#header = Buffer.alloc(0);
    }
    let at = this.#finishRow(chunk);
    /** Where bytes of other messages begin that have not been passed on. */
    let othersFrom = at;
    const skipped = Math.min(this.#otherBytes, chunk.length - at);
    this.#otherBytes -= skipped;
    at += skipped;
    while (at + HEADER_BYTES <= chunk.length) {
      const length = chunk.readInt32BE(at + 1) - LENGTH_BYTES;
      const body = at + HEADER_BYTES;
      if (chunk[at] !== DATA_ROW) {
        at = Math.min(body + length, chunk.length);
        this.#otherBytes = body + length - at;
        continue;
      }
      if (at > othersFrom) this.#onOthers(chunk.subarray(othersFrom, at));
      at = Math.min(body + length, chunk.length);
      othersFrom = at;
      if (at === body + length) this.#onRow(chunk.subarray(body, at), false);
      else this.#beginRow(length, chunk.subarray(body, at));
    }
    const isSplitHeader = this.#row === undefined && this.#otherBytes === 0 && at < chunk.length;
    if (isSplitHeader) this.#header = chunk.subarray(at);
    const othersTo = isSplitHeader ? at : chunk.length;
    if (othersTo > othersFrom) this.#onOthers(chunk.subarray(othersFrom, othersTo));
  }

  #beginRow(length: number, beginning: Buffer): void {
    this.#row = Buffer.allocUnsafe(length);
    beginning.copy(this.#row);
    this.#rowBytes = beginning.length;
  }

  /** @returns how many bytes of the chunk belong to the row that was being received */
  #finishRow(chunk: Buffer): number {
    const row = this.#row;
    if (row === undefined) return 0;
    const copied = chunk.copy(row, this.#rowBytes);
    this.#rowBytes += copied;
    if (this.#rowBytes === row.length) {
      this.#row = undefined;
      this.#onRow(row, true);
    }
    return copied;
  }
}

/** The fields of a row; copied, unless they may share its memory. */
function fieldsOf(row: Buffer, isOwned: boolean): Field[] {
  const count = row.readInt16BE(0);
  const fields = new Array<Field>(count);
  let at = 2;
  for (let index = 0; index < count; index += 1) {
    const length = row.readInt32BE(at);
    at += LENGTH_BYTES;
    if (length < 0) {
      fields[index] = null;
      continue;
    }
    const field = row.subarray(at, at + length);
    fields[index] = isOwned ? field : Buffer.from(field);
    at += length;
  }
  return fields;
}
