/** Input of commands: files named on the command line, and standard input. */
import { closeSync, openSync, readSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { NodeError, reasonOf } from '../node-error.ts';

/** 8 MiB: most bytes read from standard input, as many as a request over HTTP may have. */
export const MAX_INPUT_BYTES = 8 * 1024 * 1024;

/**
 * All bytes of a file; a pipe works too, and a device without an end does no harm.
 * @param what name of the file in messages, e.g. `genesis file`
 * @throws NodeError `file_not_readable`, also for more than `maxBytes`
 */
export function readInputFile(path: string, what: string, maxBytes: number): Buffer {
  // Space for one byte too many. The system provides memory for what is filled only.
  const buffer = Buffer.allocUnsafe(maxBytes + 1);
  let filledBytes = 0;
  try {
    const file = openSync(path, 'r');
    try {
      for (let readBytes = -1; readBytes !== 0 && filledBytes <= maxBytes; ) {
        readBytes = readSync(file, buffer, { offset: filledBytes });
        filledBytes += readBytes;
      }
    } finally {
      closeSync(file);
    }
  } catch (cause) {
    const message = `cannot read ${what} ${path}: ${reasonOf(cause)}`;
    throw new NodeError('file_not_readable', message, { cause });
  }
  if (filledBytes <= maxBytes) return buffer.subarray(0, filledBytes);
  throw new NodeError(
    'file_not_readable',
    `${what} ${path} has more than ${maxBytes} bytes: too large for a ${what}`,
  );
}

/**
 * All bytes of a stream, or none.
 * @throws NodeError `bad_input` above MAX_INPUT_BYTES, `file_not_readable` when reading fails
 */
export async function readInput(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let receivedBytes = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      receivedBytes += chunk.length;
      if (receivedBytes > MAX_INPUT_BYTES) break;
      chunks.push(chunk);
    }
  } catch (cause) {
    const message = `cannot read standard input: ${reasonOf(cause)}`;
    throw new NodeError('file_not_readable', message, { cause });
  }
  if (receivedBytes <= MAX_INPUT_BYTES) return Buffer.concat(chunks, receivedBytes);
  throw new NodeError(
    'bad_input',
    `standard input has more than ${MAX_INPUT_BYTES} bytes; give a single request or message`,
  );
}
