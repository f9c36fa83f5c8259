/** Says in the log that requests are refused: once in a while, not for each. */
import type { Logger } from 'pino';
import { type Admission, WORK_KINDS } from '../../api/http/overload.ts';

/** How often refusals are looked for, in milliseconds. */
const LOOK_INTERVAL_MS = 5_000;

/** Logs how many requests were refused since the last look, when there were any. @returns what ends it */
export function watchOverload(admission: Admission, logger: Logger): () => void {
  const seen = new Map(WORK_KINDS.map((kind) => [kind, admission.refusedCount(kind)]));
  const look = (): void => {
    const refused: Record<string, number> = {};
    for (const kind of WORK_KINDS) {
      const count = admission.refusedCount(kind);
      const since = count - (seen.get(kind) ?? 0);
      seen.set(kind, count);
      if (since > 0) refused[kind] = since;
    }
    if (Object.keys(refused).length === 0) return;
    logger.warn({ refused, interval_ms: LOOK_INTERVAL_MS }, 'overloaded: requests were refused');
  };
  const timer = setInterval(look, LOOK_INTERVAL_MS).unref();
  return () => {
    clearInterval(timer);
    look();
  };
}
