/**
 * The sample ledger as chunks for the store: the whole of it from genesis, or more of one that exists.
 *
 * A ledger is made of whole blocks, so it may be up to a block larger than requested. The history does not
 * depend on the requested size: a longer ledger begins with the shorter one. To continue after a store's head, the
 * model is brought there by replaying the history from its seed without encoding, hashing or signing; the settings are
 * in the ledger itself (SAMPLE_RESOURCE).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LedgerRecorder } from '../chain/recorder.ts';
import { ChunkBuilder } from '../ingest/chunk-builder.ts';
import { readGenesis } from '../ingest/genesis/genesis.ts';
import { chunkOfGenesis, computeGenesisHashes } from '../ingest/genesis/genesis-waypoint.ts';
import { StateTree } from '../move/crypto/state-tree.ts';
import { writtenValue } from '../move/transactions/write-set.ts';
import { stateKeyHash } from '../move/types/state-key.ts';
import { stateValueHash } from '../move/types/state-value.ts';
import { stateTreeAt } from '../store/read/live-state.ts';
import type { StoreReader } from '../store/store.ts';
import type { Chunk } from '../store/write/chunk.ts';
import { type BlockPosition, SampleLedger } from './history/sample-ledger.ts';
import { checkCount, checkSettings, SampleError, type SampleHistory } from './settings.ts';

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
  /** Minimum number of transactions; the last block is completed. A whole ledger counts genesis. */
  readonly transactions: number;
  /** Whether whole transactions are stored for the feed; true when absent. */
  readonly keepsTransactions?: boolean | undefined;
  /** Minimum number of transactions in a chunk; DEFAULT_CHUNK_TRANSACTIONS when absent. */
  readonly chunkTransactions?: number | undefined;
}

interface ContinueOptions extends ChunkOptions {
  /** The store of the ledger; its state at the head is read. */
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
  const { keepsTransactions = true } = options;
  const end = transactionCount(options);
  const size = chunkSize(options);
  const ledger = new SampleLedger(checkSettings(options.seed, options.accounts));
  const genesis = readGenesis(ledger.takeGenesis());
  const hashes = computeGenesisHashes(genesis);
  const state = new StateTree();
  for (const { physicalKey, op } of genesis.writes()) {
    const value = writtenValue(op);
    state.set(stateKeyHash(physicalKey), value && stateValueHash(value));
  }
  yield chunkOfGenesis(genesis, hashes, keepsTransactions);
  const recorder = new LedgerRecorder(1n, [hashes.infoHash], state, keepsTransactions);
  while (ledger.nextVersion < end) {
    const builder = new ChunkBuilder(recorder.nextVersion);
    const full = ledger.nextVersion + size;
    while (ledger.nextVersion < end && ledger.nextVersion < full) {
      addBlock(ledger, recorder, builder);
    }
    yield builder.finish(recorder.frozenRoots);
  }
}

/**
 * More of a sample ledger, after its head. Its history is replayed first, at about 100,000 transactions per second.
 * Other work gets turns, so that a server stays responsive.
 * @throws SampleError `not_this_sample` when this history does not lead to this head.
 */
export async function* continueSample(
  history: SampleHistory,
  head: SampleHead,
  options: ContinueOptions,
): AsyncGenerator<Chunk, void, undefined> {
  const { store, keepsTransactions = true, wallRate = 0 } = options;
  const { version, blockHeight, frozenRoots } = head;
  const end = version + 1n + transactionCount(options);
  const size = chunkSize(options);
  const { seed, accounts } = checkSettings(history.seed, history.accounts);
  const ledger = new SampleLedger({ ...history, seed, accounts }, false);
  if (!(await ledger.replayTo(head))) {
    throw new SampleError(
      'not_this_sample',
      `a sample ledger of seed ${seed} with ${accounts} accounts has no block ` +
        `${blockHeight} that ends at version ${version}: this ledger is another one`,
    );
  }
  const state = await stateTreeAt(store, version);
  const recorder = new LedgerRecorder(version + 1n, frozenRoots, state, keepsTransactions);
  while (ledger.nextVersion < end) {
    const builder = new ChunkBuilder(recorder.nextVersion);
    const full = ledger.nextVersion + size;
    while (ledger.nextVersion < end && ledger.nextVersion < full) {
      const startedMs = performance.now();
      ledger.chooseClock(wallRate);
      addBlock(ledger, recorder, builder);
      // Requests get as much of the thread's time as blocks do.
      await sleep(performance.now() - startedMs);
    }
    yield builder.finish(recorder.frozenRoots);
  }
}

function addBlock(ledger: SampleLedger, recorder: LedgerRecorder, builder: ChunkBuilder): void {
  for (const outcome of ledger.nextBlock()) builder.add(recorder.record(outcome));
}

function transactionCount({ transactions }: ChunkOptions): bigint {
  return BigInt(checkCount('transactions', transactions, MAX_SAMPLE_TRANSACTIONS));
}

function chunkSize({ chunkTransactions = DEFAULT_CHUNK_TRANSACTIONS }: ChunkOptions): bigint {
  return BigInt(checkCount('chunkTransactions', chunkTransactions, MAX_SAMPLE_CHUNK_TRANSACTIONS));
}
