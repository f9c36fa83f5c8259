/**
 * Large ledgers for benchmarks and tests, as chunks for the store: 100,000 transactions in a few seconds, where
 * `daybook sample` would execute each one. A model of users' applications decides what their transactions change. Every
 * byte and hash is valid, but nothing was executed.
 *
 * A ledger consists of whole blocks, so it may be up to a block larger than requested. The history does not depend on
 * the requested size: a longer ledger begins with the shorter one.
 */
import { LedgerRecorder } from '../../src/chain/recorder.ts';
import { ChunkBuilder } from '../../src/ingest/chunk-builder.ts';
import { readGenesis } from '../../src/ingest/genesis/genesis.ts';
import { chunkOfGenesis, computeGenesisHashes } from '../../src/ingest/genesis/genesis-waypoint.ts';
import { StateTree } from '../../src/move/crypto/state-tree.ts';
import { writtenValue } from '../../src/move/transactions/write-set.ts';
import { stateKeyHash } from '../../src/move/types/state-key.ts';
import { stateValueHash } from '../../src/move/types/state-value.ts';
import { checkCount, checkSettings, MAX_SAMPLE_TRANSACTIONS } from '../../src/sample/settings.ts';
import type { Chunk } from '../../src/store/write/chunk.ts';
import { BulkHistory } from './history.ts';

/** Minimum number of transactions in a chunk; it ends with the block that reaches them. */
const DEFAULT_CHUNK_TRANSACTIONS = 1_000;
/** Leaves room for the block that completes a chunk below the store's own limit. */
export const MAX_BULK_CHUNK_TRANSACTIONS = 50_000;

interface ChunkOptions {
  /** Minimum number of transactions; the last block is completed. A whole ledger counts genesis. */
  readonly transactions: number;
  /** Whether complete transactions are stored for the feed; true when absent. */
  readonly keepsTransactions?: boolean | undefined;
  /** Minimum number of transactions in a chunk; DEFAULT_CHUNK_TRANSACTIONS when absent. */
  readonly chunkTransactions?: number | undefined;
}

export interface BulkOptions extends ChunkOptions {
  /** u64. */
  readonly seed: bigint | number;
  /** Number of ordinary accounts that the ledger grows to. */
  readonly accounts: number;
}

/** A ledger from genesis on: genesis as one chunk, then chunks of whole blocks. @throws SampleError */
export function* bulkChunks(options: BulkOptions): Generator<Chunk, void, undefined> {
  const { keepsTransactions = true } = options;
  const end = transactionCount(options);
  const size = chunkSize(options);
  const { seed, accounts } = options;
  const ledger = new BulkHistory(checkSettings({ seed: BigInt(seed), accounts }));
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

function addBlock(ledger: BulkHistory, recorder: LedgerRecorder, builder: ChunkBuilder): void {
  for (const outcome of ledger.nextBlock()) builder.add(recorder.record(outcome));
}

function transactionCount({ transactions }: ChunkOptions): bigint {
  return BigInt(checkCount('transactions', transactions, MAX_SAMPLE_TRANSACTIONS));
}

function chunkSize({ chunkTransactions = DEFAULT_CHUNK_TRANSACTIONS }: ChunkOptions): bigint {
  return BigInt(checkCount('chunkTransactions', chunkTransactions, MAX_BULK_CHUNK_TRANSACTIONS));
}
