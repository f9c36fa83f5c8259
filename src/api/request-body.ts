/**
 * Reading request bodies: counted against the limit as sent and as decompressed, chunked or not
 * (spec/http.md §5.1, §10.3; design D8).
 */
import type { IncomingMessage } from 'node:http';
import { bodyTooLarge, decompressBody } from './compression.ts';
import { FrameworkError } from './error-table.ts';

/** Whether the `Content-Length` of a request already exceeds the limit. */
export function declaresTooMuch(request: IncomingMessage, limitBytes: number): boolean {
  return Number(request.headers['content-length'] ?? 0) > limitBytes;
}

/**
 * The whole body of a request, decompressed unless that is switched off.
 * @throws FrameworkError 413 `payload too large`, 400 `io: …`
 */
export async function readBody(
  request: IncomingMessage,
  limits: { readonly contentLengthLimitBytes: number; readonly compressionEnabled: boolean },
): Promise<Buffer> {
  const limitBytes = limits.contentLengthLimitBytes;
  if (declaresTooMuch(request, limitBytes)) throw bodyTooLarge();
  const sent = await readSentBytes(request, limitBytes);
  const coding = limits.compressionEnabled ? request.headers['content-encoding'] : undefined;
  return coding === undefined ? sent : decompressBody(sent, coding, limitBytes);
}

/** Collects what is sent. Over the limit it stops keeping, and lets the rest flow away unread. */
function readSentBytes(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let receivedBytes = 0;
    const stop = () => {
      request.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose);
    };
    const onData = (chunk: Buffer) => {
      receivedBytes += chunk.length;
      if (receivedBytes <= limitBytes) {
        chunks.push(chunk);
        return;
      }
      stop();
      request.on('error', ignoreLateError).resume();
      reject(bodyTooLarge());
    };
    const onEnd = () => {
      stop();
      resolve(Buffer.concat(chunks, receivedBytes));
    };
    const onError = (cause: Error) => {
      stop();
      reject(new FrameworkError(400, `io: ${cause.message}`, { cause }));
    };
    const onClose = () => onError(new Error('connection closed before the body was complete'));
    request.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose);
  });
}

/** The request was refused; what becomes of the rest of its body matters to nobody. */
function ignoreLateError(): void {}
