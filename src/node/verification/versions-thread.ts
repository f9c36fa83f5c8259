/** A thread that examines the versions of a ledger, with a reader of its own, while this one examines the columns. */
import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { IS_BUILT } from '../../built.ts';
import { StoreError } from '../../store/store-error.ts';
import { startThread } from '../../thread.ts';
import type { Damage } from '../../verify/context.ts';
import type {
  ExamineVersions,
  VerifyProgress,
  VersionsReport,
  VersionsRequest,
} from '../../verify/ledger.ts';
import type { OnSave } from '../../verify/saved-part.ts';

export interface VersionsWork {
  readonly data: string;
  readonly request: VersionsRequest;
}

/** A thread's message: its progress, data to save, and at the end its report, or the error that ended it. */
export type VersionsAnswer =
  | { readonly part: Uint8Array; readonly damages: readonly Damage[] }
  | { readonly progress: VerifyProgress }
  | { readonly report: VersionsReport }
  | { readonly failure: { readonly code: StoreError['code']; readonly message: string } };

export class VersionsThread {
  readonly #data: string;
  readonly #onProgress: (progress: VerifyProgress) => void;
  #worker: Worker | undefined;

  constructor(data: string, onProgress: (progress: VerifyProgress) => void) {
    this.#data = data;
    this.#onProgress = onProgress;
  }

  /** `undefined` in sources, which start no threads. */
  get examine(): ExamineVersions | undefined {
    return IS_BUILT ? (request, onSave) => this.#examine(request, onSave) : undefined;
  }

  /** @throws StoreError that has ended the thread; any other error in it */
  async #examine(request: VersionsRequest, onSave: OnSave): Promise<VersionsReport> {
    const work: VersionsWork = { data: this.#data, request };
    const worker = startThread('versions-worker', work);
    this.#worker = worker;
    let answer: VersionsAnswer | undefined;
    const ended = new Promise<void>((resolve, reject) => {
      worker.on('message', (message: VersionsAnswer) => {
        if ('progress' in message) this.#onProgress(message.progress);
        else if (!('part' in message)) answer = message;
        else {
          try {
            onSave(message.part, message.damages);
          } catch (cause) {
            reject(cause);
          }
        }
      });
      once(worker, 'exit').then(() => resolve(), reject);
    });
    await ended;
    if (answer === undefined) throw new Error('the thread that examines versions was ended');
    if ('failure' in answer) throw new StoreError(answer.failure.code, answer.failure.message);
    return (answer as Extract<VersionsAnswer, { readonly report: unknown }>).report;
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }
}
