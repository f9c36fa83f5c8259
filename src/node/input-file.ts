/** Reading a file that somebody names on the command line. */
import { closeSync, openSync, readSync } from 'node:fs';
import { NodeError } from './node-error.ts';

const CHUNK_BYTES = 256 * 1024;

/**
 * All bytes of a file; a pipe will do, and a device without an end does no harm.
 * @param what names the file in messages, e.g. `genesis file`
 * @throws NodeError `file_not_readable`, also for more than `maxBytes`
 */
export function readInputFile(path: string, what: string, maxBytes: number): Buffer {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (cause) {
    throw notReadable(path, what, cause);
  }
  try {
    return readAll(file, path, what, maxBytes);
  } finally {
    closeSync(file);
  }
}

function readAll(file: number, path: string, what: string, maxBytes: number): Buffer {
  const chunks: Buffer[] = [];
  let totalBytes = 0;
  for (;;) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    let byteLength: number;
    try {
      byteLength = readSync(file, chunk);
    } catch (cause) {
      throw notReadable(path, what, cause);
    }
    if (byteLength === 0) return Buffer.concat(chunks, totalBytes);
    totalBytes += byteLength;
    if (totalBytes > maxBytes) {
      throw new NodeError(
        'file_not_readable',
        `${what} ${path} has more than ${maxBytes} bytes, which is no ${what}`,
      );
    }
    chunks.push(chunk.subarray(0, byteLength));
  }
}

function notReadable(path: string, what: string, cause: unknown): NodeError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new NodeError('file_not_readable', `cannot read ${what} ${path}: ${reason}`, { cause });
}
