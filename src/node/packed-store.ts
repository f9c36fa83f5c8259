/**
 * The file of a store as one small file: the SHA-256 of what follows (32 bytes), then the file, compressed with Brotli.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';

const DIGEST_BYTES = 32;
/** 2.4 MB for the small sample; higher qualities take three times as long and save 0.1 MB. */
const COMPRESSION = {
  [constants.BROTLI_PARAM_QUALITY]: 7,
  [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
};

export async function packedStore(file: Uint8Array): Promise<Buffer> {
  const compressed = await promisify(brotliCompress)(file, { params: COMPRESSION });
  return Buffer.concat([sha256(compressed), compressed]);
}

/**
 * The file of the store; `undefined` for bytes that do not match their digest.
 * @throws RangeError for a file of more than `maxBytes`
 */
export async function unpackedStore(
  packed: Buffer,
  maxBytes?: number,
): Promise<Buffer | undefined> {
  const compressed = packed.subarray(DIGEST_BYTES);
  if (!sha256(compressed).equals(packed.subarray(0, DIGEST_BYTES))) return undefined;
  return await promisify(brotliDecompress)(compressed, { maxOutputLength: maxBytes });
}

export function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}
