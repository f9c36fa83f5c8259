/** The thread of an embedded database (database.ts). */
import { parentPort, workerData } from 'node:worker_threads';
import { answerRequest, type EmbeddedRequest } from './embedded-requests.ts';
import { openEmbedded } from './embedded-session.ts';

const opened = openEmbedded(workerData as string | undefined);
let turn: Promise<unknown> = opened;

parentPort!.on('message', (request: EmbeddedRequest) => {
  turn = turn.then(async () => {
    parentPort!.postMessage(await answerRequest(await opened, request));
  });
});
