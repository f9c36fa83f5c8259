/** The thread of an indexer (indexing.ts). */
import { parentPort, workerData } from 'node:worker_threads';
import {
  type IndexedLedger,
  indexLedger,
  type ThreadAnswer,
  type ThreadRequest,
} from './indexing.ts';

const parent = parentPort!;
const indexing = indexLedger(workerData as IndexedLedger, (error) => parent.postMessage(error));

parent.on('message', async (request: ThreadRequest) => {
  if (request === 'close') {
    await (await indexing).close();
    parent.close();
    return;
  }
  const { body, port } = request;
  const answer = (message: ThreadAnswer): void => port.postMessage(message);
  try {
    answer({ text: await (await indexing).answer(Buffer.from(body)) });
  } catch (failure) {
    answer({ failure });
  }
});
