/** Builds the files of the indexer's empty database with the program's sources, because creating them takes seconds. */
import './run-typescript.mjs';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';

const FILE = new URL('../dist/empty-database.tgz', import.meta.url);
const PACKAGES = new URL('../package-lock.json', import.meta.url);

/** The files of the previous build, if packages have not changed since. */
export function emptyDatabaseBefore() {
  const isNew = existsSync(FILE) && statSync(FILE).mtimeMs > statSync(PACKAGES).mtimeMs;
  return isNew ? readFileSync(FILE) : undefined;
}

export async function buildEmptyDatabase(before) {
  const session = new URL('../src/indexer/database/embedded-session.ts', import.meta.url);
  // Tests of the build use a program without an indexer.
  if (!existsSync(session)) return;
  writeFileSync(FILE, before ?? (await (await import(session)).emptyDatabase()));
}
