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
import type { ContentCoding } from './accept-encoding.ts';
import { FrameworkError } from './error-table.ts';

/**
 * Brotli's own default (11) takes a second for a large answer; 5 is as quick as gzip and smaller.
 */
const BROTLI_QUALITY = 5;

const compressors: Readonly<
  Record<ContentCoding, (bytes: Uint8Array | string) => Promise<Buffer>>
> = {
  br: (bytes) =>
    promisify(brotliCompress)(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY },
    }),
  gzip: (bytes) => promisify(gzip)(bytes),
  deflate: (bytes) => promisify(deflateRaw)(bytes),
};

/** The body in a coding. */
export function compress(body: Uint8Array | string, coding: ContentCoding): Promise<Buffer> {
  return compressors[coding](body);
}

/** Compressed forms of one body that is sent again and again. */
export type CompressedForms = Map<ContentCoding, Promise<Buffer>>;

/** The body in a coding, taken from or put among its kept forms. */
export function compressKept(
  body: Uint8Array | string,
  coding: ContentCoding,
  kept: CompressedForms | undefined,
): Promise<Buffer> {
  const compressed = kept?.get(coding) ?? compress(body, coding);
  kept?.set(coding, compressed);
  return compressed;
}

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

/** The body's bytes go over the limit. */
export function bodyTooLarge(): FrameworkError {
  return new FrameworkError(413, 'payload too large');
}

/**
 * A request body freed from its `Content-Encoding`. Output stops at the limit, so that a small body
 * cannot grow into a large one.
 * @throws FrameworkError 413 over the limit, 400 `io: …` for broken data
 */
export async function decompressBody(
  bytes: Buffer,
  contentEncoding: string | undefined,
  limitBytes: number,
): Promise<Buffer> {
  const decompressor = decompressors.get(contentEncoding ?? '');
  if (decompressor === undefined) return bytes;
  try {
    // zlib refuses a maximum of 0; one byte more than allowed is checked below.
    const decoded = await decompressor(bytes, { maxOutputLength: limitBytes + 1 });
    if (decoded.length > limitBytes) throw bodyTooLarge();
    return decoded;
  } catch (error) {
    if (error instanceof FrameworkError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ERR_BUFFER_TOO_LARGE') throw bodyTooLarge();
    throw new FrameworkError(400, `io: ${message}`, { cause: error });
  }
}
