/** Reading a file that somebody names on the command line. */
import { closeSync, openSync, readSync } from 'node:fs';
import { NodeError } from '../node-error.ts';

/**
 * Room to begin with, in bytes: a size that a file declares is not believed, nor has every file
 * one.
 */
const FIRST_BYTES = 64 * 1024;

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
  let buffer: Buffer = Buffer.allocUnsafe(Math.min(FIRST_BYTES, maxBytes + 1));
  let filledBytes = 0;
  for (;;) {
    let readBytes: number;
    try {
      readBytes = readSync(file, buffer, filledBytes, buffer.length - filledBytes, null);
    } catch (cause) {
      throw notReadable(path, what, cause);
    }
    if (readBytes === 0) return buffer.subarray(0, filledBytes);
    filledBytes += readBytes;
    if (filledBytes > maxBytes) {
      throw new NodeError(
        'file_not_readable',
        `${what} ${path} has more than ${maxBytes} bytes, which is no ${what}`,
      );
    }
    if (filledBytes === buffer.length) buffer = enlarged(buffer, maxBytes + 1);
  }
}

/** A copy with twice the room, which at the end is one byte more than may be filled. */
function enlarged(full: Buffer, mostBytes: number): Buffer {
  const larger = Buffer.allocUnsafe(Math.min(full.length * 2, mostBytes));
  full.copy(larger);
  return larger;
}

function notReadable(path: string, what: string, cause: unknown): NodeError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new NodeError('file_not_readable', `cannot read ${what} ${path}: ${reason}`, { cause });
}
