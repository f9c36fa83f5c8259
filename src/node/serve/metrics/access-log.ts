/**
 * The access log (docs/spec/http.md §10.5): a line for a request with its origin, target and outcome. Off by default.
 * `sampled` has the rates and levels of the reference; `all` writes each request.
 */
import type { IncomingMessage } from 'node:http';
import { type Level, type Logger, pino } from 'pino';
import type { RequestObserver, RequestOutcome } from '../../../api/http/observers.ts';
import { openLogStream } from '../../log.ts';
import type { NodeSettings } from '../../settings/settings.ts';

/** Lines are written together when they reach this many bytes, */
const WRITE_BYTES = 8 * 1024;
/** or after this time, in milliseconds. */
const WRITE_INTERVAL_MS = 500;
/** Longest text from a client in a line, in characters. */
export const MAX_LOGGED_CHARACTERS = 512;
/** W3C Trace Context: version, trace id, parent id, flags. */
const TRACE_PARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/;
const MILLISECONDS_PER_SECOND = 1_000;
const MILLISECONDS_PER_MINUTE = 60_000;

/** Level and minimum interval of lines by status, the highest first. */
const SAMPLES: readonly { from: number; level: Level; intervalMs: number }[] = [
  { from: 500, level: 'warn', intervalMs: MILLISECONDS_PER_SECOND },
  { from: 400, level: 'info', intervalMs: MILLISECONDS_PER_MINUTE },
  { from: 0, level: 'debug', intervalMs: MILLISECONDS_PER_SECOND },
];

interface AccessLog {
  readonly observe: RequestObserver;
  close(): void;
}

/**
 * The access log of the settings; `undefined` when it is off. Stderr is written in larger pieces: writing each line
 * alone would cost more than the request.
 */
export function openAccessLog({
  accessLog,
  logLevel,
  headerPrefix,
}: NodeSettings): AccessLog | undefined {
  if (accessLog === 'off') return undefined;
  const isAll = accessLog === 'all';
  const stream = openLogStream(WRITE_BYTES);
  const timer = setInterval(() => stream.flushSync(), WRITE_INTERVAL_MS).unref();
  const logger = pino({ level: isAll ? 'info' : logLevel, base: { pid: process.pid } }, stream);
  const clientHeader = `${headerPrefix}-client`.toLowerCase();
  const write = (outcome: RequestOutcome, level: Level): void =>
    logger[level](lineOf(outcome, clientHeader), 'request');
  return {
    observe: isAll
      ? (outcome) => write(outcome, outcome.status >= 500 ? 'warn' : 'info')
      : sampled(logger, write),
    close: () => {
      clearInterval(timer);
      stream.flushSync();
    },
  };
}

/** At most one line per kind of outcome and interval. */
export function sampled(
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
    path: truncated(query === -1 ? target : target.slice(0, query)),
    operation: operationId === '' ? undefined : operationId,
    status,
    referer: truncated(headers.referer),
    user_agent: truncated(headers['user-agent']),
    client: truncated(headers[clientHeader]),
    elapsed_ms: Math.round(elapsedMs * 1_000) / 1_000,
    forwarded: truncated(headers.forwarded),
    content_length: truncated(headers['content-length']),
    ...traceOf(request),
  };
}

/** Ids of the request's trace; generated from the clock if it has none. */
function traceOf({ headers }: IncomingMessage): { trace_id: string; span_id: string } {
  const header = headers['traceparent'];
  const match = typeof header === 'string' ? TRACE_PARENT.exec(header) : null;
  if (match !== null) return { trace_id: match[1]!, span_id: match[2]! };
  const id = process.hrtime.bigint() + BigInt(Math.round(performance.timeOrigin)) * 1_000_000n;
  const span = BigInt.asUintN(64, id).toString(16).padStart(16, '0');
  return { trace_id: span.padStart(32, '0'), span_id: span };
}

function truncated(text: string | readonly string[] | undefined): string | undefined {
  return typeof text === 'string' ? text.slice(0, MAX_LOGGED_CHARACTERS) : undefined;
}
