/**
 * Builds dist/ if one of its inputs is newer, or if something is missing: the program, the page and GraphiQL with Vite,
 * the default genesis and an empty database with the program's sources, and type declarations with tsc if it is
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
/** Entry points that applications import. */
const LIBRARY = ['encoding.ts', 'index.ts'];
/** Entry points of commands, applications, threads and processes: one file each, plus files for shared code. */
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
/** Written last, so that an interrupted build is not mistaken for a complete one. */
const BUILT = join(DIST, 'built');
const BUILT_TYPES = join(DIST, 'built-types');

/** A folder's own modification time reveals removed files. */
function newestMs(path) {
  const facts = statSync(path);
  if (!facts.isDirectory()) return facts.mtimeMs;
  return Math.max(facts.mtimeMs, ...readdirSync(path).map((name) => newestMs(join(path, name))));
}

/** A mark is as old as the newest source read, so that the next build picks up changes made during this one. */
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
// Removes files whose sources no longer exist.
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
  // Its package was not installed at the last build.
  work.push(buildDefaultGenesis());
}
await Promise.all(work);
if (!isBuilt) mark(BUILT);
