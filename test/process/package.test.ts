/** The package as published: packed, unpacked into a project, and used in every way that a project can. */
import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { runInNewContext } from 'node:vm';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import { build, type Rolldown } from 'vite';
import { beforeAll, describe, expect, it } from 'vitest';
import { encodeSubmission, modulesFrom } from '../../src/encoding.ts';
import { GOOD_REQUEST } from '../api/hostile-bodies.ts';
import { hostileModules } from '../api/hostile-modules.ts';
import { CHAIN_ID } from '../api/module-ledger.ts';
import { ROOT } from '../repo/source-tree.ts';
import { temporaryFolder } from './command.ts';
import { digestsOf } from './ledger-contents.ts';

const run = promisify(execFile);

interface Manifest {
  readonly private?: boolean;
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly main: string;
  readonly types: string;
}

/** A project without a module type, with the package installed. */
let project: string;
let installed: string;
let manifest: Manifest;

/** Packs a copy of this checkout, so that tests of other files do not see the files that packing adds. */
async function pack(): Promise<string> {
  const folder = temporaryFolder();
  const names = readdirSync(ROOT).filter(
    (name) => !/^(?:\.git|node_modules|bench|\.ci)$/.test(name),
  );
  for (const name of names) {
    cpSync(join(ROOT, name), join(folder, name), { recursive: true, preserveTimestamps: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  await run('npm', ['pack', '--offline', '--pack-destination', folder], { cwd: folder });
  return join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz'))!);
}

function link(name: string): void {
  const path = join(project, 'node_modules', name);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules', name), path);
}

beforeAll(async () => {
  project = temporaryFolder();
  installed = join(project, 'node_modules/daybook');
  mkdirSync(installed, { recursive: true });
  await run('tar', ['-xzf', await pack(), '--strip-components=1', '-C', installed]);
  manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  for (const name of Object.keys(manifest.dependencies)) link(name);
  writeFileSync(join(project, 'package.json'), '{}');
}, 300_000);

/** Runs the package's program in the project. */
async function daybook(...args: string[]) {
  const program = join(installed, 'bin/daybook');
  const options = { cwd: project, env: { PATH: process.env.PATH, NODE_ENV: 'production' } };
  return await run(process.execPath, [program, ...args], options).catch(
    (error: { code: number; stdout: string; stderr: string }) => error,
  );
}

/** The output of a module that is run in the project. */
async function printed(file: string, text: string): Promise<string> {
  writeFileSync(join(project, file), text);
  const { stdout, stderr } = await run(process.execPath, [file], { cwd: project });
  expect(stderr).toBe('');
  return stdout.trim();
}

describe('the package', () => {
  it('can be published, and installing it runs nothing', () => {
    expect(manifest.private).toBeUndefined();
    for (const name of ['prepare', 'preinstall', 'install', 'postinstall']) {
      expect(manifest.scripts).not.toHaveProperty(name);
    }
  });

  it('has documents, program and page, and nothing that only development needs', () => {
    const files = readdirSync(installed, { recursive: true }).map(String);
    const top = readdirSync(installed).sort();
    expect(top.filter((name) => !name.endsWith('.md'))).toEqual([
      'LICENSE',
      'bin',
      'dist',
      'docs',
      'package.json',
    ]);
    expect(files).toEqual(
      expect.arrayContaining(['README.md', 'CHANGELOG.md', 'docs/api.md', 'dist/web/index.html']),
    );
    expect(files.filter((name) => /\.map$|(?<!\.d)\.ts$|^dist\/built$/.test(name))).toEqual([]);
  });

  it('has every file that its README links to', () => {
    const text = readFileSync(join(installed, 'README.md'), 'utf8');
    const targets = [...text.matchAll(/\]\(([^)#:]+)\)/g)].map(([, target]) => target!);
    expect(targets).toContain('docs/api.md');
    expect(targets.filter((target) => !existsSync(join(installed, target)))).toEqual([]);
  });

  it('runs its program', async () => {
    expect((await daybook('--help')).stdout).toContain('daybook serve');
  });
});

describe('every export', () => {
  const NAMES = ['daybook', 'daybook/encoding'];

  it('has its files', () => {
    expect(Object.keys(manifest.exports)).toEqual(['.', './encoding', './package.json']);
    const text = JSON.stringify([manifest.exports, manifest.main, manifest.types]);
    const files = [...text.matchAll(/"(\.\/dist[^"]*)"/g)].map(([, file]) => file!);
    expect(files).toHaveLength(10);
    for (const file of files) {
      expect(existsSync(join(installed, file)), file).toBe(true);
    }
  });

  it.each(NAMES)('%s is the same for import and require', async (name) => {
    const own = await import(name === 'daybook' ? '../../src/index.ts' : '../../src/encoding.ts');
    const names = Object.keys(own).sort();
    const imported = `import * as all from '${name}'; console.log(Object.keys(all).sort().join());`;
    expect(await printed('imported.mjs', imported)).toBe(names.join());
    const required = `const all = require('${name}'); console.log(Object.keys(all).sort().join());`;
    expect(await printed('required.cjs', required)).toBe(names.join());
  });

  it('runs where no module can be loaded, as in tests of Jest', async () => {
    const text = `require('daybook').startNode().then(async (node) => {
      console.log((await fetch(node.url)).status);
      await node.stop();
    });`;
    writeFileSync(join(project, 'started.cjs'), text);
    const options = { cwd: project };
    const args = ['--no-experimental-require-module', 'started.cjs'];
    expect((await run(process.execPath, args, options)).stdout).toBe('200\n');
    const files = readdirSync(join(installed, 'dist')).filter((name) => name.endsWith('.cjs'));
    expect(files.length).toBeGreaterThan(2);
    for (const file of files) {
      expect(readFileSync(join(installed, 'dist', file), 'utf8'), file).not.toMatch(/\bimport\(/);
    }
  });

  it.each([
    ['nodenext', 'nodenext', 'mts'],
    ['nodenext', 'nodenext', 'cts'],
    ['node16', 'node16', 'cts'],
    ['esnext', 'bundler', 'ts'],
    ['preserve', 'bundler', 'ts'],
  ])('has types: module %s, resolution %s, in a .%s file', async (module, resolution, ending) => {
    const code = `
      import { encodeSubmission as same, startNode } from 'daybook';
      import { encodeSubmission, type SubmissionRequest } from 'daybook/encoding';
      const node: Promise<{ readonly url: string }> = startNode();
      const encode: typeof same = encodeSubmission;
      // @ts-expect-error not a request
      const request: SubmissionRequest = {};
      export const all = [node, encode, request];`;
    const folder = join(project, `types-${module}-${resolution}-${ending}`);
    mkdirSync(folder);
    writeFileSync(join(folder, `module.${ending}`), code);
    const compilerOptions = {
      target: 'ES2023',
      module,
      moduleResolution: resolution,
      strict: true,
      noEmit: true,
      // A project without Node's types.
      types: [],
      skipLibCheck: true,
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
    const { stdout } = await run(process.execPath, [compiler, '-p', folder]).catch(
      (error) => error,
    );
    expect(stdout).toBe('');
  });

  it('daybook/encoding can be bundled for a browser', async () => {
    const modules = hostileModules().map((bytes) => [...bytes]);
    writeFileSync(
      join(project, 'page.js'),
      `import { encodeSubmission, modulesFrom } from 'daybook/encoding';
      const modules = ${JSON.stringify(modules)}.map((bytes) => Uint8Array.from(bytes));
      const context = { chainId: ${CHAIN_ID}, lookupModule: modulesFrom(modules) };
      globalThis.answer = encodeSubmission(${JSON.stringify(GOOD_REQUEST)}, context);`,
    );
    const built = await build({
      root: project,
      configFile: false,
      logLevel: 'error',
      build: {
        write: false,
        target: 'es2023',
        rolldownOptions: { input: join(project, 'page.js'), output: { format: 'iife' } },
      },
    });
    const { output } = [built].flat()[0] as Rolldown.RolldownOutput;
    expect(output).toHaveLength(1);
    const { code, imports } = output[0];
    expect(imports).toEqual([]);
    // A browser's globals, and none of Node's.
    const page = { TextDecoder, TextEncoder, answer: undefined as unknown };
    runInNewContext(code, page);
    const lookupModule = modulesFrom(modules.map((bytes) => Uint8Array.from(bytes)));
    const expected = await encodeSubmission(JSON.stringify(GOOD_REQUEST), {
      chainId: CHAIN_ID,
      lookupModule,
    });
    expect([...((await page.answer) as Uint8Array)]).toEqual([...expected]);
  });
});

describe('the sample ledger that the package brings', () => {
  const DIGEST_BYTES = 32;
  let file: string;
  let good: Buffer;

  beforeAll(() => {
    const names = readdirSync(join(installed, 'dist/samples'));
    expect(names).toHaveLength(1);
    file = join(installed, 'dist/samples', names[0]!);
    good = readFileSync(file);
  });

  const dataFile = (folder: string) => readFileSync(join(project, folder, 'ledger.db'));

  it('is what a start makes, and holds', async () => {
    const cache = join(project, 'cache');
    mkdirSync(cache);
    const started = `
      import { startNode } from 'daybook';
      const node = await startNode({ cacheFolder: 'cache' });
      console.log((await (await fetch(node.url)).json()).ledger_version);
      await node.stop();`;
    expect(await printed('start.mjs', started)).toBe('1022');
    const [cached] = readdirSync(cache);
    expect(readdirSync(cache)).toHaveLength(1);
    const brought = brotliDecompressSync(good.subarray(DIGEST_BYTES));
    expect(dataFile(join('cache', cached!)).equals(brought)).toBe(true);
    await daybook('sample', '--data', 'same');
    expect(dataFile('same').equals(brought)).toBe(true);
    await daybook('sample', '--data', 'other', '--seed', '2');
    expect(dataFile('other').equals(brought)).toBe(false);
  });

  it('is the one that is generated without it', async () => {
    // A sample of another format or generator has another name.
    const other = file.replace(/-ledger-\d+-/, '-ledger-0-');
    writeFileSync(other, good);
    rmSync(file);
    try {
      const { stdout } = await daybook('sample', '--data', 'generated', '--json');
      expect(JSON.parse(stdout)).toMatchObject({ ledger_version: '1022' });
    } finally {
      writeFileSync(file, good);
      rmSync(other);
    }
    const verified = JSON.parse((await daybook('verify', '--data', 'same', '--json')).stdout);
    expect(verified.holds).toBe(true);
    expect(await digestsOf(join(project, 'generated'))).toEqual(
      await digestsOf(join(project, 'same')),
    );
  });

  const garbage = brotliCompressSync('not a ledger');
  it.each([
    ['cut short', () => good.subarray(0, good.length / 2), 'it does not have its digest'],
    ['empty', () => Buffer.alloc(0), 'it does not have its digest'],
    ['changed', () => Buffer.concat([good.subarray(0, -1), Buffer.of(0xff)]), 'its digest'],
    ['without its beginning', () => garbage, 'its digest'],
  ])('is refused when it is %s', async (_how, bytes, problem) => {
    writeFileSync(file, bytes());
    try {
      const failed = await daybook('sample', '--data', 'refused');
      expect(failed).toMatchObject({ code: 1, stdout: '' });
      expect(failed.stderr).toMatch(/^daybook: the sample ledger .* is damaged \(.*\): [^\n]+\n$/);
      expect(failed.stderr).toContain(problem);
      expect(existsSync(join(project, 'refused'))).toBe(false);
    } finally {
      writeFileSync(file, good);
    }
  });
});
