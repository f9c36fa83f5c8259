/** Runs batches of a ledger again in a thread, for execution-threads.ts. */
import { parentPort, workerData } from 'node:worker_threads';
import { openHead } from '../../store/columns/head.ts';
import { runBatch, type VersionRange } from '../../verify/execution/batch.ts';
import { Replay } from '../../verify/execution/replay.ts';
import { openStoreReader } from '../open-store.ts';
import type { ExecutionAnswer } from './execution-threads.ts';

const port = parentPort!;
const answer = (message: ExecutionAnswer): void => port.postMessage(message);
const store = await openStoreReader(workerData as string);
const replay = await Replay.open(store, await openHead(store));

/** A range to run; `undefined` ends the thread. */
port.on('message', async (range: VersionRange | undefined) => {
  if (range === undefined) {
    await store.close();
    port.close();
    return;
  }
  answer({ result: await runBatch(replay, range, (versions) => answer({ versions })) });
});
