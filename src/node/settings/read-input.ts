/** Reading what a command is given on its standard input. */
import type { Readable } from 'node:stream';
import { NodeError } from '../node-error.ts';

/** 8 MiB: most bytes read, as many as a request over HTTP may have. */
export const MAX_INPUT_BYTES = 8 * 1024 * 1024;

/**
 * All bytes of a stream. Nothing is kept of one that is too long.
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
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new NodeError('file_not_readable', `cannot read standard input: ${reason}`, { cause });
  }
  if (receivedBytes <= MAX_INPUT_BYTES) return Buffer.concat(chunks, receivedBytes);
  throw new NodeError(
    'bad_input',
    `standard input has more than ${MAX_INPUT_BYTES} bytes; give a single request or message`,
  );
}
