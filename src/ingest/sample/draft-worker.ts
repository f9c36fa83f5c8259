/**
 * The generator in a thread of its own: makes the history that its workerData asks for, a few steps ahead of the
 * one who takes them (see parallel.ts).
 */
import { parentPort, workerData } from 'node:worker_threads';
import { encodeDrafts } from './draft-codec.ts';
import { type DraftRequest, makeDrafts } from './drafts.ts';
import { SampleError, type SampleErrorCode } from './sample-error.ts';

/** What the thread says. Buffers change hands. */
export type DraftMessage =
  | { readonly kind: 'genesis' | 'blocks'; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'failed'; readonly code: SampleErrorCode; readonly message: string }
  | { readonly kind: 'done' };

/** Steps made before the first is taken. */
export const MAX_STEPS_AHEAD = 3;

/** Tells the thread that a step was taken. */
export const STEP_TAKEN = 'taken';

async function run(request: DraftRequest): Promise<void> {
  const port = parentPort!;
  let ahead = 0;
  let wake: (() => void) | undefined;
  port.on('message', () => {
    ahead -= 1;
    wake?.();
  });
  const post = (message: DraftMessage & { readonly bytes: Uint8Array<ArrayBuffer> }): void => {
    ahead += 1;
    port.postMessage(message, [message.bytes.buffer]);
  };
  try {
    for (const step of makeDrafts(request)) {
      const bytes =
        step.kind === 'genesis' ? Uint8Array.from(step.bytes) : encodeDrafts(step.drafts);
      post({ kind: step.kind, bytes });
      while (ahead >= MAX_STEPS_AHEAD) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
    port.postMessage({ kind: 'done' } satisfies DraftMessage);
  } catch (error) {
    if (!(error instanceof SampleError)) throw error;
    const { code, message } = error;
    port.postMessage({ kind: 'failed', code, message } satisfies DraftMessage);
  } finally {
    port.removeAllListeners('message');
    port.unref();
  }
}

if (parentPort !== null) await run(workerData as DraftRequest);
