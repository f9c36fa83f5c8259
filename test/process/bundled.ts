/** Sources bundled as the build bundles the program: they start threads. */
import { ROOT } from '../repo/source-tree.ts';

const SCRIPT = new URL('../../scripts/bundle.mjs', import.meta.url).href;

/** @returns the URL of an entry's file by its name, such as `open` of `ledger/open.ts` */
export async function bundled(entries: readonly string[]): Promise<(name: string) => string> {
  const { bundleForNow } = (await import(SCRIPT)) as {
    bundleForNow(root: string, entries: readonly string[]): Promise<(name: string) => string>;
  };
  return await bundleForNow(ROOT, entries);
}
