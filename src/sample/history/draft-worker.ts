/**
 * The generator in a thread of its own: makes the history that its workerData asks for, a few steps ahead of the
 * one who takes them (see parallel.ts). The entry file of that thread, imported by nobody.
 */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { SampleError } from '../sample-error.ts';
import { encodeDrafts } from './draft-codec.ts';
import { type DraftMessage, MAX_STEPS_AHEAD } from './draft-messages.ts';
import { type DraftRequest, makeDrafts } from './drafts.ts';

async function run(port: MessagePort, request: DraftRequest): Promise<void> {
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
        step.kind === 'genesis' ? Uint8Array.from(step.bytes) : encodeDrafts(step.outcomes);
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

if (parentPort === null) throw new Error('this file is the entry of a worker thread');
await run(parentPort, workerData as DraftRequest);
