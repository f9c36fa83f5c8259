/** The thread of an embedded database (database.ts). */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import { answerRequest, type EmbeddedRequest } from './embedded-requests.ts';
import { openEmbedded } from './embedded-session.ts';

/** Garbage is collected after this time without a request that writes, in milliseconds. */
const IDLE_MS = 1_000;

const opened = openEmbedded(workerData as string | undefined);
let timer: NodeJS.Timeout | undefined;
let queue: Promise<unknown> = opened.then(() => {
  collectGarbage();
  collectSoon();
});

parentPort!.on('message', (request: EmbeddedRequest) => {
  queue = queue.then(async () => {
    parentPort!.postMessage(await answerRequest(await opened, request));
    if (request.kind === 'transaction') collectSoon();
  });
});

/**
 * The garbage is buffers, 90 MB after the start. They put no pressure on the heap, so an idle thread would not free
 * them.
 */
function collectSoon(): void {
  clearTimeout(timer);
  timer = setTimeout(collectGarbage, IDLE_MS).unref();
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}
