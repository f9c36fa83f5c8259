/** `daybook sample`, and the small sample ledger that `serve` makes where there is none. */
import { Committer } from '../ingest/committer.ts';
import { SampleError, sampleChunksInParallel } from '../sample/sample.ts';
import { NodeError } from './node-error.ts';
import { withNewLedger } from './open-store.ts';

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
  const startedMs = performance.now();
  try {
    return await withNewLedger(dataFolder, async (writer) => {
      const committer = new Committer(writer, {
        onCommit: ({ head }) => onProgress(Number(head.version) + 1),
      });
      const head = await committer.pushAll(sampleChunksInParallel(request));
      return {
        chainId: writer.identity!.chainId,
        version: head!.version,
        blockHeight: head!.blockHeight,
        epoch: head!.epoch,
        seconds: (performance.now() - startedMs) / 1000,
      };
    });
  } catch (cause) {
    if (!(cause instanceof SampleError)) throw cause;
    throw new NodeError('bad_input', cause.message, { cause, exitCode: 2 });
  }
}
