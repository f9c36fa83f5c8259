import { Worker } from 'node:worker_threads';
import { builtFile } from './built.ts';

/**
 * Starts a thread of the built program. The thread does not inherit Node's options of the process: with `--input-type`
 * it would refuse its file.
 * @param name of an entry in scripts/build.mjs
 */
export function startThread(name: string, workerData?: unknown): Worker {
  return new Worker(builtFile(`${name}.js`), { workerData, execArgv: [] });
}

interface PendingRequest<Answer> {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

/** A thread that answers requests in order. It keeps the process alive only while a request is unanswered. */
export class RequestThread<Request, Answer> {
  readonly #worker: Worker;
  readonly #pending: PendingRequest<Answer>[] = [];
  #failure: Error | undefined;

  constructor(name: string, workerData?: unknown) {
    this.#worker = startThread(name, workerData);
    this.#worker.unref();
    this.#worker.on('message', (answer: Answer) => {
      this.#pending.shift()!.resolve(answer);
      if (this.#pending.length === 0) this.#worker.unref();
    });
    let cause: Error | undefined;
    this.#worker.on('error', (error: Error) => {
      cause = error;
    });
    // All answers of the thread have arrived before this event.
    this.#worker.on('exit', (code) => {
      this.#failure = cause ?? new Error(`exit code ${code}`);
      for (const { reject } of this.#pending.splice(0)) reject(this.#failure);
    });
  }

  get hasEnded(): boolean {
    return this.#failure !== undefined;
  }

  /** Rejects with the error that ended the thread. */
  send(request: Request, transferList: readonly ArrayBuffer[] = []): Promise<Answer> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#pending.push({ resolve, reject });
      this.#worker.ref();
      this.#worker.postMessage(request, transferList);
    });
  }

  /** Sends a request that has no answer. */
  post(request: Request): void {
    this.#worker.postMessage(request);
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}
