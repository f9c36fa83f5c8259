/**
 * Takes drafts from a thread of their own: while this thread hashes and commits one step, the other makes and signs
 * the next ones. With two cores that is nearly twice as fast as one after the other, and the bytes are the same.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { decodeDrafts } from './draft-codec.ts';
import { type DraftMessage, STEP_TAKEN } from './draft-worker.ts';
import { type DraftRequest, type DraftStep, makeDrafts } from './drafts.ts';
import { SampleError } from './sample-error.ts';

/**
 * The worker's file. Only compiled code has one: Node 20 runs no TypeScript, so from source (in tests) the drafts
 * are made in this thread instead.
 */
const WORKER_URL = new URL('./draft-worker.js', import.meta.url);
const IS_COMPILED = import.meta.url.endsWith('.js');

/**
 * Makes a stretch of a history in another thread. Leaving the loop early ends that thread.
 * @throws SampleError `not_this_sample`
 */
export async function* makeDraftsInParallel(
  request: DraftRequest,
): AsyncGenerator<DraftStep, void, undefined> {
  if (!IS_COMPILED) {
    yield* makeDrafts(request);
    return;
  }
  const worker = new Worker(WORKER_URL, { workerData: request });
  const arrived: DraftMessage[] = [];
  worker.on('message', (message: DraftMessage) => arrived.push(message));
  try {
    for (;;) {
      // A failure of the thread rejects here; `exit` without `done` cannot come before its error.
      if (arrived.length === 0) await once(worker, 'message');
      const message = arrived.shift()!;
      if (message.kind === 'done') return;
      if (message.kind === 'failed') throw new SampleError(message.code, message.message);
      worker.postMessage(STEP_TAKEN);
      const { kind, bytes } = message;
      yield kind === 'genesis'
        ? { kind, bytes: Buffer.from(bytes.buffer) }
        : { kind, drafts: decodeDrafts(bytes) };
    }
  } finally {
    await worker.terminate();
  }
}
