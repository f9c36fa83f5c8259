/**
 * Receives drafts from another thread: while this thread hashes and commits one step, the other creates and signs the
 * next ones. With two cores that is nearly twice as fast as one after the other, and the bytes are the same.
 */
import { on } from 'node:events';
import { HAS_THREADS, startThread } from '../../thread.ts';
import { SampleError, type SampleErrorCode } from '../settings.ts';
import { type DraftRequest, type DraftStep, decodeDrafts, makeDrafts } from './drafts.ts';

/**
 * The worker's file. Only compiled code has one: Node 20 cannot run TypeScript, so from source (in tests) the drafts
 * are made in this thread instead.
 */
const WORKER_URL = new URL('./draft-worker.js', import.meta.url);

export interface DraftWork {
  readonly request: DraftRequest;
  /** Shared: the number of steps consumed. The thread waits on it to stay a few steps ahead. */
  readonly taken: Int32Array;
}

/** Messages of the thread. Buffers change hands. */
export type DraftMessage =
  | { readonly kind: 'genesis' | 'blocks'; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'failed'; readonly code: SampleErrorCode; readonly message: string }
  | { readonly kind: 'done' };

/**
 * Makes a stretch of a history in another thread. Leaving the loop early ends that thread.
 * @throws SampleError `not_this_sample`
 */
export async function* makeDraftsInParallel(
  request: DraftRequest,
): AsyncGenerator<DraftStep, void, undefined> {
  if (!HAS_THREADS) {
    yield* makeDrafts(request);
    return;
  }
  const taken = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const work: DraftWork = { request, taken };
  const worker = startThread(WORKER_URL, work);
  try {
    for await (const [received] of on(worker, 'message', { close: ['exit'] })) {
      const message: DraftMessage = received;
      Atomics.add(taken, 0, 1);
      Atomics.notify(taken, 0);
      if (message.kind === 'done') return;
      if (message.kind === 'failed') throw new SampleError(message.code, message.message);
      const { kind, bytes } = message;
      yield kind === 'genesis'
        ? { kind, bytes: Buffer.from(bytes.buffer) }
        : { kind, outcomes: decodeDrafts(bytes) };
    }
    throw new Error('the generator’s thread has ended');
  } finally {
    await worker.terminate();
  }
}
