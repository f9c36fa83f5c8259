/**
 * The sample ledger as chunks for the store: the whole of it from genesis, or more of one that is there.
 *
 * A ledger is made of whole blocks, so it may end up to a block after the number asked for. The history does not
 * depend on how much of it is asked for: a longer ledger begins with the shorter one. To go on after a store's head,
 * the model is brought there by replaying the history from its seed without encoding, hashing or signing; the
 * settings stand in the ledger itself (SAMPLE_RESOURCE at 0xcafe).
 */

import { ChunkBuilder } from '../ingest/chunk-builder.ts';
import { readGenesis } from '../ingest/genesis/genesis.ts';
import { chunkOfGenesis, proveGenesis } from '../ingest/genesis/genesis-waypoint.ts';
import { decodeBcs } from '../move/bcs/bcs-reader.ts';
import type { Chunk } from '../store/chunk.ts';
import { GENERATOR_VERSION, type SampleSettings } from './framework/genesis-resources.ts';
import {
  type DraftRequest,
  type DraftStep,
  makeDrafts,
  type SampleHead,
} from './history/drafts.ts';
import { makeDraftsInParallel } from './history/parallel.ts';
import { LedgerRecorder } from './history/recorder.ts';
import { SampleError } from './sample-error.ts';

export { SAMPLE_RESOURCE, type SampleSettings } from './framework/genesis-resources.ts';
export type { SampleHead } from './history/drafts.ts';
export { SampleError, type SampleErrorCode } from './sample-error.ts';

/** Transactions from which a chunk is handed out: at the end of the block that reaches them. */
export const DEFAULT_CHUNK_TRANSACTIONS = 1_000;
/** Leaves room for the block that completes a chunk below the store's own limit. */
export const MAX_SAMPLE_CHUNK_TRANSACTIONS = 50_000;
/** Ordinary accounts of a sample ledger. */
export const MAX_SAMPLE_ACCOUNTS = 5_000_000;
export const MAX_SAMPLE_TRANSACTIONS = 1_000_000_000;
export const MAX_SAMPLE_SEED = 0xffff_ffff_ffff_ffffn;

export interface ChunkOptions {
  /** Fewest transactions; the last block is completed. From the beginning, genesis counts. */
  readonly transactions: number;
  /** Whether whole transactions are kept for the feed; true when absent. */
  readonly keepsTransactions?: boolean | undefined;
  /** Fewest transactions in a chunk, DEFAULT_CHUNK_TRANSACTIONS when absent. */
  readonly chunkTransactions?: number | undefined;
}

export interface SampleOptions extends ChunkOptions {
  /** u64. */
  readonly seed: bigint | number;
  /** Ordinary accounts that the ledger grows to. */
  readonly accounts: number;
}

/** A sample ledger from genesis on: genesis as a chunk of its own, then chunks of whole blocks. @throws SampleError */
export function* sampleChunks(options: SampleOptions): Generator<Chunk, void, undefined> {
  const maker = new ChunkMaker(options.keepsTransactions);
  for (const step of makeDrafts(wholeRequest(options))) yield maker.chunk(step);
}

/** The same chunks, made in a second thread while the first ones are committed. @throws SampleError */
export async function* sampleChunksInParallel(
  options: SampleOptions,
): AsyncGenerator<Chunk, void, undefined> {
  const maker = new ChunkMaker(options.keepsTransactions);
  for await (const step of makeDraftsInParallel(wholeRequest(options))) yield maker.chunk(step);
}

/**
 * More of a sample ledger, after its head. Its history is replayed first, at some 100,000 transactions a second.
 * @throws SampleError `not_this_sample` when these settings do not lead to this head.
 */
export function* continueSample(
  settings: SampleSettings,
  head: SampleHead,
  options: ChunkOptions,
): Generator<Chunk, void, undefined> {
  const maker = new ChunkMaker(options.keepsTransactions, head);
  for (const step of makeDrafts(tailRequest(settings, head, options))) yield maker.chunk(step);
}

/** The same chunks, made in a second thread: a server stays responsive while the history is replayed. */
export async function* continueSampleInParallel(
  settings: SampleSettings,
  head: SampleHead,
  options: ChunkOptions,
): AsyncGenerator<Chunk, void, undefined> {
  const maker = new ChunkMaker(options.keepsTransactions, head);
  const request = tailRequest(settings, head, options);
  for await (const step of makeDraftsInParallel(request)) yield maker.chunk(step);
}

/**
 * The settings of a sample ledger from its own resource.
 * @param bytes the value of SAMPLE_RESOURCE at 0xcafe
 * @throws BcsError for other bytes; SampleError `not_this_sample` when another generator made it.
 */
export function readSampleSettings(bytes: Uint8Array): SampleSettings {
  return decodeBcs(bytes, (reader) => {
    const generator = reader.u64();
    const seed = reader.u64();
    const accounts = Number(reader.u64());
    if (generator !== BigInt(GENERATOR_VERSION)) {
      throw new SampleError(
        'not_this_sample',
        `the sample ledger was made by generator ${generator}, this one is ${GENERATOR_VERSION}`,
      );
    }
    return sampleSettings({ seed, accounts });
  });
}

/** Hashes the steps of a history into chunks. */
class ChunkMaker {
  readonly #keepsTransactions: boolean;
  readonly #head: SampleHead | undefined;
  #recorder: LedgerRecorder | undefined;

  constructor(keepsTransactions = true, head?: SampleHead) {
    this.#keepsTransactions = keepsTransactions;
    this.#head = head;
  }

  #recordAfter(version: bigint, frozenRoots: readonly Buffer[]): LedgerRecorder {
    return new LedgerRecorder(version + 1n, frozenRoots, this.#keepsTransactions);
  }

  chunk(step: DraftStep): Chunk {
    if (step.kind === 'genesis') {
      const genesis = readGenesis(step.bytes);
      const proof = proveGenesis(genesis);
      this.#recorder = this.#recordAfter(0n, [proof.infoHash]);
      return chunkOfGenesis(genesis, proof, this.#keepsTransactions);
    }
    // Not before the first step: only then is the head known to be one of this history.
    this.#recorder ??= this.#recordAfter(this.#head!.version, this.#head!.frozenRoots);
    const recorder = this.#recorder;
    const builder = new ChunkBuilder(recorder.nextVersion);
    for (const outcome of step.outcomes) builder.add(recorder.record(outcome));
    return builder.finish(recorder.frozenRoots);
  }
}

function wholeRequest(options: SampleOptions): DraftRequest {
  return {
    settings: sampleSettings(options),
    after: undefined,
    end: BigInt(transactionCount(options)),
    stepTransactions: chunkSize(options),
  };
}

function tailRequest(
  settings: SampleSettings,
  { version, blockHeight, timestampUsecs }: SampleHead,
  options: ChunkOptions,
): DraftRequest {
  return {
    settings: sampleSettings(settings),
    after: { version, blockHeight, timestampUsecs },
    end: version + 1n + BigInt(transactionCount(options)),
    stepTransactions: chunkSize(options),
  };
}

function sampleSettings({
  seed,
  accounts,
}: Pick<SampleOptions, 'seed' | 'accounts'>): SampleSettings {
  const value = typeof seed === 'bigint' || Number.isSafeInteger(seed) ? BigInt(seed) : -1n;
  if (value < 0n || value > MAX_SAMPLE_SEED) {
    throw new SampleError('bad_sample_settings', `the seed is a u64, not ${seed}`);
  }
  return { seed: value, accounts: checkCount('accounts', accounts, MAX_SAMPLE_ACCOUNTS) };
}

function transactionCount({ transactions }: ChunkOptions): number {
  return checkCount('transactions', transactions, MAX_SAMPLE_TRANSACTIONS);
}

function chunkSize({ chunkTransactions = DEFAULT_CHUNK_TRANSACTIONS }: ChunkOptions): number {
  return checkCount('chunkTransactions', chunkTransactions, MAX_SAMPLE_CHUNK_TRANSACTIONS);
}

function checkCount(name: string, value: number, most: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw new SampleError('bad_sample_settings', `${name} is 1 to ${most}, not ${value}`);
}
