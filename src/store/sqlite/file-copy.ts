/** Copies the file of a store in a thread of its own, so that progress can be shown meanwhile. */
import { once } from 'node:events';
import { HAS_THREADS, startThread } from '../../thread.ts';
import { type CommitFailure, failureOf } from './commit-thread.ts';
import { SqliteDatabase } from './sqlite-database.ts';

export interface CopyRequest {
  readonly from: string;
  /** A file that does not exist. */
  readonly to: string;
}

const WORKER_URL = new URL('./copy-worker.js', import.meta.url);

/** Copies a store as it is now, without free pages, while others read and write it. @returns why it failed */
export async function copyFile(request: CopyRequest): Promise<CommitFailure | undefined> {
  if (!HAS_THREADS) return copyHere(request);
  const [failure] = await once(startThread(WORKER_URL, request), 'message');
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
