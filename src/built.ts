/** The files that the build makes beside the program: bundled threads and workers, the page, the default genesis. */

/**
 * Whether this is the built program. Node 20 runs no TypeScript, so sources, in tests, start no thread of their own.
 */
export const IS_BUILT = /\.c?js$/.test(import.meta.url);

const DIST = new URL(IS_BUILT ? './' : '../dist/', import.meta.url);

/** @param path below `dist/`, where all code of the program is in files of one folder */
export function builtFile(path: string): URL {
  return new URL(path, DIST);
}
