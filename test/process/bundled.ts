/** Sources bundled as the build bundles the program: they start threads. */
import { rmSync } from 'node:fs';
import { afterAll } from 'vitest';
import { ROOT } from '../repo/source-tree.ts';

const SCRIPT = new URL('../../scripts/bundle.mjs', import.meta.url).href;

/** @returns the URL of an entry's file by its name, such as `open` of `ledger/open.ts` */
export async function bundled(entries: readonly string[]): Promise<(name: string) => string> {
  const { bundleForNow } = (await import(SCRIPT)) as {
    bundleForNow(root: string, entries: readonly string[]): Promise<(name: string) => string>;
  };
  const fileOf = await bundleForNow(ROOT, entries);
  // Processes of tests may be ended before they clean up.
  afterAll(() => rmSync(new URL('.', fileOf('any')), { recursive: true, force: true }));
  return fileOf;
}
