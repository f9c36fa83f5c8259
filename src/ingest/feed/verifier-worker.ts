/** Verifies pages in a separate thread, for verifier.ts. Pages are transferred, not copied. */
import { parentPort } from 'node:worker_threads';
import { PageError, type PageFault } from './page-error.ts';
import { PageVerifier, type VerifierStart } from './page-verifier.ts';
import type { VerifiedPage } from './verified-page.ts';

/** A request to the thread: where to start (no response), or a page (responses in order). */
export type VerifierRequest = VerifierStart | Uint8Array<ArrayBuffer>;

export type VerifierAnswer = VerifiedPage | { readonly fault: PageFault };

let verifier: PageVerifier | undefined;

parentPort?.on('message', (request: VerifierRequest) => {
  if (!(request instanceof Uint8Array)) {
    verifier = new PageVerifier(request);
    return;
  }
  try {
    const page: VerifierAnswer = verifier!.verify(request);
    parentPort!.postMessage(page, [page.bytes.buffer, page.places.buffer]);
  } catch (error) {
    if (!(error instanceof PageError)) throw error;
    parentPort!.postMessage({ fault: error.fault } satisfies VerifierAnswer);
  }
});
