/**
 * Verifies pages in a second thread, so that decoding and hashing cost nothing in the thread that commits and may be
 * serving requests. docs/follow.md has measurements.
 */
import { IS_BUILT } from '../../built.ts';
import { RemoteError } from '../../remote/remote-error.ts';
import { RequestThread } from '../../thread.ts';
import { PageError } from './page-error.ts';
import { PageVerifier, type VerifierStart } from './page-verifier.ts';
import type { VerifiedPage } from './verified-page.ts';
import type { VerifierAnswer, VerifierRequest } from './verifier-worker.ts';

export interface Verifier {
  /** Starts from a given state. All pages handed in before must have been verified. */
  start(start: VerifierStart): void;
  /**
   * Verifies the next page, whose buffer is transferred.
   * @throws PageError; RemoteError `verifier_failed` if the thread has crashed. `start` then begins a new one
   */
  verify(bytes: Uint8Array<ArrayBuffer>): Promise<VerifiedPage>;
  close(): Promise<void>;
}

/** A verifier in a separate thread; in this thread if it runs from source (in tests). */
export function openVerifier(): Verifier {
  return IS_BUILT ? new ThreadVerifier() : localVerifier();
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

class ThreadVerifier implements Verifier {
  #thread: RequestThread<VerifierRequest, VerifierAnswer> | undefined;

  start(start: VerifierStart): void {
    if (this.#thread === undefined || this.#thread.hasEnded) {
      this.#thread = new RequestThread('verifier-worker');
    }
    this.#thread.post(start);
  }

  async verify(bytes: Uint8Array<ArrayBuffer>): Promise<VerifiedPage> {
    const answer = await this.#thread!.send(bytes, [bytes.buffer]).catch((cause: Error) => {
      const message = `the verifying thread has ended: ${cause.message}`;
      throw new RemoteError('verifier_failed', message, { cause });
    });
    if ('fault' in answer) throw new PageError(answer.fault);
    return answer;
  }

  async close(): Promise<void> {
    await this.#thread?.close();
  }
}
