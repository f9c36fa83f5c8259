/** Builds the small sample ledger for the package, because generating it takes longer than the rest of a start. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import './run-typescript.mjs';

const { copyLedger } = await import('../src/node/commands/copy.ts');
const { writePrebuiltSample } = await import('../src/node/prebuilt-sample.ts');
const { makeSample, SMALL_SAMPLE } = await import('../src/node/sample.ts');

rmSync(new URL('../dist/samples', import.meta.url), { recursive: true, force: true });
const folder = mkdtempSync(join(tmpdir(), 'daybook-prebuilt-'));
try {
  await makeSample(join(folder, 'made'), SMALL_SAMPLE);
  // The copy has no free pages.
  await copyLedger(join(folder, 'made'), join(folder, 'copy'), () => undefined);
  await writePrebuiltSample(SMALL_SAMPLE, readFileSync(join(folder, 'copy/ledger.db')));
} finally {
  rmSync(folder, { recursive: true });
}
