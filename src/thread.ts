import { Worker } from 'node:worker_threads';

/**
 * Threads run compiled code only: Node 20 cannot run TypeScript. From source (in tests) their work is done in place.
 */
export const HAS_THREADS = import.meta.url.endsWith('.js');

/** Starts a thread without the process's own options: with `--input-type` it would refuse its file. */
export function startThread(file: URL, workerData?: unknown): Worker {
  return new Worker(file, { workerData, execArgv: [] });
}
