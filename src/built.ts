/** Files that the build writes next to the program: bundled threads and workers, the page, the default genesis. */

/**
 * Whether this is the built program. Node 20 cannot run TypeScript, so unbuilt sources, as in tests, start no threads.
 */
export const IS_BUILT = /\.c?js$/.test(import.meta.url);

const DIST = new URL(IS_BUILT ? './' : '../dist/', import.meta.url);

/** @param path relative to `dist/`, which directly contains all code of the program */
export function builtFile(path: string): URL {
  return new URL(path, DIST);
}
