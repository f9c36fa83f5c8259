/** Examines the versions of a ledger in a thread, for versions-thread.ts. */
import { parentPort, workerData } from 'node:worker_threads';
import { StoreError } from '../../store/store-error.ts';
import { verifyVersionsOf } from '../../verify/ledger.ts';
import { openStoreReader } from '../open-store.ts';
import type { VersionsAnswer, VersionsWork } from './versions-thread.ts';

const port = parentPort!;
const answer = (message: VersionsAnswer): void => port.postMessage(message);
const { data, request } = workerData as VersionsWork;
const store = await openStoreReader(data);
try {
  const report = await verifyVersionsOf(
    store,
    request,
    (progress) => answer({ progress }),
    (part, damages) => answer({ part, damages }),
  );
  answer({ report });
} catch (error) {
  if (!(error instanceof StoreError)) throw error;
  answer({ failure: { code: error.code, message: error.message } });
} finally {
  await store.close();
}
