/** A global setup of vitest: a folder for the sample ledgers that all tests of a run share (makeSample). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    readonly samplesFolder: string;
  }
}

export default function setUp({ provide }: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-samples-'));
  provide('samplesFolder', folder);
  return () => rmSync(folder, { recursive: true });
}
