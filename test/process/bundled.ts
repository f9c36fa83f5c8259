/** Bundles sources as the build bundles the program, because only bundles can start threads. */
import { rmSync } from 'node:fs';
import { afterAll } from 'vitest';
import { ROOT } from '../repo/source-tree.ts';

const SCRIPT = new URL('../../scripts/bundle.mjs', import.meta.url).href;

/** @returns a function from an entry's name, such as `open` for `ledger/open.ts`, to its file's URL */
export async function bundled(entries: readonly string[]): Promise<(name: string) => string> {
  const { bundleForNow } = (await import(SCRIPT)) as {
    bundleForNow(root: string, entries: readonly string[]): Promise<(name: string) => string>;
  };
  const fileOf = await bundleForNow(ROOT, entries);
  // Test processes may be killed before they clean up.
  afterAll(() => rmSync(new URL('.', fileOf('any')), { recursive: true, force: true }));
  return fileOf;
}
