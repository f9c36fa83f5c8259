/** Copies the file of a store in a thread of its own, so that progress can be shown meanwhile. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { type CommitFailure, failureOf } from './commit-thread.ts';
import { SqliteDatabase } from './sqlite-database.ts';

export interface CopyRequest {
  readonly from: string;
  /** A file that does not exist. */
  readonly to: string;
}

/** The worker's file. Only compiled code has one: Node 20 cannot run TypeScript. */
const WORKER_URL = new URL('./copy-worker.js', import.meta.url);
const IS_COMPILED = import.meta.url.endsWith('.js');

/** Copies a store as it is now, without free pages, while others read and write it. @returns why it failed */
export async function copyFile(request: CopyRequest): Promise<CommitFailure | undefined> {
  if (!IS_COMPILED) return copyHere(request);
  const [failure] = await once(new Worker(WORKER_URL, { workerData: request }), 'message');
  return failure as CommitFailure | undefined;
}

export function copyHere({ from, to }: CopyRequest): CommitFailure | undefined {
  const source = new SqliteDatabase(from, { readOnly: true });
  try {
    source.copyTo(to);
    return undefined;
  } catch (error) {
    return failureOf(error);
  } finally {
    source.close();
  }
}
