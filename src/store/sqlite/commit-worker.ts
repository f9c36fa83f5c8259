/** The thread that commits (commit-thread.ts). */
import { parentPort, workerData } from 'node:worker_threads';
import { type CommitAnswer, type CommitRequest, failureOf } from './commit-thread.ts';
import { Committer } from './committer.ts';

const committer = new Committer(workerData as string);

parentPort!.on('message', (request: CommitRequest) => {
  let answer: CommitAnswer = { mended: 0 };
  try {
    if (request === 'mend') answer = { mended: committer.mend() };
    else if (request === 'close') committer.close();
    else committer.commit(Buffer.from(request.buffer, request.byteOffset, request.byteLength));
  } catch (error) {
    answer = failureOf(error);
  }
  parentPort!.postMessage(answer);
});
