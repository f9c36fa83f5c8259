/** The thread that reads the pages of a ledger for an indexer (page-reader.ts). */
import { parentPort, workerData } from 'node:worker_threads';
import { readPage } from '../../indexer/ledger-pages.ts';
import { newCaches, openLedger } from '../../ledger/open.ts';
import { openStoreReader } from '../open-store.ts';
import type { ReadAnswer, ReadRequest } from './page-reader.ts';

const ledger = openStoreReader(workerData as string).then((store) =>
  openLedger(store, newCaches()),
);
let queue: Promise<unknown> = ledger;

parentPort!.on('message', ({ start, limit }: ReadRequest) => {
  queue = queue.then(async () => {
    let answer: ReadAnswer;
    try {
      answer = { page: await readPage(await (await ledger).view(), start, limit) };
    } catch (failure) {
      answer = { failure };
    }
    const moved = 'page' in answer ? [answer.page.json.buffer as ArrayBuffer] : [];
    parentPort!.postMessage(answer, moved);
  });
});
