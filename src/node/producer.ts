/** `--produce N`: a sample ledger that keeps growing, so that things move. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { ChunkTranslator } from '../ingest/translate/chunk-translator.ts';
import { BcsError } from '../move/bcs/bcs-reader.ts';
import { padAddress } from '../move/types/address.ts';
import { physicalStateKey, resourceStateKey, stateKeyHash } from '../move/types/state-key.ts';
import { parseStructTag } from '../move/types/type-parser.ts';
import {
  continueSampleInParallel,
  MAX_SAMPLE_TRANSACTIONS,
  readSampleSettings,
  SAMPLE_RESOURCE,
  SampleError,
} from '../sample/sample.ts';
import type { Chunk } from '../store/chunk.ts';
import type { StoreReader } from '../store/store.ts';
import { StoreFullError } from '../store/store-error.ts';
import { openView } from '../store/view.ts';
import type { AppendResult, LedgerWriter } from '../store/writer.ts';
import { NodeError } from './node-error.ts';

/** How often a producing node commits, at most, in milliseconds. */
const COMMIT_INTERVAL_MS = 250;
/** How often a disk that is full is tried again, in milliseconds. */
const FULL_DISK_INTERVAL_MS = 1_000;
/** Where the sample's settings stand. */
const SAMPLE_ADDRESS = padAddress('cafe');

/** A running producer. */
export interface Producer {
  /** Ends after the commit under way. */
  stop(): Promise<void>;
}

/**
 * Keeps committing to a sample ledger at a rate until stopped; a failure is logged and ends the producing, but for a
 * disk that is full.
 * @param transactionsPerSecond 1 or more; whole blocks are committed, so the rate is an average
 * @throws NodeError `bad_setting` when the store holds another ledger than a sample of this generator
 */
export async function startProducing(
  writer: LedgerWriter,
  transactionsPerSecond: number,
  logger: Logger,
): Promise<Producer> {
  const settings = await sampleSettingsOf(writer.reader);
  const translator = new ChunkTranslator(writer.reader);
  const abort = new AbortController();
  const produce = async (): Promise<void> => {
    const startedMs = performance.now();
    let produced = 0;
    const chunkTransactions = Math.max(
      1,
      Math.round((transactionsPerSecond * COMMIT_INTERVAL_MS) / 1000),
    );
    const options = { transactions: MAX_SAMPLE_TRANSACTIONS, chunkTransactions };
    for await (const chunk of continueSampleInParallel(settings, writer.head!, options)) {
      const dueMs = startedMs + (produced / transactionsPerSecond) * 1000;
      await sleep(Math.max(0, dueMs - performance.now()), undefined, { signal: abort.signal });
      const translated = await translator.translate(chunk);
      const { head } = await appendWithPatience(writer, translated, logger, abort.signal);
      translator.forget(head.version);
      produced += chunk.transactions.length;
      if (abort.signal.aborted) break;
    }
  };
  const done = produce().catch((error: unknown) => {
    if (!abort.signal.aborted) logger.error({ err: error }, 'producing stopped: it failed');
  });
  return {
    stop: async () => {
      abort.abort();
      await done;
    },
  };
}

/** Appends; a disk that is full is waited for, since the same chunk may be handed in again. */
async function appendWithPatience(
  writer: LedgerWriter,
  chunk: Chunk,
  logger: Logger,
  signal: AbortSignal,
): Promise<AppendResult> {
  for (let isFull = false; ; ) {
    try {
      const result = await writer.append(chunk);
      if (isFull) logger.info('producing goes on: there is room again');
      return result;
    } catch (error) {
      if (!(error instanceof StoreFullError)) throw error;
      if (!isFull) logger.error({ err: error }, 'producing waits: the disk is full');
      isFull = true;
      await sleep(FULL_DISK_INTERVAL_MS, undefined, { signal });
    }
  }
}

async function sampleSettingsOf(store: StoreReader) {
  const view = await openView(store);
  const key = physicalStateKey(resourceStateKey(SAMPLE_ADDRESS, parseStructTag(SAMPLE_RESOURCE)));
  const entry = await view.state(stateKeyHash(key));
  try {
    if (entry?.bytes !== undefined) return readSampleSettings(entry.bytes);
  } catch (cause) {
    if (!(cause instanceof SampleError || cause instanceof BcsError)) throw cause;
    throw new NodeError('bad_setting', `cannot produce: ${cause.message}`, { cause });
  }
  throw new NodeError(
    'bad_setting',
    'cannot produce: the ledger is not a sample ledger, and only those can be continued',
  );
}
