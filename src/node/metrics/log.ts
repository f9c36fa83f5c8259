/** The node's log. */
import { type Logger, pino, stdSerializers } from 'pino';
import { type Admission, WORK_KINDS } from '../../api/load/overload.ts';
import { openLogStream } from './log-stream.ts';

/** How often refusals are logged, in milliseconds. */
const OVERLOAD_INTERVAL_MS = 5_000;

/**
 * A logger at a level. An error's cause is logged next to it, not in its message: our messages name the cause where it
 * helps.
 */
export function createLogger(level: string): Logger {
  const serializers = { err: stdSerializers.errWithCause };
  const settings = { level, base: { pid: process.pid }, serializers };
  return pino(settings, openLogStream());
}

/** Logs at intervals how many requests were refused, if any were. @returns a function that stops it */
export function watchOverload(admission: Admission, logger: Logger): () => void {
  const seen = new Map(WORK_KINDS.map((kind) => [kind, admission.refusedCount(kind)]));
  const logRefusals = (): void => {
    const refused: Record<string, number> = {};
    for (const kind of WORK_KINDS) {
      const count = admission.refusedCount(kind);
      const since = count - (seen.get(kind) ?? 0);
      seen.set(kind, count);
      if (since > 0) refused[kind] = since;
    }
    if (Object.keys(refused).length === 0) return;
    const facts = { refused, interval_ms: OVERLOAD_INTERVAL_MS };
    logger.warn(facts, 'overloaded: requests were refused');
  };
  const timer = setInterval(logRefusals, OVERLOAD_INTERVAL_MS).unref();
  return () => {
    clearInterval(timer);
    logRefusals();
  };
}
