/** What a process that commits by itself does while the disk is full, or the store cannot be reached. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { CommitterOptions } from '../ingest/committer.ts';
import { isStoreError } from '../store/store-error.ts';

/** How often a commit is tried again, in milliseconds. */
const TROUBLE_INTERVAL_MS = 1_000;

/**
 * Waits for space, and for the store; logs the first attempt that fails, and the one that succeeds.
 * @param what waits, for the log
 */
export function waitInTrouble(what: string, logger: Logger, signal: AbortSignal): CommitterOptions {
  let trouble: 'full' | 'away' | undefined;
  const waits = {
    full: [`${what} waits: the disk is full`, `${what} continues: there is space again`],
    away: [
      `${what} waits: the store cannot be reached`,
      `${what} continues: the store is reached again`,
    ],
  } as const;
  return {
    onCommit: () => {
      if (trouble !== undefined) logger.info(waits[trouble][1]);
      trouble = undefined;
    },
    onTrouble: async (error) => {
      const next = isStoreError(error, 'store_full') ? 'full' : 'away';
      if (trouble !== next) logger.error({ err: error }, waits[next][0]);
      trouble = next;
      await sleep(TROUBLE_INTERVAL_MS, undefined, { signal });
    },
  };
}
