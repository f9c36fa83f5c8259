/** `daybook follow` and `serve --follow`: following another node into the ledger of a store. */
import type { Logger } from 'pino';
import { ChunkDataError } from '../ingest/chunk-builder.ts';
import { interfaceBase } from '../ingest/feed/feed-client.ts';
import { FeedError } from '../ingest/feed/feed-error.ts';
import {
  type FollowCounters,
  Follower,
  type FollowObserver,
  type FollowOptions,
  newFollowCounters,
} from '../ingest/feed/follower.ts';
import { parseTrustedRoot } from '../ingest/feed/known-history.ts';
import { DEFAULT_PAGE_TRANSACTIONS } from '../ingest/feed/page-source.ts';
import { openVerifier } from '../ingest/feed/verifier.ts';
import { formatWaypoint, WaypointTextError } from '../move/transactions/waypoint.ts';
import type { Head } from '../store/columns/head.ts';
import { LedgerWriter } from '../store/writer.ts';
import { FollowProgress, splitOf } from './follow-progress.ts';
import { readWaypoint } from './init.ts';
import { NodeError } from './node-error.ts';
import { asNodeError, hasStore, openStoreWriter } from './open-store.ts';
import type { ProgressOutput } from './progress.ts';
import { refuseUsedFolder } from './settings/data-folder.ts';

/** How often an upstream that has nothing new is asked, in milliseconds. */
const POLL_INTERVAL_MS = 250;
/** Longest silence of an upstream in the middle of an answer, in milliseconds. */
const SILENCE_TIMEOUT_MS = 15_000;
/** Longest time for a page, in milliseconds. */
const TOTAL_TIMEOUT_MS = 120_000;

/** What to follow, as people write it. */
export interface FollowRequest {
  /** URL of a node, with or without `/v1`. */
  readonly from: string;
  /** The last version wanted; absent: on and on. */
  readonly until?: bigint | undefined;
  /** `VERSION:ROOT` each. */
  readonly trust?: readonly string[] | undefined;
  /** The genesis waypoint's text, or a file that holds it. */
  readonly waypoint?: string | undefined;
  /** Of a ledger that begins here: whether it keeps whole transactions, to feed others; true when absent. */
  readonly keepsTransactions?: boolean | undefined;
  /** Transactions asked for at once. */
  readonly pageTransactions?: number | undefined;
}

/** What following came to. */
export interface FollowReport {
  readonly head: Head | undefined;
  readonly chainId: number | undefined;
  readonly counters: FollowCounters;
  readonly seconds: number;
}

/** Following under way, in a node that does other things too. */
export interface Following {
  readonly counters: FollowCounters;
  /** Newest version of the upstream, as last heard. */
  upstreamVersion(): bigint | undefined;
  /** False once it has ended, whatever ended it. */
  isRunning(): boolean;
  /** Resolves when the store holds a ledger: at once, or when genesis has come. Never rejects. */
  readonly started: Promise<void>;
  /** Resolves when it has ended, by `stop`, at `until`, or by a failure, which is in the log. Never rejects. */
  readonly ended: Promise<void>;
  /** Ends it; what was handed to the writer is on disk when it resolves. */
  stop(): Promise<void>;
}

/**
 * Follows into a folder until `until` is on disk or the signal is aborted.
 * @param terminal where the line of progress goes; absent: log lines
 * @throws NodeError: `bad_input`, `data_not_usable`, `follow_stopped`
 */
export async function followIntoFolder(
  dataFolder: string,
  request: FollowRequest,
  logger: Logger,
  terminal: ProgressOutput | undefined,
  signal: AbortSignal,
): Promise<FollowReport> {
  const options = followOptions(request);
  if (!hasStore(dataFolder)) refuseUsedFolder(dataFolder);
  const store = await openStoreWriter(dataFolder);
  try {
    const writer = await LedgerWriter.open(store);
    return await follow(writer, options, { logger, terminal, signal });
  } catch (error) {
    throw asFollowError(error);
  } finally {
    await store.close();
  }
}

/**
 * Follows into the store of a writer, beside whatever reads it and whatever else uses that writer. A failure is logged
 * and ends the following.
 * @throws NodeError `bad_input`
 */
export function startFollowing(
  writer: LedgerWriter,
  request: FollowRequest,
  logger: Logger,
): Following {
  const options = followOptions(request);
  const abort = new AbortController();
  const counters = newFollowCounters();
  let upstreamVersion: bigint | undefined;
  let sayStarted: () => void = () => undefined;
  const started = new Promise<void>((resolve) => {
    sayStarted = resolve;
  });
  const context = {
    logger,
    terminal: undefined,
    signal: abort.signal,
    counters,
    onLedger: () => sayStarted(),
    onUpstream: (version: bigint | undefined) => {
      upstreamVersion = version;
    },
  };
  let isRunning = true;
  const ended = follow(writer, options, context)
    .then(
      ({ head }) => logger.info({ version: String(head?.version) }, 'following ended'),
      (error: unknown) =>
        logger.error({ err: asFollowError(error) }, 'following stopped: the ledger stays as it is'),
    )
    .finally(() => {
      isRunning = false;
    });
  const stop = async (): Promise<void> => {
    abort.abort();
    await ended;
  };
  return {
    counters,
    upstreamVersion: () => upstreamVersion,
    isRunning: () => isRunning,
    ...{ started, ended, stop },
  };
}

interface FollowContext {
  readonly logger: Logger;
  readonly terminal: ProgressOutput | undefined;
  readonly signal: AbortSignal;
  readonly counters?: FollowCounters;
  readonly onLedger?: () => void;
  readonly onUpstream?: (version: bigint | undefined) => void;
}

async function follow(
  writer: LedgerWriter,
  options: FollowOptions,
  context: FollowContext,
): Promise<FollowReport> {
  const { logger, terminal, signal, counters = newFollowCounters() } = context;
  const startedMs = performance.now();
  const verifier = openVerifier();
  const progress = new FollowProgress(counters, options.until, logger, terminal);
  const observer = observerOf(writer, options, progress, context);
  logger.info(
    { from: options.upstream.href, version: writer.head && String(writer.head.version) },
    'following',
  );
  try {
    const follower = new Follower(writer, verifier, options, observer, counters);
    const head = await follower.run(signal);
    const seconds = (performance.now() - startedMs) / 1000;
    const rate = Math.round(counters.transactions / seconds);
    logger.info(
      { transactions_per_second: rate, ...splitOf(counters, newFollowCounters()) },
      'followed',
    );
    return { head, chainId: writer.identity?.chainId, counters, seconds };
  } finally {
    progress.clear();
    await verifier.close();
  }
}

function observerOf(
  writer: LedgerWriter,
  options: FollowOptions,
  progress: FollowProgress,
  { logger, onLedger, onUpstream }: FollowContext,
): FollowObserver {
  let hadLedger = false;
  return {
    progress: (head, upstreamVersion) => {
      if (head !== undefined && !hadLedger) {
        hadLedger = true;
        logGenesis(writer, options, logger);
        onLedger?.();
      }
      onUpstream?.(upstreamVersion);
      progress.update({ version: head?.version, upstreamVersion });
    },
    trouble: (error, delayMs) => {
      progress.clear();
      const facts = { err: error, retry_in_ms: Math.round(delayMs) };
      logger.warn(facts, 'following goes on after a fault');
    },
    incomparable: ({ version }) => {
      logger.warn(
        { version: String(version) },
        'a trusted root was not compared: its version has passed and its transaction is not kept',
      );
    },
  };
}

function logGenesis({ identity }: LedgerWriter, { waypoint }: FollowOptions, logger: Logger): void {
  if (identity === undefined) return;
  const found = formatWaypoint({ version: 0n, hash: identity.genesisWaypointHash });
  const compared = waypoint !== undefined;
  logger.info(
    { chain_id: identity.chainId, waypoint: found, waypoint_compared: compared },
    compared
      ? 'the ledger begins as its waypoint says'
      : 'the genesis waypoint was not compared with anything: give --waypoint to check it',
  );
}

/** @throws NodeError `bad_input`, with exit code 2 for texts that are not what they should be */
function followOptions(request: FollowRequest): FollowOptions {
  const { until, trust = [], keepsTransactions = true } = request;
  return {
    upstream: wellFormed('--from', () => interfaceBase(request.from)),
    until,
    trustedRoots: trust.map((text) => wellFormed('--trust', () => parseTrustedRoot(text))),
    waypoint: request.waypoint === undefined ? undefined : readWaypoint(request.waypoint),
    keepsTransactions,
    pageTransactions: request.pageTransactions ?? DEFAULT_PAGE_TRANSACTIONS,
    pollIntervalMs: POLL_INTERVAL_MS,
    timeouts: { silenceTimeoutMs: SILENCE_TIMEOUT_MS, totalTimeoutMs: TOTAL_TIMEOUT_MS },
  };
}

function wellFormed<T>(flag: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof FeedError || cause instanceof WaypointTextError)) throw cause;
    throw new NodeError('bad_input', `${flag}: ${cause.message}`, { cause, exitCode: 2 });
  }
}

function asFollowError(cause: unknown): unknown {
  if (!(cause instanceof FeedError || cause instanceof ChunkDataError)) return asNodeError(cause);
  const message = `cannot follow: ${cause.message}; what was committed before stays as it is`;
  return new NodeError('follow_stopped', message, { cause });
}
