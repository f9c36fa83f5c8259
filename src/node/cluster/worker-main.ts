/** The entry of a worker's process: the primary starts this file (cluster-workers.ts). */
import { runWorker } from './worker.ts';

await runWorker();
