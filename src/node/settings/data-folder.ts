/** What a data folder may hold before a ledger is made in it. */
import { existsSync, readdirSync } from 'node:fs';
import { NodeError } from '../node-error.ts';

/**
 * Files of a store of ours; one without a ledger, left by a start that was cut off, may be used again. Version 0.1 may
 * have left an empty `kept-pages-…`, when it was killed while it opened that file.
 */
const OWN_FILE = /^(?:(?:data|lock)\.mdb|kept-pages-[0-9a-f]{16})$/;

/**
 * Passes for a folder that is absent, empty, or holds a store of ours (whether that one has a ledger is for the
 * writer to see). @throws NodeError `data_not_usable`
 */
export function refuseUsedFolder(dataFolder: string): void {
  if (!existsSync(dataFolder)) return;
  let names: string[];
  try {
    names = readdirSync(dataFolder);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new NodeError('data_not_usable', `cannot use ${dataFolder}: ${reason}`, { cause });
  }
  const foreign = names.filter((name) => !OWN_FILE.test(name));
  if (foreign.length === 0) return;
  throw new NodeError(
    'data_not_usable',
    `${dataFolder} is not empty (it holds ${foreign.slice(0, 3).join(', ')}): give an absent or empty folder`,
  );
}
