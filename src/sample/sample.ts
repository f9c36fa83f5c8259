/**
 * The sample ledger as chunks for the store: the whole of it from genesis, or more of one that exists.
 *
 * A ledger is made of whole blocks, so it may be up to a block larger than requested. The history does not
 * depend on the requested size: a longer ledger begins with the shorter one. To continue after a store's head, the
 * model is brought there by replaying the history from its seed without encoding, hashing or signing; the settings are
 * in the ledger itself (SAMPLE_RESOURCE).
 */
import { ChunkBuilder } from '../ingest/chunk-builder.ts';
import { readGenesis } from '../ingest/genesis/genesis.ts';
import { chunkOfGenesis, computeGenesisHashes } from '../ingest/genesis/genesis-waypoint.ts';
import { writtenValue } from '../move/transactions/write-set.ts';
import { stateKeyHash } from '../move/types/state-key.ts';
import { stateValueHash } from '../move/types/state-value.ts';
import type { Chunk } from '../store/chunk.ts';
import type { StoreReader } from '../store/store.ts';
import { makeDraftsInParallel } from './history/draft-thread.ts';
import { type DraftRequest, type DraftStep, makeDrafts } from './history/drafts.ts';
import { LedgerRecorder } from './history/recorder.ts';
import type { BlockPosition } from './history/sample-ledger.ts';
import { StateTree, stateTreeAt } from './history/state-tree.ts';
import { checkCount, checkSettings, type SampleHistory } from './settings.ts';

export { CLOCK_RESOURCE, type ClockChange, readClock, readClockChange } from './model/clock.ts';
export { CAFE_HEX as SAMPLE_PUBLISHER } from './model/publishers.ts';
export {
  readSampleSettings,
  SAMPLE_RESOURCE,
  SampleError,
  type SampleHistory,
} from './settings.ts';

/** Transactions from which a chunk is handed out: at the end of the block that reaches them. */
const DEFAULT_CHUNK_TRANSACTIONS = 1_000;
/** Leaves space for the block that completes a chunk below the store's own limit. */
export const MAX_SAMPLE_CHUNK_TRANSACTIONS = 50_000;
export const MAX_SAMPLE_TRANSACTIONS = 1_000_000_000;

interface ChunkOptions {
  /** Fewest transactions; the last block is completed. From the beginning, genesis counts. */
  readonly transactions: number;
  /** Whether whole transactions are stored for the feed; true when absent. */
  readonly keepsTransactions?: boolean | undefined;
  /** Fewest transactions in a chunk, DEFAULT_CHUNK_TRANSACTIONS when absent. */
  readonly chunkTransactions?: number | undefined;
}

interface ContinueOptions extends ChunkOptions {
  /** Where the ledger is: its state at the head is read. */
  readonly store: StoreReader;
  /** Versions per second by which new blocks follow the wall clock; absent: the sample's own clock goes on. */
  readonly wallRate?: number | undefined;
}

export interface SampleOptions extends ChunkOptions {
  /** u64. */
  readonly seed: bigint | number;
  /** Ordinary accounts that the ledger grows to. */
  readonly accounts: number;
}

/** The head of a store that holds a sample ledger. */
interface SampleHead extends BlockPosition {
  readonly frozenRoots: readonly Buffer[];
}

/** A sample ledger from genesis on: genesis as one chunk, then chunks of whole blocks. @throws SampleError */
export function* sampleChunks(options: SampleOptions): Generator<Chunk, void, undefined> {
  const toChunk = chunkMaker(options);
  for (const step of makeDrafts(wholeRequest(options))) yield toChunk(step);
}

/** The same chunks, made in a second thread while the first ones are committed. @throws SampleError */
export async function* sampleChunksInParallel(
  options: SampleOptions,
): AsyncGenerator<Chunk, void, undefined> {
  const toChunk = chunkMaker(options);
  for await (const step of makeDraftsInParallel(wholeRequest(options))) yield toChunk(step);
}

/**
 * More of a sample ledger, after its head. Its history is replayed first, at about 100,000 transactions per second, in
 * a second thread, so that a server stays responsive.
 * @throws SampleError `not_this_sample` when this history does not lead to this head.
 */
export async function* continueSampleInParallel(
  history: SampleHistory,
  head: SampleHead,
  options: ContinueOptions,
): AsyncGenerator<Chunk, void, undefined> {
  const { version, blockHeight, timestampUsecs } = head;
  const toChunk = chunkMaker(options, head, await stateTreeAt(options.store, version));
  const steps = makeDraftsInParallel({
    settings: { ...history, ...checkSettings(history.seed, history.accounts) },
    after: { version, blockHeight, timestampUsecs },
    end: version + 1n + transactionCount(options),
    stepTransactions: chunkSize(options),
    wallRate: options.wallRate ?? 0,
  });
  for await (const step of steps) yield toChunk(step);
}

/** Hashes the steps of a history into chunks. */
function chunkMaker(
  { keepsTransactions = true }: ChunkOptions,
  head?: SampleHead,
  state = new StateTree(),
): (step: DraftStep) => Chunk {
  const recordAfter = (version: bigint, frozenRoots: readonly Buffer[]): LedgerRecorder =>
    new LedgerRecorder(version + 1n, frozenRoots, state, keepsTransactions);
  let recorder: LedgerRecorder | undefined;
  return (step) => {
    if (step.kind === 'genesis') {
      const genesis = readGenesis(step.bytes);
      const hashes = computeGenesisHashes(genesis);
      for (const { physicalKey, op } of genesis.writes()) {
        const value = writtenValue(op);
        state.set(stateKeyHash(physicalKey), value && stateValueHash(value));
      }
      recorder = recordAfter(0n, [hashes.infoHash]);
      return chunkOfGenesis(genesis, hashes, keepsTransactions);
    }
    // Not before the first step: only then is the head known to be one of this history.
    recorder ??= recordAfter(head!.version, head!.frozenRoots);
    const builder = new ChunkBuilder(recorder.nextVersion);
    for (const outcome of step.outcomes) builder.add(recorder.record(outcome));
    return builder.finish(recorder.frozenRoots);
  };
}

function wholeRequest(options: SampleOptions): DraftRequest {
  return {
    settings: checkSettings(options.seed, options.accounts),
    after: undefined,
    end: transactionCount(options),
    stepTransactions: chunkSize(options),
    wallRate: 0,
  };
}

function transactionCount({ transactions }: ChunkOptions): bigint {
  return BigInt(checkCount('transactions', transactions, MAX_SAMPLE_TRANSACTIONS));
}

function chunkSize({ chunkTransactions = DEFAULT_CHUNK_TRANSACTIONS }: ChunkOptions): number {
  return checkCount('chunkTransactions', chunkTransactions, MAX_SAMPLE_CHUNK_TRANSACTIONS);
}
