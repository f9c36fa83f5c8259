/** Makes the files of an empty database of the indexer with the sources of the program: making them takes seconds. */
import './run-typescript.mjs';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';

const FILE = new URL('../dist/empty-database.tgz', import.meta.url);
const PACKAGES = new URL('../package-lock.json', import.meta.url);

/** Those of the build before, if the packages are the same. */
export function emptyDatabaseBefore() {
  const isNew = existsSync(FILE) && statSync(FILE).mtimeMs > statSync(PACKAGES).mtimeMs;
  return isNew ? readFileSync(FILE) : undefined;
}

export async function buildEmptyDatabase(before) {
  const session = new URL('../src/indexer/database/embedded-session.ts', import.meta.url);
  // A program without an indexer, as in tests of the build.
  if (!existsSync(session)) return;
  writeFileSync(FILE, before ?? (await (await import(session)).emptyDatabase()));
}
