/** Proof of pages in a thread of its own; who asks is prover.ts. Pages change hands without being copied. */
import { parentPort } from 'node:worker_threads';
import { type FeedErrorCode, PageError, type PageField } from './feed-error.ts';
import { PageProver, type ProofStart } from './page-prover.ts';
import type { ProvenPage } from './proven-page.ts';

/** What the thread is asked; a page is answered once, in order. */
export type ProverRequest =
  | { readonly kind: 'start'; readonly start: ProofStart }
  | { readonly kind: 'page'; readonly bytes: Uint8Array<ArrayBuffer> };

/** A PageError as plain data. */
export interface PageFault {
  readonly code: Extract<
    FeedErrorCode,
    'page_malformed' | 'page_unproved' | 'trust_contradicts' | 'waypoint_mismatch'
  >;
  readonly version: bigint;
  readonly field: PageField;
  readonly detail: string;
}

/** What the thread answers. */
export type ProverAnswer =
  | { readonly kind: 'proven'; readonly page: ProvenPage }
  | { readonly kind: 'refused'; readonly fault: PageFault };

/** Serves one port: keeps a prover from start to start. */
export function serveProofs(port: NonNullable<typeof parentPort>): void {
  let prover: PageProver | undefined;
  port.on('message', (request: ProverRequest) => {
    if (request.kind === 'start') {
      prover = new PageProver(request.start);
      return;
    }
    try {
      const page = prover!.prove(request.bytes);
      const answer: ProverAnswer = { kind: 'proven', page };
      port.postMessage(answer, [page.bytes.buffer, page.spans.buffer]);
    } catch (error) {
      if (!(error instanceof PageError)) throw error;
      const { code, version, field, detail } = error;
      const fault = { code: code as PageFault['code'], version, field, detail };
      port.postMessage({ kind: 'refused', fault } satisfies ProverAnswer);
    }
  });
}

if (parentPort !== null) serveProofs(parentPort);
