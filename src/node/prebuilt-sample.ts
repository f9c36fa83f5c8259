/**
 * Sample ledgers that the package brings, so that the first node of an installed package need not generate one. They
 * are made when the package is packed (scripts/prebuild-sample.mjs); a checkout has none.
 *
 * A file is the SHA-256 of its rest, then the data file of the ledger, compressed with Brotli.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';
import { GENERATOR_VERSION } from '../sample/settings.ts';
import { STORE_FORMAT_VERSION } from '../store/columns/columns.ts';
import { NodeError, reasonOf } from './node-error.ts';

export interface SampleRequest {
  /** Fewest transactions; the last block is completed. */
  readonly transactions: number;
  /** Ordinary accounts that the ledger grows to. */
  readonly accounts: number;
  /** u64. */
  readonly seed: bigint;
  /** Whether whole transactions are stored, so that the ledger can feed another. */
  readonly keepsTransactions: boolean;
}

/** Only the built program has it: sources may have changed since. */
const FOLDER = new URL('../samples/', import.meta.url);
const DIGEST_BYTES = 32;
/** 2.4 MB for the small sample; higher qualities take three times as long and save 0.1 MB. */
const COMPRESSION = {
  [constants.BROTLI_PARAM_QUALITY]: 7,
  [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
};

/** The same name means the same contents. */
export function sampleName({ transactions, accounts, seed, keepsTransactions }: SampleRequest) {
  return ['daybook-sample', STORE_FORMAT_VERSION, GENERATOR_VERSION, seed, transactions, accounts]
    .concat(keepsTransactions ? 'feed' : 'lean')
    .join('-');
}

function fileOf(request: SampleRequest): URL {
  return new URL(`${sampleName(request)}.br`, FOLDER);
}

function digestOf(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}

/** The data file of a sample; `undefined` if the package does not bring it. @throws NodeError `damaged` */
export async function readPrebuiltSample(request: SampleRequest): Promise<Buffer | undefined> {
  const file = fileOf(request);
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw damagedError(file, reasonOf(cause), { cause });
  }
  const compressed = bytes.subarray(DIGEST_BYTES);
  if (!digestOf(compressed).equals(bytes.subarray(0, DIGEST_BYTES))) {
    throw damagedError(file, 'it does not have its digest');
  }
  return await promisify(brotliDecompress)(compressed);
}

/** Makes a data file one that the package brings. */
export async function writePrebuiltSample(request: SampleRequest, data: Buffer): Promise<void> {
  const compressed = await promisify(brotliCompress)(data, { params: COMPRESSION });
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(fileOf(request), Buffer.concat([digestOf(compressed), compressed]));
}

function damagedError(file: URL, problem: string, options?: ErrorOptions): NodeError {
  const path = fileURLToPath(file);
  const message = `the sample ledger ${path} is damaged (${problem}): install daybook again`;
  return new NodeError('damaged', message, options);
}
