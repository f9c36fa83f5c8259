/** Threads that run batches of a ledger again, each with a reader of its own. */
import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { IS_BUILT } from '../../built.ts';
import { openHead } from '../../store/columns/head.ts';
import { startThread } from '../../thread.ts';
import { type BatchResult, runBatch, type VersionRange } from '../../verify/execution/batch.ts';
import { Replay } from '../../verify/execution/replay.ts';
import { openStoreReader } from '../open-store.ts';

/** A thread's message: how many more versions it has run, or the result of a batch. */
export type ExecutionAnswer = { readonly versions: number } | { readonly result: BatchResult };

interface ExecutionEvents {
  onVersions(versions: number): void;
  onBatch(result: BatchResult): void;
}

export async function runBatches(
  data: string,
  batches: Iterable<VersionRange>,
  threads: number,
  events: ExecutionEvents,
): Promise<void> {
  const left = batches[Symbol.iterator]();
  const next = (): VersionRange | undefined => {
    const { value, done } = left.next();
    return done === true ? undefined : value;
  };
  if (!IS_BUILT) return await runHere(data, next, events);
  const workers = Array.from({ length: threads }, () => startThread('execution-worker', data));
  try {
    await Promise.all(workers.map((worker) => runIn(worker, next, events)));
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}

async function runIn(
  worker: Worker,
  next: () => VersionRange | undefined,
  { onVersions, onBatch }: ExecutionEvents,
): Promise<void> {
  worker.on('message', (answer: ExecutionAnswer) => {
    if ('versions' in answer) {
      onVersions(answer.versions);
      return;
    }
    onBatch(answer.result);
    worker.postMessage(next());
  });
  worker.postMessage(next());
  const [code] = await once(worker, 'exit');
  if (code !== 0) throw new Error(`a thread that executes has ended with exit code ${code}`);
}

async function runHere(
  data: string,
  next: () => VersionRange | undefined,
  { onVersions, onBatch }: ExecutionEvents,
): Promise<void> {
  const store = await openStoreReader(data);
  try {
    const replay = await Replay.open(store, await openHead(store));
    for (let range = next(); range !== undefined; range = next()) {
      onBatch(await runBatch(replay, range, onVersions));
    }
  } finally {
    await store.close();
  }
}
