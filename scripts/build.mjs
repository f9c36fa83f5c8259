/**
 * Builds dist/ if something that the build reads is newer, or if nothing is built: the program with tsc, and meanwhile
 * the page with Vite. Types are checked by `npm run typecheck`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SOURCES = [
  'src',
  'web',
  'scripts',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
];
/** Written last, so that a build that was cut off is not taken for one. */
const BUILT = join(ROOT, 'dist/built');
const STEPS = [
  ['typescript/bin/tsc', '-p', 'tsconfig.build.json'],
  ['vite/bin/vite.js', 'build', 'web'],
];

/** A folder's own time tells of files that were removed. */
function newestMs(path) {
  const facts = statSync(path);
  if (!facts.isDirectory()) return facts.mtimeMs;
  return Math.max(facts.mtimeMs, ...readdirSync(path).map((name) => newestMs(join(path, name))));
}

async function run([program, ...options]) {
  const path = join(ROOT, 'node_modules', program);
  const child = spawn(process.execPath, [path, ...options], { cwd: ROOT, stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  return code === 0;
}

const sourcesMs = Math.max(...SOURCES.map((name) => newestMs(join(ROOT, name))));
if (!existsSync(BUILT) || statSync(BUILT).mtimeMs < sourcesMs) {
  // Files of sources that are gone must not stay.
  rmSync(join(ROOT, 'dist'), { recursive: true, force: true });
  const areDone = await Promise.all(STEPS.map(run));
  if (areDone.every(Boolean)) writeFileSync(BUILT, '');
  else process.exitCode = 1;
}
