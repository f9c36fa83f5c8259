/**
 * Sample ledgers in the package, so that the first node of an installed package need not generate one. They
 * are made when the package is packed (scripts/prebuild-sample.mjs); a checkout has none. Each is a packed store.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { builtFile, IS_BUILT } from '../built.ts';
import { GENERATOR_VERSION } from '../sample/settings.ts';
import { STORE_FORMAT_VERSION } from '../store/columns/columns.ts';
import { NodeError, reasonOf } from './node-error.ts';
import { packedStore, unpackedStore } from './packed-store.ts';

export interface SampleRequest {
  /** Minimum number of transactions; the last block is completed. */
  readonly transactions: number;
  /** Ordinary accounts that the ledger grows to. */
  readonly accounts: number;
  /** u64. */
  readonly seed: bigint;
}

const FOLDER = builtFile('samples/');

/** The same name means the same contents. */
export function sampleName({ transactions, accounts, seed }: SampleRequest): string {
  const parts = [STORE_FORMAT_VERSION, GENERATOR_VERSION, seed, transactions, accounts];
  return ['daybook-ledger', ...parts].join('-');
}

function fileOf(request: SampleRequest): URL {
  return new URL(`${sampleName(request)}.br`, FOLDER);
}

/** The data file of a sample; `undefined` if it is not in the package. @throws NodeError `damaged` */
export async function readPrebuiltSample(request: SampleRequest): Promise<Buffer | undefined> {
  // The build may be older than these sources.
  if (!IS_BUILT) return undefined;
  const file = fileOf(request);
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw damagedError(file, reasonOf(cause), { cause });
  }
  const data = await unpackedStore(bytes);
  if (data === undefined) throw damagedError(file, 'it does not have its digest');
  return data;
}

export async function writePrebuiltSample(request: SampleRequest, data: Buffer): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(fileOf(request), await packedStore(data));
}

function damagedError(file: URL, problem: string, options?: ErrorOptions): NodeError {
  const path = fileURLToPath(file);
  const message = `the sample ledger ${path} is damaged (${problem}): install daybook again`;
  return new NodeError('damaged', message, options);
}
