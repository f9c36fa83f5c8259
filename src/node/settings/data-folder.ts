/** What a data folder may hold before a ledger is made in it. */
import { existsSync, readdirSync } from 'node:fs';
import { KEPT_FILE_NAME } from '../../store/kept-bytes.ts';
import { NodeError } from '../node-error.ts';

/**
 * Files of a store of ours; one without a ledger, left by a start that was cut off, may be used again. So may the file
 * of a process that was killed before it could take the name away.
 */
const isOwnFile = (name: string): boolean =>
  /^(?:data|lock)\.mdb$/.test(name) || KEPT_FILE_NAME.test(name);

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
  const foreign = names.filter((name) => !isOwnFile(name));
  if (foreign.length === 0) return;
  throw new NodeError(
    'data_not_usable',
    `${dataFolder} is not empty (it holds ${foreign.slice(0, 3).join(', ')}): give an absent or empty folder`,
  );
}
