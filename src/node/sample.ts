/** Sample ledgers: `daybook sample`, the small sample ledger of `serve --sample`, and `--produce`. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Committer } from '../ingest/committer.ts';
import { BcsError } from '../move/bcs/bcs-reader.ts';
import { encodeBcs } from '../move/bcs/bcs-writer.ts';
import {
  CLOCK_RESOURCE,
  type ClockChange,
  continueSample,
  MAX_SAMPLE_TRANSACTIONS,
  readClock,
  readClockChange,
  readSampleSettings,
  SAMPLE_PUBLISHER,
  SAMPLE_RESOURCE,
  SampleError,
  type SampleHistory,
  sampleChunks,
} from '../sample/sample.ts';
import { type Head, readHead } from '../store/columns/head.ts';
import { LEDGER_IDENTITY } from '../store/columns/identity-column.ts';
import type { StoreReader } from '../store/store.ts';
import { isWritingLost } from '../store/store-error.ts';
import type { Chunk } from '../store/write/chunk.ts';
import type { LedgerWriter } from '../store/write/writer.ts';
import { waitInTrouble } from './commit-trouble.ts';
import { NodeError } from './node-error.ts';
import { asNodeError, restoreStore, withNewLedger } from './open-store.ts';
import { readPrebuiltSample, type SampleRequest } from './prebuilt-sample.ts';
import { newestState } from './sample-resource.ts';
import { PendingFailure } from './shutdown.ts';

/** How often a producing node commits, at most, in milliseconds. */
const COMMIT_INTERVAL_MS = 250;
/** How far the newest block may be ahead of the wall clock when blocks begin to follow it, in seconds. */
const MAX_AHEAD_SECONDS = 60;

/** The ledger of `serve` in an empty folder. */
export const SMALL_SAMPLE: SampleRequest = {
  transactions: 5_000,
  accounts: 500,
  seed: 1n,
  keepsTransactions: true,
};

/**
 * Makes a sample ledger, of the package or by generating it; everything reported is on disk.
 * @param onProgress gets the number of durable transactions
 * @throws NodeError: `ledger_exists`, `data_not_usable`, `bad_input` for settings no sample can have, `damaged` for a
 *   sample of the package
 */
export async function makeSample(
  data: string,
  request: SampleRequest,
  onProgress: (transactions: number) => void = () => undefined,
) {
  try {
    const prebuilt = await readPrebuiltSample(request);
    const { chainId, head } =
      (prebuilt && (await restoreStore(data, prebuilt, newestFacts))) ??
      (await generate(data, request, onProgress));
    return { chainId, head, publisher: SAMPLE_PUBLISHER };
  } catch (cause) {
    if (!(cause instanceof SampleError)) throw cause;
    throw new NodeError('bad_input', cause.message, { cause, exitCode: 2 });
  }
}

interface SampleFacts {
  readonly chainId: number;
  readonly head: Head;
}

async function newestFacts(store: StoreReader): Promise<SampleFacts> {
  const { chainId } = (await LEDGER_IDENTITY.get(store))!;
  return { chainId, head: (await readHead(store))! };
}

async function generate(
  data: string,
  request: SampleRequest,
  onProgress: (transactions: number) => void,
): Promise<SampleFacts> {
  return await withNewLedger(data, async (writer) => {
    const committer = new Committer(writer, {
      onCommit: ({ head }) => onProgress(Number(head.version) + 1),
    });
    await committer.pushAll(sampleChunks(request));
    return await newestFacts(writer.reader);
  });
}

interface Production {
  /** 1 or more; whole blocks are committed, so the rate is an average. */
  readonly transactionsPerSecond: number;
  readonly clock: 'sample' | 'wall';
}

interface Producing {
  /** Rejects when this process can no longer write the ledger. Never resolves. */
  readonly lost: Promise<never>;
  /** Ends it after the pending commits. */
  stop(): Promise<void>;
}

/**
 * Continues a sample ledger at a rate until stopped. Waits while the disk is full, or the store cannot be reached; any
 * other failure is logged and ends it.
 * @throws NodeError `bad_setting` when the ledger is not a sample of this generator, or ahead of the wall clock
 */
export async function startProducing(
  writer: LedgerWriter,
  { transactionsPerSecond, clock }: Production,
  logger: Logger,
): Promise<Producing> {
  const history = await sampleHistoryOf(writer.reader);
  const isByWall = clock === 'wall';
  if (isByWall) checkNotAhead(writer.head!.timestampUsecs);
  const abort = new AbortController();
  const { signal } = abort;
  const committer = new Committer(writer, waitInTrouble('producing', logger, signal));
  const perCommit = Math.round((transactionsPerSecond * COMMIT_INTERVAL_MS) / 1000);
  const chunkTransactions = Math.max(1, perCommit);
  const wallRate = isByWall ? transactionsPerSecond : undefined;
  const options = {
    ...{ transactions: MAX_SAMPLE_TRANSACTIONS, chunkTransactions, wallRate },
    store: writer.reader,
  };
  const chunks = continueSample(history, writer.head!, options);
  const produce = () =>
    committer.pushAll(
      isByWall ? pacedByBlocks(chunks, signal) : paced(chunks, transactionsPerSecond, signal),
    );
  const loss = new PendingFailure();
  const done = produce().catch((error: unknown) => {
    if (signal.aborted) return;
    logger.error({ err: error }, 'producing stopped: it failed');
    if (isWritingLost(error)) loss.fail(asNodeError(error));
  });
  const stop = async (): Promise<void> => {
    abort.abort();
    await done;
  };
  return { lost: loss.promise, stop };
}

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

async function* pacedByBlocks(
  chunks: AsyncIterable<Chunk>,
  signal: AbortSignal,
): AsyncGenerator<Chunk> {
  for await (const chunk of chunks) {
    const dueMs = Number(chunk.blocks.at(-1)!.timestampUsecs) / 1000;
    await sleep(Math.max(0, dueMs - Date.now()), undefined, { signal });
    yield chunk;
  }
}

/** @throws NodeError `bad_setting` */
function checkNotAhead(newestUsecs: bigint): void {
  const aheadSeconds = Math.round(Number(newestUsecs) / 1_000_000 - Date.now() / 1000);
  if (aheadSeconds <= MAX_AHEAD_SECONDS) return;
  throw new NodeError(
    'bad_setting',
    `cannot produce by the wall clock: the newest block is ${aheadSeconds} seconds ahead of it`,
  );
}

/** Reads from the ledger how it was made. @throws NodeError `bad_setting` */
async function sampleHistoryOf(store: StoreReader): Promise<SampleHistory> {
  const { stateOf, resourceOf } = await newestState(store);
  const settingsBytes = await resourceOf(SAMPLE_RESOURCE);
  if (settingsBytes === undefined) {
    throw new NodeError(
      'bad_setting',
      'cannot produce: the ledger is not a sample ledger of this generator, and only those can ' +
        'be continued',
    );
  }
  try {
    const settings = readSampleSettings(settingsBytes);
    const { handle, changes } = readClock((await resourceOf(CLOCK_RESOURCE))!);
    const clockChanges: ClockChange[] = [];
    for (let index = 0; index < changes; index += 1) {
      const key = encodeBcs((writer) => writer.exactU64(index));
      clockChanges.push(readClockChange((await stateOf({ kind: 'tableItem', handle, key }))!));
    }
    return { ...settings, clockChanges };
  } catch (cause) {
    if (!(cause instanceof SampleError || cause instanceof BcsError)) throw cause;
    throw new NodeError('bad_setting', `cannot produce: ${cause.message}`, { cause });
  }
}
