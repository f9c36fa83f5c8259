/**
 * The access log (docs/spec/http.md §10.5): a line for a request with where it came from, what it asked and how it
 * ended.
 * Off by default. `sampled` keeps to the rates and levels of the reference; `all` writes each request.
 */
import type { IncomingMessage } from 'node:http';
import { type DestinationStream, destination, type Level, type Logger, pino } from 'pino';
import type { RequestObserver, RequestOutcome } from '../../api/http/observers.ts';
import type { NodeSettings } from '../settings/settings.ts';

const STDERR = 2;
/** Lines are written together when they come to so many bytes, */
const WRITE_BYTES = 8 * 1024;
/** or have waited so long, in milliseconds. */
const WRITE_INTERVAL_MS = 500;
/** Longest text of a client's that a line holds, in characters. */
export const MAX_LOGGED_CHARACTERS = 512;
/** W3C Trace Context: version, trace id, parent id, flags. */
const TRACE_PARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/;
const MILLISECONDS_PER_SECOND = 1_000;
const MILLISECONDS_PER_MINUTE = 60_000;

/** What becomes of requests by their status, the highest first: their level, and how rarely one is written. */
const SAMPLES: readonly { from: number; level: Level; intervalMs: number }[] = [
  { from: 500, level: 'warn', intervalMs: MILLISECONDS_PER_SECOND },
  { from: 400, level: 'info', intervalMs: MILLISECONDS_PER_MINUTE },
  { from: 0, level: 'debug', intervalMs: MILLISECONDS_PER_SECOND },
];

/** An access log that is written. */
export interface AccessLog {
  readonly observe: RequestObserver;
  /** Writes what is left. */
  close(): void;
}

/**
 * The access log that settings ask for.
 * @param output where lines go; absent: stderr, many at a time
 * @returns `undefined` when it is off
 */
export function openAccessLog(
  { accessLog, logLevel, headerPrefix }: NodeSettings,
  output?: DestinationStream,
): AccessLog | undefined {
  if (accessLog === 'off') return undefined;
  const buffered = output === undefined ? bufferedStderr() : undefined;
  const level = accessLog === 'all' ? 'info' : logLevel;
  const logger = pino({ level, base: { pid: process.pid } }, output ?? buffered!.stream);
  const clientHeader = `${headerPrefix}-client`.toLowerCase();
  const write = (outcome: RequestOutcome, at: Level): void =>
    logger[at](lineOf(outcome, clientHeader), 'request');
  return {
    observe:
      accessLog === 'all'
        ? (outcome) => write(outcome, levelOfAll(outcome))
        : sampled(logger, write),
    close: () => buffered?.close(),
  };
}

function levelOfAll({ status }: RequestOutcome): Level {
  return status >= 500 ? 'warn' : 'info';
}

/** Of each sort of outcome at most one in its interval. */
function sampled(
  logger: Logger,
  write: (outcome: RequestOutcome, level: Level) => void,
): RequestObserver {
  const samples = SAMPLES.filter(({ level }) => logger.isLevelEnabled(level)).map((sample) => ({
    ...sample,
    dueMs: 0,
  }));
  return (outcome) => {
    const sample = samples.find(({ from }) => outcome.status >= from);
    if (sample === undefined) return;
    const nowMs = performance.now();
    if (nowMs < sample.dueMs) return;
    sample.dueMs = nowMs + sample.intervalMs;
    write(outcome, sample.level);
  };
}

function lineOf(
  { request, operationId, status, elapsedMs }: RequestOutcome,
  clientHeader: string,
): Record<string, unknown> {
  const { headers } = request;
  const target = request.url ?? '';
  const query = target.indexOf('?');
  return {
    remote: request.socket.remoteAddress,
    method: request.method,
    path: clipped(query === -1 ? target : target.slice(0, query)),
    operation: operationId === '' ? undefined : operationId,
    status,
    referer: clipped(headers.referer),
    user_agent: clipped(headers['user-agent']),
    client: clipped(headers[clientHeader]),
    elapsed_ms: Math.round(elapsedMs * 1_000) / 1_000,
    forwarded: clipped(headers.forwarded),
    content_length: clipped(headers['content-length']),
    ...traceOf(request),
  };
}

/** Ids of the trace that a request belongs to; made from the clock for one that names none. */
function traceOf({ headers }: IncomingMessage): { trace_id: string; span_id: string } {
  const given = headers['traceparent'];
  const match = typeof given === 'string' ? TRACE_PARENT.exec(given) : null;
  if (match !== null) return { trace_id: match[1]!, span_id: match[2]! };
  const id = process.hrtime.bigint() + BigInt(Math.round(performance.timeOrigin)) * 1_000_000n;
  const span = BigInt.asUintN(64, id).toString(16).padStart(16, '0');
  return { trace_id: span.padStart(32, '0'), span_id: span };
}

function clipped(text: string | readonly string[] | undefined): string | undefined {
  return typeof text === 'string' ? text.slice(0, MAX_LOGGED_CHARACTERS) : undefined;
}

/** Stderr, written in larger pieces: a line of its own for each request would cost more than the request. */
function bufferedStderr(): { readonly stream: DestinationStream; close(): void } {
  const stream = destination({ fd: STDERR, sync: true, minLength: WRITE_BYTES });
  const timer = setInterval(() => stream.flushSync(), WRITE_INTERVAL_MS).unref();
  return {
    stream,
    close: () => {
      clearInterval(timer);
      stream.flushSync();
    },
  };
}
