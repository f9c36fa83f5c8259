/**
 * The generator in a separate thread: generates the history that its workerData specifies, a few steps ahead of the
 * consumer (see draft-thread.ts). The entry file of that thread, never imported.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { SampleError } from '../settings.ts';
import type { DraftMessage, DraftWork } from './draft-thread.ts';
import { encodeDrafts, makeDrafts } from './drafts.ts';

/** Maximum number of steps generated ahead of the consumer. */
const MAX_STEPS_AHEAD = 3;

function run({ request, taken }: DraftWork, post: (message: DraftMessage) => void): void {
  try {
    let made = 0;
    for (const step of makeDrafts(request)) {
      const bytes =
        step.kind === 'genesis' ? new Uint8Array(step.bytes) : encodeDrafts(step.outcomes);
      post({ kind: step.kind, bytes });
      made += 1;
      for (;;) {
        const before = Atomics.load(taken, 0);
        if (made - before < MAX_STEPS_AHEAD) break;
        Atomics.wait(taken, 0, before);
      }
    }
    post({ kind: 'done' });
  } catch (error) {
    if (!(error instanceof SampleError)) throw error;
    post({ kind: 'failed', code: error.code, message: error.message });
  }
}

const port = parentPort;
if (port === null) throw new Error('this file is the entry of a worker thread');
run(workerData as DraftWork, (message) =>
  port.postMessage(message, 'bytes' in message ? [message.bytes.buffer] : []),
);
