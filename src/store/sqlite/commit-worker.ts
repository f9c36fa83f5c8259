/** The thread that commits to a file, or copies it. */
import { parentPort, workerData } from 'node:worker_threads';
import { Committer, copyHere, type ThreadRequest } from './committer.ts';

const path = workerData as string;
let committer: Committer | undefined;

parentPort!.on('message', (request: ThreadRequest) => {
  if (typeof request === 'object' && 'copyTo' in request) {
    parentPort!.postMessage(copyHere(path, request.copyTo));
    return;
  }
  committer ??= new Committer(path);
  parentPort!.postMessage(committer.answer(request));
});
