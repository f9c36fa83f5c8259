/** `npm start` builds when that is needed: scripts/build-if-older.mjs in a project of one file. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../repo/source-tree.ts';
import { temporaryFolder } from './command.ts';

/** Stands for the build: makes its last file, and says so. */
const BUILD = `
  const { mkdirSync, writeFileSync } = require('node:fs');
  mkdirSync('dist/web/swagger-ui', { recursive: true });
  writeFileSync('dist/web/swagger-ui/swagger-ui-bundle.js', '');
  writeFileSync('was-built', '');
`;

it('builds what is missing or older than its sources, and nothing else', () => {
  const folder = temporaryFolder();
  const scripts = { build: 'node build.cjs', prestart: 'node scripts/build-if-older.mjs' };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ scripts }));
  writeFileSync(join(folder, 'build.cjs'), BUILD);
  for (const name of ['tsconfig.json', 'tsconfig.build.json']) {
    writeFileSync(join(folder, name), '{}');
  }
  for (const name of ['src/deep', 'web']) mkdirSync(join(folder, name), { recursive: true });
  const source = join(folder, 'src/deep/one.ts');
  writeFileSync(source, '');
  cpSync(join(ROOT, 'scripts'), join(folder, 'scripts'), { recursive: true });
  const builds = (): boolean => {
    rmSync(join(folder, 'was-built'), { force: true });
    execFileSync('npm', ['run', 'prestart'], { cwd: folder, stdio: 'pipe' });
    return existsSync(join(folder, 'was-built'));
  };
  expect(builds()).toBe(true);
  expect(builds()).toBe(false);
  const later = Date.now() / 1_000 + 60;
  utimesSync(source, later, later);
  expect(builds()).toBe(true);
  const longAgo = 1_000_000_000;
  utimesSync(source, longAgo, longAgo);
  expect(builds()).toBe(false);
  rmSync(join(folder, 'dist'), { recursive: true });
  expect(builds()).toBe(true);
});

it('is what npm start runs first', () => {
  const text = execFileSync('npm', ['pkg', 'get', 'scripts.prestart'], { cwd: ROOT });
  expect(JSON.parse(text.toString())).toBe('node scripts/build-if-older.mjs');
});
