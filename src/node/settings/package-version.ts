/** This package's version, from package.json. */
import { readFileSync } from 'node:fs';

/** E.g. `0.1.0`. */
export function packageVersion(): string {
  // dist/node/ and src/node/ lie equally deep below the package's root.
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
