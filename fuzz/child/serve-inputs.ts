/** The child's side of fuzz/batched-child.ts: receives inputs in batches and runs them one after the other. */
import { closeSync, openSync, writeSync } from 'node:fs';

/** @param run returns the outcome of an input; if it throws, the process exits */
export function serveInputs<T>(run: (input: Buffer) => Promise<T>): void {
  const file = process.argv[3]!;
  process.on('message', async (inputs: readonly Uint8Array[]) => {
    const outcomes = openSync(file, 'w');
    // Written at once, because the next input may end the process.
    for (const input of inputs) {
      const outcome = await run(Buffer.from(input));
      writeSync(outcomes, `${JSON.stringify(outcome)}\n`);
    }
    closeSync(outcomes);
    process.send!('done');
  });
  process.send!('open');
}
