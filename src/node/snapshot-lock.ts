/**
 * One process at a time works at a snapshot. Each leaves a file next to it whose name says which process it is, and
 * then looks for those of others. Of two that start together at least one sees the other, so never do both go on. A
 * file that a killed process left is removed: no later process has its identity.
 */
import { closeSync, mkdirSync, openSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { BcsError } from '../move/bcs/bcs-reader.ts';
import { NodeError } from './node-error.ts';
import {
  decodeProcessIdentity,
  encodeProcessIdentity,
  isRunning,
  ownIdentity,
} from './process-identity.ts';

/** What is added to the name of the folder, before the process. */
const LOCK_ENDING = '.lock-';

/** Runs `work` while no other process works in a folder. @throws NodeError `snapshot_locked` */
export async function withSnapshotLock<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const parent = dirname(resolve(folder));
  const prefix = `${basename(resolve(folder))}${LOCK_ENDING}`;
  const own = `${prefix}${encodeProcessIdentity(ownIdentity()).toString('base64url')}`;
  mkdirSync(parent, { recursive: true });
  try {
    closeSync(openSync(join(parent, own), 'wx'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw lockedBy(process.pid, folder);
    throw error;
  }
  try {
    for (const name of readdirSync(parent)) {
      if (!name.startsWith(prefix) || name === own) continue;
      const holder = identityIn(name.slice(prefix.length));
      if (holder === undefined) continue;
      if (isRunning(holder)) throw lockedBy(holder.pid, folder);
      rmSync(join(parent, name), { force: true });
    }
    return await work();
  } finally {
    rmSync(join(parent, own), { force: true });
  }
}

function identityIn(text: string) {
  try {
    return decodeProcessIdentity(Buffer.from(text, 'base64url'));
  } catch (error) {
    if (error instanceof BcsError) return undefined;
    throw error;
  }
}

function lockedBy(pid: number, folder: string): NodeError {
  const message = `process ${pid} makes the snapshot in ${folder}: wait for its end, or give another --out`;
  return new NodeError('snapshot_locked', message);
}
