/** scripts/build.mjs builds only when necessary: in a project of one file, with stand-ins for Vite and the compiler. */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
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
const BUNDLER = 'node_modules/vite/index.js';

const BUNDLER_STAND_IN = `
  import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
  export const transformWithOxc = undefined;
  export const build = async ({ build, root }) => {
    mkdirSync('dist', { recursive: true });
    const page = root?.endsWith('graphiql') ? 'graphiql.html' : 'page.html';
    const { format = 'es' } = build?.rolldownOptions.output ?? {};
    const made = build?.ssr ? { es: 'main.js', cjs: 'index.cjs' }[format] : page;
    writeFileSync('dist/' + made, '');
    appendFileSync('steps', made + ' ');
  };
`;
const COMPILER_STAND_IN = `
  const { appendFileSync, mkdirSync, writeFileSync } = require('node:fs');
  mkdirSync('dist', { recursive: true });
  writeFileSync('dist/encoding.d.ts', '');
  writeFileSync('dist/index.d.ts', "import type { One } from './deep/one.ts';");
  mkdirSync('dist/deep', { recursive: true });
  writeFileSync('dist/deep/one.d.ts', 'export type One = 1;');
  appendFileSync('steps', 'types ');
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

  /** Runs a build and returns its steps. */
  function build(): string {
    const steps = write('steps', '');
    execFileSync('node', ['scripts/build.mjs'], { cwd: folder, stdio: 'pipe' });
    return readFileSync(steps, 'utf8').trim().split(' ').sort().join(' ');
  }

  beforeEach(() => {
    folder = temporaryFolder();
    for (const name of ['package-lock.json', 'tsconfig.json', 'tsconfig.build.json']) {
      write(name, '{}');
    }
    write('web/page.ts', '');
    source = write('src/deep/one.ts', 'const one = 1;');
    write('node_modules/vite/package.json', '{ "type": "module", "exports": "./index.js" }');
    write(BUNDLER, BUNDLER_STAND_IN);
    write(COMPILER, COMPILER_STAND_IN);
    cpSync(join(ROOT, 'scripts'), join(folder, 'scripts'), { recursive: true });
  });

  it('makes what is missing or older than its sources, and nothing else', () => {
    expect(build()).toBe('graphiql.html index.cjs main.js page.html types');
    expect(build()).toBe('');
    const later = Date.now() / 1_000 + 60;
    utimesSync(source, later, later);
    expect(build()).toBe('graphiql.html index.cjs main.js page.html types');
    const longAgo = 1_000_000_000;
    utimesSync(source, longAgo, longAgo);
    expect(build()).toBe('');
    rmSync(join(folder, 'dist'), { recursive: true });
    expect(build()).toBe('graphiql.html index.cjs main.js page.html types');
  });

  it('leaves nothing of sources that are gone', () => {
    write('dist/gone.js', '');
    build();
    expect(readdirSync(join(folder, 'dist')).sort()).toEqual([
      'built',
      'built-types',
      'commonjs',
      'deep',
      'encoding.d.ts',
      'graphiql.html',
      'index.cjs',
      'index.d.ts',
      'main.js',
      'page.html',
    ]);
  });

  it('needs no compiler, and adds the types when there is one', () => {
    rmSync(join(folder, COMPILER));
    expect(build()).toBe('graphiql.html index.cjs main.js page.html');
    expect(build()).toBe('');
    write(COMPILER, COMPILER_STAND_IN);
    expect(build()).toBe('types');
    expect(build()).toBe('');
  });

  it.each([
    [COMPILER, 'process.exitCode = 1'],
    [BUNDLER, 'export const build = async () => { throw new Error(); }'],
  ])('fails, and is made again, when %s fails', (program, bad) => {
    const good = readFileSync(join(folder, program), 'utf8');
    write(program, bad);
    expect(() => build()).toThrow();
    expect(() => build()).toThrow();
    write(program, good);
    expect(build()).toContain('page.html');
    expect(existsSync(join(folder, 'dist/commonjs/deep/one.d.ts'))).toBe(true);
    expect(build()).toBe('');
  });
});

it('is what npm start runs first, and installing does not build', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  expect(scripts.prestart).toBe('node scripts/build.mjs');
  expect(Object.keys(scripts)).not.toContain('prepare');
});
