/** What a process that commits by itself does while the disk is full, or the store cannot be reached. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { CommitterOptions } from '../ingest/committer.ts';
import { isStoreError } from '../store/store-error.ts';

/** How often a commit is tried again, in milliseconds. */
const RETRY_INTERVAL_MS = 1_000;

/**
 * Waits for space, and for the store; logs the first attempt that fails, and the one that succeeds.
 * @param what waits, for the log
 */
export function commitRetryOptions(
  what: string,
  logger: Logger,
  signal: AbortSignal,
): CommitterOptions {
  let outage: 'full' | 'away' | undefined;
  const messages = {
    full: [`${what} waits: the disk is full`, `${what} continues: there is space again`],
    away: [
      `${what} waits: the store cannot be reached`,
      `${what} continues: the store is reached again`,
    ],
  } as const;
  return {
    onCommit: () => {
      if (outage !== undefined) logger.info(messages[outage][1]);
      outage = undefined;
    },
    onTransientError: async (error) => {
      const next = isStoreError(error, 'store_full') ? 'full' : 'away';
      if (outage !== next) logger.error({ err: error }, messages[next][0]);
      outage = next;
      await sleep(RETRY_INTERVAL_MS, undefined, { signal });
    },
  };
}
