/** The thread that commits to a file, or copies it. */
import { parentPort, workerData } from 'node:worker_threads';
import { copyInThread, SqliteCommitter, type ThreadRequest } from './committer.ts';

const path = workerData as string;
let committer: SqliteCommitter | undefined;

parentPort!.on('message', (request: ThreadRequest) => {
  if (typeof request === 'object' && 'copyTo' in request) {
    parentPort!.postMessage(copyInThread(path, request.copyTo));
    return;
  }
  committer ??= new SqliteCommitter(path);
  parentPort!.postMessage(committer.answer(request));
});
