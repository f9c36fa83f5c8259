/**
 * Compressing answers and decompressing request bodies, off the event loop and with bounded output
 * (docs/spec/http.md §10.2). There is no size threshold, as in the reference.
 */
import { promisify } from 'node:util';
import {
  brotliCompress,
  brotliDecompress,
  constants,
  deflateRaw,
  gunzip,
  gzip,
  inflateRaw,
} from 'node:zlib';
import { ApiError, frameworkError } from '../error-table.ts';
import type { ContentCoding } from '../negotiation.ts';

/** Brotli's own default (11) takes a second for a large answer; 5 is as fast as gzip and smaller. */
const BROTLI_OPTIONS = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

export const compress: Readonly<
  Record<ContentCoding, (body: Uint8Array | string) => Promise<Buffer>>
> = {
  br: (body) => promisify(brotliCompress)(body, BROTLI_OPTIONS),
  gzip: promisify<Uint8Array | string, Buffer>(gzip),
  deflate: promisify<Uint8Array | string, Buffer>(deflateRaw),
};

type Decompressor = (
  bytes: Uint8Array,
  options: { readonly maxOutputLength: number },
) => Promise<Buffer>;

/** Exact spellings; any other `Content-Encoding` leaves the body as it is. */
const decompressors: ReadonlyMap<string, Decompressor> = new Map<string, Decompressor>([
  ['br', promisify(brotliDecompress)],
  ['gzip', promisify(gunzip)],
  ['deflate', promisify(inflateRaw)],
]);

export function bodyTooLarge(): ApiError {
  return frameworkError(413, 'payload too large');
}

/**
 * Decodes the `Content-Encoding` of a request body. Output stops at the limit, so that a small body cannot expand into
 * a large one. @throws ApiError 413 over the limit, 400 `io: …` for broken data
 */
export async function decompressBody(
  bytes: Buffer,
  contentEncoding: string | undefined,
  limitBytes: number,
): Promise<Buffer> {
  const decompressor = decompressors.get(contentEncoding ?? '');
  if (decompressor === undefined) return bytes;
  try {
    // zlib rejects a maximum of 0, so it gets one byte more than the limit, which is checked below.
    const decoded = await decompressor(bytes, { maxOutputLength: limitBytes + 1 });
    if (decoded.length > limitBytes) throw bodyTooLarge();
    return decoded;
  } catch (error) {
    if (error instanceof ApiError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ERR_BUFFER_TOO_LARGE') throw bodyTooLarge();
    throw frameworkError(400, `io: ${message}`, { cause: error });
  }
}
