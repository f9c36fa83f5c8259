/**
 * Takes drafts from a thread of their own: while this thread hashes and commits one step, the other makes and signs
 * the next ones. With two cores that is nearly twice as fast as one after the other, and the bytes are the same.
 */
import { Worker } from 'node:worker_threads';
import { SampleError } from '../sample-error.ts';
import { decodeDrafts } from './draft-codec.ts';
import { type DraftMessage, STEP_TAKEN } from './draft-messages.ts';
import { type DraftRequest, type DraftStep, makeDrafts } from './drafts.ts';

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
  const thread = new DraftThread(request);
  try {
    for (;;) {
      const message = await thread.next();
      if (message.kind === 'done') return;
      if (message.kind === 'failed') throw new SampleError(message.code, message.message);
      const { kind, bytes } = message;
      yield kind === 'genesis'
        ? { kind, bytes: Buffer.from(bytes.buffer) }
        : { kind, outcomes: decodeDrafts(bytes) };
    }
  } finally {
    await thread.end();
  }
}

/** A thread that makes drafts, and its messages in their order. */
class DraftThread {
  readonly #worker: Worker;
  readonly #messages: DraftMessage[] = [];
  #failure: Error | undefined;
  #wake: () => void = () => undefined;

  constructor(request: DraftRequest) {
    this.#worker = new Worker(WORKER_URL, { workerData: request });
    this.#worker.on('message', (message: DraftMessage) => {
      this.#messages.push(message);
      this.#wake();
    });
    this.#worker.on('error', (error: Error) => this.#fail(error));
    this.#worker.on('exit', () => this.#fail(new Error('the generator’s thread has ended')));
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#wake();
  }

  /** The next message; the thread may go one step further. @throws what ended the thread. */
  async next(): Promise<DraftMessage> {
    while (this.#messages.length === 0) {
      if (this.#failure !== undefined) throw this.#failure;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#worker.postMessage(STEP_TAKEN);
    return this.#messages.shift()!;
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}
