/**
 * Verifies pages in a second thread, so that decoding and hashing cost nothing in the thread that commits and may be
 * serving requests. Measured: docs/follow.md.
 */

import { HAS_THREADS, startThread } from '../../thread.ts';
import { PageError } from './feed-error.ts';
import { PageVerifier, type VerifierStart } from './page-verifier.ts';
import type { VerifiedPage } from './verified-page.ts';
import type { VerifierAnswer, VerifierRequest } from './verifier-worker.ts';

/** Verifies pages in the order in which it gets them. */
export interface Verifier {
  /** Continues from here; pages handed in before must have been answered. */
  start(start: VerifierStart): void;
  /** Verifies the next page; its buffer changes hands. @throws PageError */
  verify(bytes: Uint8Array<ArrayBuffer>): Promise<VerifiedPage>;
  close(): Promise<void>;
}

const WORKER_URL = new URL('./verifier-worker.js', import.meta.url);

/** A verifier in a separate thread, or from source (in tests) in this one. */
export function openVerifier(): Verifier {
  return HAS_THREADS ? new ThreadVerifier() : localVerifier();
}

export function localVerifier(): Verifier {
  let pages: PageVerifier | undefined;
  return {
    start: (start) => {
      pages = new PageVerifier(start);
    },
    verify: async (bytes) => pages!.verify(bytes),
    close: async () => undefined,
  };
}

interface Waiting {
  readonly resolve: (page: VerifiedPage) => void;
  readonly reject: (error: Error) => void;
}

class ThreadVerifier implements Verifier {
  readonly #worker = startThread(WORKER_URL);
  readonly #waiting: Waiting[] = [];
  #failure: Error | undefined;

  constructor() {
    // Only a pending page keeps the process alive.
    this.#worker.unref();
    this.#worker.on('message', (answer: VerifierAnswer) => {
      const { resolve, reject } = this.#waiting.shift()!;
      if (this.#waiting.length === 0) this.#worker.unref();
      if ('fault' in answer) reject(new PageError(answer.fault));
      else resolve(answer);
    });
    this.#worker.on('error', (error) => this.#fail(error as Error));
    this.#worker.on('exit', () => this.#fail(new Error('the verifying thread has ended')));
  }

  start(start: VerifierStart): void {
    this.#worker.postMessage(start satisfies VerifierRequest);
  }

  verify(bytes: Uint8Array<ArrayBuffer>): Promise<VerifiedPage> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#worker.ref();
      this.#worker.postMessage(bytes satisfies VerifierRequest, [bytes.buffer]);
    });
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#waiting.splice(0)) reject(this.#failure);
  }
}
