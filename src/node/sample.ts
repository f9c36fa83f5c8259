/** Sample ledgers: `daybook sample`, the small sample ledger of `serve --sample`, and `--produce`. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { BcsError } from '../move/bcs/bcs-reader.ts';
import { CAFE_HEX } from '../sample/publishers.ts';
import { MAX_BLOCK_USERS, SampleChain } from '../sample/sample-chain.ts';
import { checkCount, MAX_SAMPLE_TRANSACTIONS, SampleError } from '../sample/settings.ts';
import { type Head, readHead } from '../store/columns/head.ts';
import { LEDGER_IDENTITY } from '../store/columns/identity-column.ts';
import type { StoreReader } from '../store/store.ts';
import { isTransient, isWritingLost, type StoreError } from '../store/store-error.ts';
import type { LedgerWriter } from '../store/write/writer.ts';
import { commitRetryOptions } from './commit-retry.ts';
import { NodeError } from './node-error.ts';
import { asNodeError, restoreStore, withNewLedger } from './open-store.ts';
import { readPrebuiltSample, type SampleRequest } from './prebuilt-sample.ts';
import { PendingFailure } from './shutdown.ts';

/** How often a producing node makes a block, at most, in milliseconds. */
const BLOCK_INTERVAL_MS = 250;
/** The transactions that begin and end a block. */
const SYSTEM_TRANSACTIONS_PER_BLOCK = 2;

/** The ledger of `serve` in an empty folder. */
export const SMALL_SAMPLE: SampleRequest = { transactions: 1_000, accounts: 100, seed: 1n };

/**
 * Creates a sample ledger from the package or by running its transactions; reported ones are on disk.
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
    return { chainId, head, publisher: CAFE_HEX };
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
  { transactions, ...settings }: SampleRequest,
  onProgress: (transactions: number) => void,
): Promise<SampleFacts> {
  checkCount('transactions', transactions, MAX_SAMPLE_TRANSACTIONS);
  return await withNewLedger(data, async (writer) => {
    const chain = await SampleChain.begin(writer, settings, {
      onCommit: ({ head }) => onProgress(Number(head.version) + 1),
    });
    await chain.growTo(transactions);
    return await newestFacts(writer.reader);
  });
}

/** A producer that adds to the sample ledger of a serving node. */
interface Producing {
  /** Rejects when this process can no longer write the ledger. Never resolves. */
  readonly lost: Promise<never>;
  /** Ends it after the block that is being made. */
  stop(): Promise<void>;
}

/**
 * Continues a sample ledger at a rate until stopped: its blocks have the time of the machine. Waits while the disk is
 * full, or the store cannot be reached; any other failure is logged and ends it.
 * @param transactionsPerSecond 1 or more, with those that begin and end a block
 * @throws NodeError `bad_setting` when the ledger is not a sample of this generator
 */
export async function startProducing(
  writer: LedgerWriter,
  transactionsPerSecond: number,
  logger: Logger,
): Promise<Producing> {
  const abort = new AbortController();
  const { signal } = abort;
  const options = commitRetryOptions('producing', logger, signal);
  const chain = await resume(writer, options);
  const next = (error: StoreError) => resumeAfter(error, writer, options);
  const loss = new PendingFailure();
  const done = produce(chain, next, transactionsPerSecond, signal).catch((error: unknown) => {
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

async function resume(...args: Parameters<typeof SampleChain.resume>): Promise<SampleChain> {
  try {
    return await SampleChain.resume(...args);
  } catch (cause) {
    if (!(cause instanceof SampleError || cause instanceof BcsError)) throw cause;
    throw new NodeError('bad_setting', `cannot produce: ${cause.message}`, { cause });
  }
}

/** Continues after the stored head as soon as the store can be reached again. */
async function resumeAfter(
  error: StoreError,
  writer: LedgerWriter,
  options: ReturnType<typeof commitRetryOptions>,
): Promise<SampleChain> {
  for (let outage = error; ; ) {
    await options.onTransientError!(outage);
    try {
      return await SampleChain.resume(writer, options);
    } catch (retryError) {
      if (!isTransient(retryError)) throw retryError;
      outage = retryError as StoreError;
    }
  }
}

/**
 * @param next returns the chain to continue with after the store could not be read
 * @throws the signal's reason
 */
async function produce(
  first: SampleChain,
  next: (error: StoreError) => Promise<SampleChain>,
  rate: number,
  signal: AbortSignal,
): Promise<never> {
  const perBlock = Math.max(
    SYSTEM_TRANSACTIONS_PER_BLOCK + 1,
    Math.round((rate * BLOCK_INTERVAL_MS) / 1000),
  );
  const users = Math.min(perBlock - SYSTEM_TRANSACTIONS_PER_BLOCK, MAX_BLOCK_USERS);
  const startedMs = performance.now();
  const { version: firstVersion } = first;
  for (let chain = first; ; ) {
    signal.throwIfAborted();
    try {
      await chain.addBlock(users, BigInt(Date.now()) * 1000n);
    } catch (error) {
      // The block is lost, and nobody has seen it.
      if (!isTransient(error)) throw error;
      chain = await next(error as StoreError);
    }
    const dueMs = startedMs + (Number(chain.version - firstVersion) / rate) * 1000;
    // Requests get as much of the thread's time as blocks do where the rate is too high.
    await sleep(Math.max(1, dueMs - performance.now()), undefined, { signal });
  }
}
