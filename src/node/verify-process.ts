/**
 * The process that examines a ledger: `node verify-process.js DIRECTORY`, started by verify.ts with
 * a channel. The engine can take its process down when it meets damaged pages; then it is this one,
 * and the other one says so.
 */
import { NodeError } from './node-error.ts';
import { verifyHere } from './verify-ledger.ts';
import type { VerifyMessage } from './verify-messages.ts';

/** Least time between two reports of progress, in milliseconds. */
const PROGRESS_INTERVAL_MS = 100;

function send(message: VerifyMessage): Promise<void> {
  return new Promise((resolve) => {
    process.send!(message, () => resolve());
  });
}

async function run(dataFolder: string): Promise<void> {
  let sentMs = Number.NEGATIVE_INFINITY;
  let what = '';
  try {
    const report = await verifyHere(dataFolder, (progress) => {
      const nowMs = performance.now();
      // Where it is must be known before it is read.
      if (progress.what === what && nowMs - sentMs < PROGRESS_INTERVAL_MS) return;
      what = progress.what;
      sentMs = nowMs;
      void send({ kind: 'progress', progress });
    });
    await send({ kind: 'report', report });
  } catch (error) {
    if (!(error instanceof NodeError)) throw error;
    await send({ kind: 'failed', code: error.code, message: error.message });
  }
  process.disconnect();
}

await run(process.argv[2]!);
