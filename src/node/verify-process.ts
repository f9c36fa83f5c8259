/** The process that examines a ledger: `node verify-process.js DIRECTORY [MAX_LISTED]`, started by verify.ts. */

import type { VerifyProgress } from '../verify/ledger.ts';
import { NodeError } from './node-error.ts';
import { type VerifyMessage, verifyHere } from './verify.ts';

/** Minimum time between two progress reports, in milliseconds. */
const PROGRESS_INTERVAL_MS = 100;

function send(message: VerifyMessage): Promise<void> {
  return new Promise((resolve) => {
    process.send!(message, () => resolve());
  });
}

let sentMs = Number.NEGATIVE_INFINITY;
let what = '';
try {
  const [, , data, maxListed] = process.argv;
  const onProgress = (progress: VerifyProgress): void => {
    const nowMs = performance.now();
    // Sent before the read, so that the parent knows what was being read.
    if (progress.what === what && nowMs - sentMs < PROGRESS_INTERVAL_MS) return;
    what = progress.what;
    sentMs = nowMs;
    void send({ kind: 'progress', progress });
  };
  const most = maxListed === undefined ? undefined : Number(maxListed);
  const report = await verifyHere(data!, onProgress, most);
  await send({ kind: 'report', report });
} catch (error) {
  if (!(error instanceof NodeError)) throw error;
  await send({ kind: 'failed', code: error.code, message: error.message });
}
process.disconnect();
