/** Sample ledgers: `daybook sample`, the small sample ledger that `serve` creates if there is none, and `--produce`. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Committer, type CommitterOptions } from '../ingest/committer.ts';
import { BcsError } from '../move/bcs/bcs-reader.ts';
import { physicalStateKey, resourceStateKey, stateKeyHash } from '../move/types/state-key.ts';
import { parseStructTag } from '../move/types/type-parser.ts';
import {
  continueSampleInParallel,
  MAX_SAMPLE_TRANSACTIONS,
  readSampleSettings,
  SAMPLE_RESOURCE,
  SampleError,
  sampleChunksInParallel,
} from '../sample/sample.ts';
import type { Chunk } from '../store/chunk.ts';
import type { StoreReader } from '../store/store.ts';
import { openView } from '../store/view.ts';
import type { LedgerWriter } from '../store/writer.ts';
import { NodeError } from './node-error.ts';
import { withNewLedger } from './open-store.ts';

/** How often a producing node commits, at most, in milliseconds. */
const COMMIT_INTERVAL_MS = 250;
/** How often a commit to a full disk is tried again, in milliseconds. */
const FULL_DISK_INTERVAL_MS = 1_000;

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

/** The ledger of `serve` in an empty folder: made in well under two seconds. */
export const SMALL_SAMPLE: SampleRequest = {
  transactions: 5_000,
  accounts: 500,
  seed: 1n,
  keepsTransactions: true,
};

/**
 * Makes a sample ledger in a folder; everything reported is on disk.
 * @param onProgress gets the number of durable transactions
 * @throws NodeError: `ledger_exists`, `data_not_usable`, `bad_input` for settings no sample can have
 */
export async function makeSample(
  dataFolder: string,
  request: SampleRequest,
  onProgress: (transactions: number) => void = () => undefined,
) {
  const startedMs = performance.now();
  try {
    return await withNewLedger(dataFolder, async (writer) => {
      const committer = new Committer(writer, {
        onCommit: ({ head }) => onProgress(Number(head.version) + 1),
      });
      const head = (await committer.pushAll(sampleChunksInParallel(request)))!;
      const seconds = (performance.now() - startedMs) / 1000;
      return { chainId: writer.identity!.chainId, head, seconds };
    });
  } catch (cause) {
    if (!(cause instanceof SampleError)) throw cause;
    throw new NodeError('bad_input', cause.message, { cause, exitCode: 2 });
  }
}

/**
 * Continues a sample ledger at a rate until stopped. Waits while the disk is full; any other failure is logged and ends
 * it.
 * @param transactionsPerSecond 1 or more; whole blocks are committed, so the rate is an average
 * @returns a function that ends it after the pending commits
 * @throws NodeError `bad_setting` when the ledger is not a sample of this generator
 */
export async function startProducing(
  writer: LedgerWriter,
  transactionsPerSecond: number,
  logger: Logger,
): Promise<() => Promise<void>> {
  const settings = await sampleSettingsOf(writer.reader);
  const abort = new AbortController();
  const { signal } = abort;
  const committer = new Committer(writer, waitForSpace(logger, signal));
  const perCommit = Math.round((transactionsPerSecond * COMMIT_INTERVAL_MS) / 1000);
  const chunkTransactions = Math.max(1, perCommit);
  const options = { transactions: MAX_SAMPLE_TRANSACTIONS, chunkTransactions };
  const chunks = continueSampleInParallel(settings, writer.head!, options);
  const produce = () => committer.pushAll(paced(chunks, transactionsPerSecond, signal));
  const done = produce().catch((error: unknown) => {
    if (!signal.aborted) logger.error({ err: error }, 'producing stopped: it failed');
  });
  return async () => {
    abort.abort();
    await done;
  };
}

/** Gives each chunk when it is due. @throws the signal's reason */
async function* paced(
  chunks: AsyncIterable<Chunk>,
  transactionsPerSecond: number,
  signal: AbortSignal,
): AsyncGenerator<Chunk> {
  const startedMs = performance.now();
  let produced = 0;
  for await (const chunk of chunks) {
    const dueMs = startedMs + (produced / transactionsPerSecond) * 1000;
    await sleep(Math.max(0, dueMs - performance.now()), undefined, { signal });
    yield chunk;
    produced += chunk.transactions.length;
  }
}

/** Waits for a full disk; logs the first attempt that fails, and the one that succeeds. */
function waitForSpace(logger: Logger, signal: AbortSignal): CommitterOptions {
  let isFull = false;
  return {
    onCommit: () => {
      if (isFull) logger.info('producing continues: there is space again');
      isFull = false;
    },
    onFullDisk: async (error) => {
      if (!isFull) logger.error({ err: error }, 'producing waits: the disk is full');
      isFull = true;
      await sleep(FULL_DISK_INTERVAL_MS, undefined, { signal });
    },
  };
}

async function sampleSettingsOf(store: StoreReader) {
  const view = await openView(store);
  const tag = parseStructTag(SAMPLE_RESOURCE);
  const key = physicalStateKey(resourceStateKey(tag.address, tag));
  const entry = await view.state(stateKeyHash(key));
  try {
    if (entry?.bytes !== undefined) return readSampleSettings(entry.bytes);
  } catch (cause) {
    if (!(cause instanceof SampleError || cause instanceof BcsError)) throw cause;
    throw new NodeError('bad_setting', `cannot produce: ${cause.message}`, { cause });
  }
  throw new NodeError(
    'bad_setting',
    'cannot produce: the ledger is not a sample ledger of this generator, and only those can ' +
      'be continued',
  );
}
