/**
 * Installs the packages that only tests, lint and benchmarks need (test/tools/package.json), if they are missing. `npm
 * ci` leaves them out (.npmrc), so that `npm ci && npm start` is fast.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = new URL('..', import.meta.url);
const readJson = (path) => JSON.parse(readFileSync(new URL(path, ROOT), 'utf8'));

// Packages for the build are installed by `npm ci`, but may be outdated if package.json has changed since.
const needed = ['package.json', 'test/tools/package.json'].flatMap((path) =>
  Object.entries(readJson(path).devDependencies),
);
const isInstalled = ([name, version]) => {
  const path = `node_modules/${name}/package.json`;
  return existsSync(new URL(path, ROOT)) && readJson(path).version === version;
};

if (!needed.every(isInstalled)) {
  const command = 'npm install --no-save --workspaces --include-workspace-root';
  const { status } = spawnSync(command, {
    cwd: fileURLToPath(ROOT),
    shell: true,
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
}
