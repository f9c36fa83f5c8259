/** The other side of fuzz/batched-child.ts: runs inputs that come in batches, one after the other. */
import { closeSync, openSync, writeSync } from 'node:fs';

/** @param run says what became of an input; what it throws ends the process */
export function serveInputs<T>(run: (input: Buffer) => Promise<T>): void {
  const file = process.argv[3]!;
  process.on('message', async (inputs: readonly Uint8Array[]) => {
    const outcomes = openSync(file, 'w');
    // At once: the next input may end the process.
    for (const input of inputs) {
      const outcome = await run(Buffer.from(input));
      writeSync(outcomes, `${JSON.stringify(outcome)}\n`);
    }
    closeSync(outcomes);
    process.send!('done');
  });
  process.send!('open');
}
