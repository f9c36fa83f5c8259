/** Builds if something that the build reads is newer than what it wrote, or if nothing is built: for `npm start`. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SOURCES = ['src', 'web', 'tsconfig.json', 'tsconfig.build.json'];
/** Written by the last step of the build. */
const BUILT = join(ROOT, 'dist/web/swagger-ui/swagger-ui-bundle.js');

/** A folder's own time tells of files that were removed. */
function newestMs(path) {
  const facts = statSync(path);
  if (!facts.isDirectory()) return facts.mtimeMs;
  return Math.max(facts.mtimeMs, ...readdirSync(path).map((name) => newestMs(join(path, name))));
}

const sourcesMs = Math.max(...SOURCES.map((name) => newestMs(join(ROOT, name))));
if (!existsSync(BUILT) || statSync(BUILT).mtimeMs < sourcesMs) {
  const { status } = spawnSync('npm run build', { cwd: ROOT, shell: true, stdio: 'inherit' });
  process.exitCode = status ?? 1;
}
