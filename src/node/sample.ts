/** `daybook sample`, and the small sample ledger that `serve` makes where there is none. */
import { ingestChunks } from '../ingest/ingest-chunks.ts';
import { SampleError, sampleChunksInParallel } from '../ingest/sample/sample.ts';
import { openLmdbStore } from '../store/lmdb-store.ts';
import { StoreError } from '../store/store-error.ts';
import { LedgerWriter } from '../store/writer.ts';
import { refuseUsedFolder } from './data-folder.ts';
import { NodeError } from './node-error.ts';

/** What a sample ledger is made from. */
export interface SampleRequest {
  /** Fewest transactions; the last block is completed. */
  readonly transactions: number;
  /** Ordinary accounts that the ledger grows to. */
  readonly accounts: number;
  /** u64. */
  readonly seed: bigint;
  /** Whether whole transactions are kept, so that the ledger can feed another. */
  readonly keepsTransactions: boolean;
}

/** The ledger of `serve` in an empty folder: made in well under two seconds. */
export const SMALL_SAMPLE: SampleRequest = {
  transactions: 5_000,
  accounts: 500,
  seed: 1n,
  keepsTransactions: true,
};

/** What was made. */
export interface SampleReport {
  readonly chainId: number;
  readonly version: bigint;
  readonly blockHeight: bigint;
  readonly epoch: bigint;
  readonly seconds: number;
}

/**
 * Makes a sample ledger in a folder; everything reported is on disk.
 * @param onProgress gets the number of durable transactions
 * @throws NodeError: `ledger_exists`, `data_not_usable`, `bad_input` for settings no sample can have
 */
export async function makeSample(
  dataFolder: string,
  request: SampleRequest,
  onProgress: (transactions: number) => void = () => undefined,
): Promise<SampleReport> {
  refuseUsedFolder(dataFolder);
  const startedMs = performance.now();
  try {
    const store = await openLmdbStore({ directory: dataFolder });
    try {
      const writer = await LedgerWriter.open(store);
      if (writer.head !== undefined) {
        throw new NodeError('ledger_exists', `${dataFolder} holds a ledger already`);
      }
      const head = await ingestChunks(writer, sampleChunksInParallel(request), (progress) =>
        onProgress(progress.transactions),
      );
      return {
        chainId: writer.identity!.chainId,
        version: head!.version,
        blockHeight: head!.blockHeight,
        epoch: head!.epoch,
        seconds: (performance.now() - startedMs) / 1000,
      };
    } finally {
      await store.close();
    }
  } catch (cause) {
    if (cause instanceof SampleError)
      throw new NodeError('bad_input', cause.message, { cause, exitCode: 2 });
    if (cause instanceof StoreError)
      throw new NodeError('data_not_usable', cause.message, { cause });
    throw cause;
  }
}
