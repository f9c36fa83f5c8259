/**
 * Proof of pages beside everything else: in a second thread, so that decoding and hashing a page cost the thread that
 * commits, and that may be serving requests, nothing. Measured: docs/follow.md.
 */
import { Worker } from 'node:worker_threads';
import { PageError } from './feed-error.ts';
import { PageProver, type ProofStart } from './page-prover.ts';
import type { ProvenPage } from './proven-page.ts';
import type { ProverAnswer, ProverRequest } from './prover-worker.ts';

/** Proves pages in the order they are handed in. */
export interface Prover {
  /** Goes on from here; pages handed in before must have been answered. */
  start(start: ProofStart): void;
  /** Proves the next page; its buffer changes hands. @throws PageError */
  prove(bytes: Uint8Array<ArrayBuffer>): Promise<ProvenPage>;
  close(): Promise<void>;
}

/** The worker's file. Only compiled code has one: Node 20 runs no TypeScript. */
const WORKER_URL = new URL('./prover-worker.js', import.meta.url);
const IS_COMPILED = import.meta.url.endsWith('.js');

/** A prover in a thread of its own, or from source (in tests) in this one. */
export function openProver(): Prover {
  return IS_COMPILED ? new ThreadProver() : new LocalProver();
}

/** Proves in the calling thread. */
export class LocalProver implements Prover {
  #prover: PageProver | undefined;

  start(start: ProofStart): void {
    this.#prover = new PageProver(start);
  }

  async prove(bytes: Uint8Array<ArrayBuffer>): Promise<ProvenPage> {
    if (this.#prover === undefined) throw new RangeError('a prover that was not started');
    return this.#prover.prove(bytes);
  }

  async close(): Promise<void> {
    this.#prover = undefined;
  }
}

interface Waiting {
  readonly resolve: (page: ProvenPage) => void;
  readonly reject: (error: Error) => void;
}

class ThreadProver implements Prover {
  readonly #worker = new Worker(WORKER_URL);
  readonly #waiting: Waiting[] = [];
  #failure: Error | undefined;

  constructor() {
    // Only a page that is waited for keeps the process alive.
    this.#worker.unref();
    this.#worker.on('message', (answer: ProverAnswer) => {
      const { resolve, reject } = this.#waiting.shift()!;
      if (this.#waiting.length === 0) this.#worker.unref();
      if (answer.kind === 'proven') {
        resolve(answer.page);
      } else {
        const { code, version, field, detail } = answer.fault;
        reject(new PageError(code, version, field, detail));
      }
    });
    this.#worker.on('error', (error) => this.#fail(error as Error));
    this.#worker.on('exit', () => this.#fail(new Error('the proving thread has ended')));
  }

  start(start: ProofStart): void {
    this.#post({ kind: 'start', start }, []);
  }

  prove(bytes: Uint8Array<ArrayBuffer>): Promise<ProvenPage> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#worker.ref();
      this.#post({ kind: 'page', bytes }, [bytes.buffer]);
    });
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #post(request: ProverRequest, transfer: ArrayBuffer[]): void {
    this.#worker.postMessage(request, transfer);
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#waiting.splice(0)) reject(this.#failure);
  }
}
