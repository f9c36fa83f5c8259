/**
 * Builds dist/ if something that the build reads is newer, or if something is missing: the program, the page and GraphiQL with Vite,
 * the default genesis and an empty database with the sources of the program, and type declarations with tsc where it is
 * installed (scripts/install-tools.mjs). Types are checked by `npm run typecheck`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildDefaultGenesis, DEFAULT_GENESIS } from './build-genesis.mjs';
import { buildEmptyDatabase, emptyDatabaseBefore } from './build-indexer.mjs';
import { copyCommonJsTypes } from './commonjs-types.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SOURCES = [
  'src',
  'web',
  'scripts',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
];
const COMPILER = join(ROOT, 'node_modules/typescript/bin/tsc');
const DIST = join(ROOT, 'dist');
/** What applications import. */
const LIBRARY = ['encoding.ts', 'index.ts'];
/** What commands, applications, threads and processes begin with: one file each, and files for what they share. */
const ENTRIES = [
  ...LIBRARY,
  'cli/main.ts',
  'indexer/database/embedded-thread.ts',
  'ingest/feed/verifier-worker.ts',
  'node/execution/execution-worker.ts',
  'node/indexer/indexing-thread.ts',
  'node/indexer/reading-thread.ts',
  'node/serve/cluster/worker.ts',
  'node/verification/versions-worker.ts',
  'store/sqlite/commit-worker.ts',
];
/** Written last, so that a build that was cut off is not taken for one. */
const BUILT = join(DIST, 'built');
const BUILT_TYPES = join(DIST, 'built-types');

/** A folder's own time tells of files that were removed. */
function newestMs(path) {
  const facts = statSync(path);
  if (!facts.isDirectory()) return facts.mtimeMs;
  return Math.max(facts.mtimeMs, ...readdirSync(path).map((name) => newestMs(join(path, name))));
}

/** A mark is as old as the newest source that was read: what changes during a build is built by the next one. */
function mark(path) {
  writeFileSync(path, '');
  utimesSync(path, sourcesMs / 1_000, sourcesMs / 1_000);
}

async function buildTypes() {
  const options = { cwd: ROOT, stdio: 'inherit' };
  const [code] = await once(
    spawn(process.execPath, [COMPILER, '-p', 'tsconfig.build.json'], options),
    'exit',
  );
  if (code !== 0) throw new Error('tsc failed');
  copyCommonJsTypes(DIST, LIBRARY);
  mark(BUILT_TYPES);
}

const sourcesMs = Math.max(...SOURCES.map((name) => newestMs(join(ROOT, name))));
const isOld = (mark) => !existsSync(mark) || statSync(mark).mtimeMs < Math.floor(sourcesMs);
const isBuilt = !isOld(BUILT);
const work = [];
const database = emptyDatabaseBefore();
// Files of sources that are gone must not stay.
if (!isBuilt) rmSync(DIST, { recursive: true, force: true });
if (existsSync(COMPILER) && isOld(BUILT_TYPES)) work.push(buildTypes());
if (!isBuilt) {
  mkdirSync(DIST, { recursive: true });
  const { build } = await import('vite');
  const { bundle, bundleCommonJs } = await import('./bundle.mjs');
  work.push(
    bundle(ROOT, DIST, ENTRIES),
    bundleCommonJs(ROOT, DIST, LIBRARY),
    buildDefaultGenesis(),
    buildEmptyDatabase(database),
    build({ root: join(ROOT, 'web') }),
    build({ root: join(ROOT, 'web/graphiql') }),
  );
} else if (!existsSync(DEFAULT_GENESIS)) {
  // What it is made of was not installed before.
  work.push(buildDefaultGenesis());
}
await Promise.all(work);
if (!isBuilt) mark(BUILT);
