/** scripts/build.mjs builds when that is needed: in a project of one file, with stand-ins for compiler and bundler. */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { ROOT } from '../repo/source-tree.ts';
import { temporaryFolder } from './command.ts';

const COMPILER = 'node_modules/typescript/bin/tsc';
const BUNDLER = 'node_modules/vite/bin/vite.js';

/** Stands for a step: makes its file, and says so. */
const step = (file: string): string => `
  const { mkdirSync, writeFileSync } = require('node:fs');
  mkdirSync('dist', { recursive: true });
  writeFileSync('dist/${file}', '');
  writeFileSync('was-built', '');
`;

describe('the build', () => {
  let folder: string;
  let source: string;

  function write(path: string, text: string): string {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  }

  /** Whether the steps ran. */
  function builds(): boolean {
    rmSync(join(folder, 'was-built'), { force: true });
    execFileSync('node', ['scripts/build.mjs'], { cwd: folder, stdio: 'pipe' });
    return existsSync(join(folder, 'was-built'));
  }

  beforeEach(() => {
    folder = temporaryFolder();
    for (const name of ['package-lock.json', 'tsconfig.json', 'tsconfig.build.json']) {
      write(name, '{}');
    }
    write('web/page.ts', '');
    source = write('src/deep/one.ts', '');
    write(COMPILER, step('one.js'));
    write(BUNDLER, step('page.html'));
    cpSync(join(ROOT, 'scripts'), join(folder, 'scripts'), { recursive: true });
  });

  it('makes what is missing or older than its sources, and nothing else', () => {
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

  it('leaves nothing of sources that are gone', () => {
    write('dist/gone.js', '');
    expect(builds()).toBe(true);
    expect(existsSync(join(folder, 'dist/gone.js'))).toBe(false);
    expect(existsSync(join(folder, 'dist/one.js'))).toBe(true);
    expect(existsSync(join(folder, 'dist/page.html'))).toBe(true);
  });

  it.each([COMPILER, BUNDLER])('fails, and is made again, when %s fails', (program) => {
    const good = readFileSync(join(folder, program), 'utf8');
    write(program, 'process.exitCode = 1');
    expect(() => builds()).toThrow();
    expect(() => builds()).toThrow();
    write(program, good);
    expect(builds()).toBe(true);
    expect(builds()).toBe(false);
  });
});

it('is what npm start runs first, and installing does not build', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  expect(scripts.prestart).toBe('node scripts/build.mjs');
  expect(Object.keys(scripts)).not.toContain('prepare');
});
