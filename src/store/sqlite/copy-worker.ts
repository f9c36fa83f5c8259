/** The thread that copies a store's file (file-copy.ts). */
import { parentPort, workerData } from 'node:worker_threads';
import { type CopyRequest, copyHere } from './file-copy.ts';

parentPort!.postMessage(copyHere(workerData as CopyRequest));
