/** `daybook follow` and `serve --follow`: follows another node into the ledger of a store. */
import type { Logger } from 'pino';
import { ChunkDataError } from '../ingest/chunk-builder.ts';
import {
  FollowCounters,
  Follower,
  type FollowObserver,
  type FollowOptions,
} from '../ingest/feed/follower.ts';
import { parseTrustedRoots, TrustTextError } from '../ingest/feed/known-history.ts';
import { DEFAULT_PAGE_TRANSACTIONS } from '../ingest/feed/page-source.ts';
import { openVerifier } from '../ingest/feed/verifier.ts';
import { formatWaypoint, WaypointTextError } from '../move/transactions/waypoint.ts';
import { interfaceBase } from '../remote/node-url.ts';
import { RemoteError } from '../remote/remote-error.ts';
import type { Head } from '../store/columns/head.ts';
import type { Standby } from '../store/standby.ts';
import type { Store } from '../store/store.ts';
import { isWritingLost } from '../store/store-error.ts';
import type { Chunk } from '../store/write/chunk.ts';
import type { LedgerWriter } from '../store/write/writer.ts';
import { ExecutionDifference, FollowedExecution } from '../verify/execution/followed-execution.ts';
import { readWaypoint } from './init.ts';
import { NodeError } from './node-error.ts';
import { asNodeError, assertUnusedLocation, openStoreWriter, withWriter } from './open-store.ts';
import { durationText, grouped, LINE_INTERVAL_MS, type ProgressLine } from './progress.ts';
import { PendingFailure } from './shutdown.ts';

/** Shortest time over which a rate is measured, in milliseconds: commits arrive in chunks. */
const RATE_INTERVAL_MS = 1_000;
/** How often an upstream that has nothing new is polled, in milliseconds. */
const POLL_INTERVAL_MS = 250;

const STANDBYS_AWAY = {
  remedy:
    'start a standby and look at pg_stat_replication; synchronous_standby_names says how many confirm a commit ' +
    '(docs/scale-out.md)',
};

const ARENAS = { remedy: 'start bin/daybook itself, without node: it sets this variable to 1' };

/** The upstream and options, from the command line or settings. */
export interface FollowRequest {
  /** URL of a node, with or without `/v1`. */
  readonly from: string;
  readonly until?: bigint | undefined;
  readonly trust?: readonly string[] | undefined;
  /** The genesis waypoint's text, or a file that contains it. */
  readonly waypoint?: string | undefined;
  /** Whether a new ledger stores whole transactions, so that other nodes can replicate it; true when absent. */
  readonly keepsTransactions?: boolean | undefined;
  readonly pageTransactions?: number | undefined;
  /** Whether to wait for the right to write while another process has it. */
  readonly standby?: boolean | undefined;
  readonly execute?: boolean | undefined;
}

export interface FollowReport {
  readonly head: Head | undefined;
  readonly chainId: number | undefined;
  readonly counters: FollowCounters;
}

export interface Following {
  readonly counters: FollowCounters;
  readonly now: {
    readonly upstreamVersion: bigint | undefined;
    /** False once it has ended, for whatever reason. */
    readonly isRunning: boolean;
    readonly failure: unknown;
  };
  /** Resolves when the store holds a ledger: at once, or once genesis arrives. Never rejects. */
  readonly started: Promise<void>;
  /** Resolves when it has ended, by `stop`, at `until`, or by a failure, which is in the log. Never rejects. */
  readonly ended: Promise<void>;
  /** Rejects when the ledger cannot be written any more by this process. Never resolves. */
  readonly lost: Promise<never>;
  /** Stops it; when it resolves, everything passed to the writer is on disk. */
  stop(): Promise<void>;
}

/**
 * Follows into a folder until `until` is on disk or the signal is aborted.
 * @param line shows progress; absent: the log does
 * @throws NodeError: `bad_input`, `data_not_usable`, `follow_stopped`
 */
export async function followIntoFolder(
  data: string,
  request: FollowRequest,
  logger: Logger,
  line: ProgressLine | undefined,
  signal: AbortSignal,
): Promise<FollowReport> {
  const options = followOptions(request);
  await assertUnusedLocation(data);
  const counters = new FollowCounters();
  const context = { logger, line, signal };
  try {
    return await withWriter(
      data,
      async (writer) => {
        const check = checkOf(writer, request);
        const head = await follow(writer, options, counters, { ...context, check });
        return { head, chainId: writer.identity?.chainId, counters };
      },
      (location) => openStandbyWriter(location, request.standby === true, logger, signal),
    );
  } catch (error) {
    throw asFollowError(error);
  }
}

/** Opens a store for writing. @param isStandby whether to wait while another process writes it */
export function openStandbyWriter(
  data: string,
  isStandby: boolean,
  logger: Logger,
  signal?: AbortSignal,
): Promise<Store> {
  if (process.platform === 'linux' && process.env['MALLOC_ARENA_MAX'] === undefined) {
    logger.info(ARENAS, 'memory grows while this process writes: MALLOC_ARENA_MAX is not set');
  }
  const standby: Standby = {
    onWait: ({ message: reason }) => {
      logger.info({ reason }, 'standing by: another process writes the ledger');
    },
    signal,
  };
  const onCommitsWait = (isWaiting: boolean): void => {
    if (isWaiting) logger.warn(STANDBYS_AWAY, 'commits wait: no standby server confirms them');
    else logger.info('commits go on: a standby server confirms them');
  };
  return openStoreWriter(data, { standby: isStandby ? standby : undefined, onCommitsWait });
}

/**
 * Follows into the store of a writer, while others read it and use that writer too. A failure is logged and ends it.
 * @throws NodeError `bad_input`
 */
export function startFollowing(
  writer: LedgerWriter,
  request: FollowRequest,
  logger: Logger,
): Following {
  const options = followOptions(request);
  const abort = new AbortController();
  const counters = new FollowCounters();
  let hasLedger: () => void;
  const started = new Promise<void>((resolve) => {
    hasLedger = resolve;
  });
  // A node whose upstream is unreachable serves what it has.
  if (writer.head !== undefined) hasLedger!();
  const now = {
    isRunning: true,
    upstreamVersion: undefined as bigint | undefined,
    failure: undefined as unknown,
  };
  const onProgress = (head: Head | undefined, upstreamVersion: bigint | undefined): void => {
    if (head !== undefined) hasLedger();
    now.upstreamVersion = upstreamVersion;
  };
  const check = checkOf(writer, request);
  const context = { logger, signal: abort.signal, onProgress, check };
  const loss = new PendingFailure();
  const ended = follow(writer, options, counters, context)
    .then((head) => logger.info({ version: String(head?.version) }, 'following ended'))
    .catch((cause: unknown) => {
      now.failure = asFollowError(cause);
      logger.error({ err: now.failure }, 'following stopped: the ledger stays as it is');
      if (isWritingLost(cause)) loss.fail(now.failure);
    })
    .finally(() => {
      now.isRunning = false;
    });
  const stop = async (): Promise<void> => {
    abort.abort();
    await ended;
  };
  return { counters, now, started, ended, lost: loss.promise, stop };
}

interface FollowContext {
  readonly logger: Logger;
  readonly line?: ProgressLine | undefined;
  readonly signal: AbortSignal;
  readonly onProgress?: FollowObserver['progress'];
  readonly check?: FollowedExecution | undefined;
}

/** @throws NodeError `bad_setting` for a ledger without transactions, which could not be executed later */
function checkOf(writer: LedgerWriter, request: FollowRequest): FollowedExecution | undefined {
  if (request.execute !== true) return undefined;
  const keeps = writer.identity?.keepsTransactions ?? request.keepsTransactions ?? true;
  if (keeps) return new FollowedExecution(writer);
  const message =
    'a ledger that does not store transactions cannot be executed: leave out --execute';
  throw new NodeError('bad_setting', message, { exitCode: 2 });
}

async function follow(
  writer: LedgerWriter,
  options: FollowOptions,
  counters: FollowCounters,
  { logger, line, signal, onProgress, check }: FollowContext,
): Promise<Head | undefined> {
  const startedMs = performance.now();
  const verifier = openVerifier();
  const progress = showFollowProgress(counters, options.until, logger, line);
  let hadLedger = false;
  const observer: FollowObserver = {
    progress: (head, upstreamVersion) => {
      if (head !== undefined && !hadLedger) {
        hadLedger = true;
        logGenesis(writer, options, logger);
      }
      if (head !== undefined) check?.markStored(head);
      onProgress?.(head, upstreamVersion);
      progress.update(head?.version, upstreamVersion);
    },
    retrying: (error, delayMs) => {
      progress.clear();
      const facts = { err: error, retry_in_ms: Math.round(delayMs) };
      logger.warn(facts, 'following continues after a fault');
    },
    incomparable: ({ version }) => {
      logger.warn(
        { version: String(version) },
        'a trusted root was not compared: its version has passed and its transaction is not stored',
      );
    },
  };
  logger.info(
    { from: options.upstream.href, version: writer.head && String(writer.head.version) },
    'following',
  );
  try {
    const checked = { ...options, check: check && ((chunk: Chunk) => check.check(chunk)) };
    const head = await new Follower(writer, verifier, checked, observer, counters).run(signal);
    const seconds = (performance.now() - startedMs) / 1000;
    const rate = Math.round(counters.transactions / seconds);
    const split = splitOf(counters, new FollowCounters());
    logger.info({ transactions_per_second: rate, ...split }, 'followed');
    return head;
  } finally {
    progress.clear();
    await verifier.close();
  }
}

function logGenesis({ identity }: LedgerWriter, { waypoint }: FollowOptions, logger: Logger): void {
  if (identity === undefined) return;
  const found = formatWaypoint({ version: 0n, hash: identity.genesisWaypointHash });
  const compared = waypoint !== undefined;
  logger.info(
    { chain_id: identity.chainId, waypoint: found, waypoint_compared: compared },
    compared
      ? 'the ledger begins with the genesis of its waypoint'
      : 'the genesis waypoint was not compared with anything: give --waypoint to check it',
  );
}

/** @throws NodeError `bad_input`, with exit code 2 for malformed texts */
function followOptions(request: FollowRequest): FollowOptions {
  const { until, trust = [], keepsTransactions = true } = request;
  return {
    upstream: wellFormed('--from', () => interfaceBase(request.from)),
    until,
    trustedRoots: wellFormed('--trust', () => parseTrustedRoots(trust)),
    waypoint: request.waypoint === undefined ? undefined : readWaypoint(request.waypoint),
    keepsTransactions,
    pageTransactions: request.pageTransactions ?? DEFAULT_PAGE_TRANSACTIONS,
    pollIntervalMs: POLL_INTERVAL_MS,
  };
}

/** @throws NodeError `bad_input` */
export function wellFormed<T>(flag: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    const isText = cause instanceof WaypointTextError || cause instanceof TrustTextError;
    if (!(isText || cause instanceof RemoteError)) throw cause;
    throw new NodeError('bad_input', `${flag}: ${cause.message}`, { cause, exitCode: 2 });
  }
}

function asFollowError(cause: unknown): unknown {
  const isRefused =
    cause instanceof RemoteError ||
    cause instanceof ChunkDataError ||
    cause instanceof ExecutionDifference;
  if (!isRefused) return asNodeError(cause);
  const message = `cannot follow: ${cause.message}; what was committed before stays as it is`;
  return new NodeError('follow_stopped', message, { cause });
}

/**
 * Shows how following proceeds: one line on a terminal, log lines every few seconds otherwise.
 * @param line absent: progress goes to the log
 */
function showFollowProgress(
  counters: FollowCounters,
  until: bigint | undefined,
  logger: Logger,
  line: ProgressLine | undefined,
) {
  let measuredMs = performance.now();
  let measured = { ...counters };
  let rate = 0;
  let split = splitOf(counters, measured);
  /** Recent transactions per second, and how many versions and seconds are left. */
  const measure = (version: bigint | undefined, upstreamVersion: bigint | undefined) => {
    const nowMs = performance.now();
    const passedMs = nowMs - measuredMs;
    if (passedMs >= RATE_INTERVAL_MS) {
      rate = ((counters.transactions - measured.transactions) * 1000) / passedMs;
      split = splitOf(counters, measured);
      measuredMs = nowMs;
      measured = { ...counters };
    }
    const end = until ?? upstreamVersion;
    const ahead = end === undefined ? undefined : end - (version ?? -1n);
    const left = ahead !== undefined && ahead < 0n ? 0n : ahead;
    const leftSecs = left === undefined || rate === 0 ? undefined : Number(left) / rate;
    return { rate, left, leftSecs, passedMs, split };
  };
  return {
    /** Shows the newest durable version if the interval has passed; it is absent before genesis. */
    update: (version: bigint | undefined, upstreamVersion: bigint | undefined): void => {
      if (line !== undefined) {
        line.show(() => {
          const { rate, left, leftSecs } = measure(version, upstreamVersion);
          const at = version === undefined ? 'before genesis' : `version ${grouped(version)}`;
          const rest =
            leftSecs === undefined ? '' : `, ${grouped(left!)} left, ${durationText(leftSecs)}`;
          return `${at}, ${grouped(Math.round(rate))}/s${rest}`;
        });
      } else if (performance.now() - measuredMs >= LINE_INTERVAL_MS) {
        const { rate, left, leftSecs, passedMs, split } = measure(version, upstreamVersion);
        // Nothing new and nothing left: no lines while the upstream does not grow.
        if (rate === 0 && left === 0n) return;
        const facts = {
          version: version === undefined ? null : String(version),
          upstream_version: upstreamVersion === undefined ? null : String(upstreamVersion),
          transactions_per_second: Math.round(rate),
          remaining_seconds: leftSecs === undefined ? null : Math.round(leftSecs),
          interval_ms: Math.round(passedMs),
        };
        logger.info({ ...facts, ...split }, 'following');
      }
    },
    clear: (): void => line?.clear(),
  };
}

function splitOf(now: FollowCounters, before: FollowCounters): Record<string, number> {
  const spent = (name: keyof FollowCounters): number => Math.round(now[name] - before[name]);
  return {
    network_ms: spent('networkMs'),
    decode_ms: spent('decodeMs'),
    hash_ms: spent('hashMs'),
    build_ms: spent('buildMs'),
    commit_ms: spent('commitMs'),
    page_bytes: spent('pageBytes'),
    faults: spent('faults'),
  };
}
