/**
 * Commits in a thread of their own: a commit writes to the disk and merges runs, which must not hold the event loop of
 * a process that answers requests.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { HAS_THREADS, startThread } from '../../thread.ts';
import { Committer } from './committer.ts';
import { isDiskFull, isStoredDamage, reasonOf } from './sqlite-database.ts';
import { DamagedRecordError } from './version-records.ts';

export type CommitRequest = Uint8Array<ArrayBuffer> | 'mend' | 'close';

export interface CommitFailure {
  readonly kind: 'full' | 'damaged' | 'io';
  /** Of a damaged record. */
  readonly version?: number;
  readonly message: string;
}

export type CommitAnswer = { readonly mended: number } | CommitFailure;

/** Takes requests one after the other. Failures are answers. */
export interface CommitThread {
  send(request: CommitRequest): Promise<CommitAnswer>;
  /** Ends it, when it has answered all. */
  end(): Promise<void>;
}

const WORKER_URL = new URL('./commit-worker.js', import.meta.url);

/** A thread that commits to a file, or from source (in tests) this one. */
export function openCommitThread(path: string): CommitThread {
  return HAS_THREADS ? new OtherThread(path) : new SameThread(path);
}

export function failureOf(error: unknown): CommitFailure {
  const message = reasonOf(error);
  if (error instanceof DamagedRecordError) {
    return { kind: 'damaged', version: error.version, message: reasonOf(error.cause) };
  }
  if (isStoredDamage(error)) return { kind: 'damaged', message };
  return { kind: isDiskFull(error) ? 'full' : 'io', message };
}

class SameThread implements CommitThread {
  readonly #committer: Committer;

  constructor(path: string) {
    this.#committer = new Committer(path);
  }

  async send(request: CommitRequest): Promise<CommitAnswer> {
    const answer = this.#answer(request);
    // Never in the turn of the event loop that asked, like those of another thread.
    await nextTurn();
    return answer;
  }

  async end(): Promise<void> {
    await this.send('close');
  }

  #answer(request: CommitRequest): CommitAnswer {
    try {
      if (request === 'mend') return { mended: this.#committer.mend() };
      if (request === 'close') this.#committer.close();
      else this.#committer.commit(Buffer.from(request));
      return { mended: 0 };
    } catch (error) {
      if (error instanceof RangeError) throw error;
      return failureOf(error);
    }
  }
}

interface Waiting {
  readonly resolve: (answer: CommitAnswer) => void;
  readonly reject: (error: Error) => void;
}

class OtherThread implements CommitThread {
  readonly #worker: Worker;
  readonly #waiting: Waiting[] = [];
  #failure: Error | undefined;

  constructor(path: string) {
    this.#worker = startThread(WORKER_URL, path);
    // Only a request keeps the process alive.
    this.#worker.unref();
    this.#worker.on('message', (answer: CommitAnswer) => {
      this.#waiting.shift()!.resolve(answer);
      if (this.#waiting.length === 0) this.#worker.unref();
    });
    this.#worker.on('error', (error) => this.#fail(error as Error));
    this.#worker.on('exit', () => this.#fail(new Error('the committing thread has ended')));
  }

  send(request: CommitRequest): Promise<CommitAnswer> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#worker.ref();
      this.#worker.postMessage(request, typeof request === 'string' ? [] : [request.buffer]);
    });
  }

  async end(): Promise<void> {
    if (this.#failure === undefined) await this.send('close').catch(() => undefined);
    await this.#worker.terminate();
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}
