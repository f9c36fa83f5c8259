/** `daybook/encoding` on its own: the built files without Node, and unbundled in a browser. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeSubmission, encodeSubmission } from '../../src/encoding.ts';
import type { CompiledModule } from '../../src/move/modules/compiled.ts';
import type { ModuleLookup } from '../../src/move/modules/lookup.ts';
import { ledgerOf } from '../ledger/encode-modules.ts';
import { writeModule } from '../move/modules/write-module.ts';
import { OLD_FRAMEWORK } from '../move/values/layout-modules.ts';
import { ROOT } from '../repo/source-tree.ts';
import { hasBrowser, launchBrowser, WatchingBrowser } from './page-browser.ts';

const DIST = join(ROOT, 'dist');
const IMPORT =
  /^(?:import|export)\b(?:[^'"=]*\bfrom)?\s*['"]([^'"]+)['"]|\bimport\(['"]([^'"]+)['"]\)/gm;

/** Packages in plain JavaScript, which keys and points of encrypted payloads need. */
const PORTABLE_PACKAGE = /^@noble\//;

interface Graph {
  readonly files: Set<string>;
  /** By the name in a file's import, of a package or of Node. */
  readonly packages: Map<string, string>;
}

/** Everything that a built file loads. */
function graphOf(entry: string): Graph {
  const files = new Set<string>();
  const packages = new Map<string, string>();
  const visit = (path: string): void => {
    if (files.has(path)) return;
    files.add(path);
    for (const [, always, later] of readFileSync(path, 'utf8').matchAll(IMPORT)) {
      const target = (always ?? later)!;
      if (target.startsWith('.')) visit(join(dirname(path), target));
      else {
        packages.set(target, createRequire(path).resolve(target));
        if (PORTABLE_PACKAGE.test(target)) visit(packages.get(target)!);
      }
    }
  };
  visit(join(DIST, entry));
  return { files, packages };
}

interface Vector {
  readonly name: string;
  readonly chain_id: number;
  readonly function_params: readonly string[];
  readonly request: Parameters<typeof encodeSubmission>[0] & {
    readonly payload: {
      readonly function?: string;
      readonly type_arguments?: readonly string[];
      readonly transaction_payload?: { readonly function: string };
    };
  };
  readonly signing_message: string;
}

const vectors = JSON.parse(
  readFileSync(join(ROOT, 'test/fixtures/encode-vectors.json'), 'utf8'),
) as Vector[];

function lookupOf({ request, function_params: parameters }: Vector): ModuleLookup {
  const { payload } = request;
  const path = payload.function ?? payload.transaction_payload?.function;
  if (path === undefined) return () => undefined;
  const typeParameters = payload.type_arguments?.length ?? 0;
  return ledgerOf({ [path]: { parameters, typeParameters } }, OLD_FRAMEWORK);
}

/** The bytes of all modules that encoding and decoding a vector requests, and the results in Node. */
async function inNode(vector: Vector) {
  const lookup = lookupOf(vector);
  const modules = new Map<string, CompiledModule>();
  const lookupModule: ModuleLookup = (id) => {
    const module = lookup(id) as CompiledModule | undefined;
    if (module !== undefined) modules.set(`${id.address}::${id.name}`, module);
    return module;
  };
  const context = { chainId: vector.chain_id, lookupModule };
  const message = Buffer.from(await encodeSubmission(vector.request, context));
  expect(`0x${message.toString('hex')}`).toBe(vector.signing_message);
  const decoded = await decodeSubmission(message, context);
  return {
    modules: [...modules.values()].map((module) => [...writeModule(module)]),
    chainId: vector.chain_id,
    request: vector.request,
    message: [...message],
    decoded: shown(decoded),
  };
}

function shown(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'bigint' ? String(member) : member,
  );
}

/** A policy without `wasm-unsafe-eval`, like that of a browser extension; the nonce is for the import map. */
const POLICY = "default-src 'none'; script-src 'self' 'nonce-test'";
const SCRIPT = readFileSync(new URL('encoding-in-browser.mjs', import.meta.url));

/** A page that loads the files unbundled; an import map replaces the bundler. */
function servedPage(): string {
  const urls = [...graphOf('encoding.js').packages].map(([name, path]) => {
    const place = path.slice(path.indexOf('node_modules/'));
    return [name, `/${place}`];
  });
  const map = JSON.stringify({ imports: Object.fromEntries(urls) });
  return `<!doctype html><title>empty</title>
    <script type="importmap" nonce="test">${map}</script>
    <script type="module" src="/test.js"></script>`;
}

function serveDist(): Server {
  return createServer(({ url }, response) => {
    response.setHeader('content-security-policy', POLICY);
    if (url === '/') {
      response.setHeader('content-type', 'text/html').end(servedPage());
      return;
    }
    const folder = url!.startsWith('/node_modules/') ? ROOT : DIST;
    const body = url === '/test.js' ? SCRIPT : readFileSync(join(folder, url!));
    response.setHeader('content-type', 'text/javascript').end(body);
  });
}

describe('daybook/encoding', () => {
  it('loads nothing of Node, and no package but portable ones', () => {
    const { files, packages } = graphOf('encoding.js');
    expect(files.size).toBeGreaterThan(10);
    const others = [...packages.keys()].filter((name) => !PORTABLE_PACKAGE.test(name));
    expect(others).toEqual([]);
    expect([...graphOf('index.js').packages.keys()]).toContain('@photostructure/sqlite');
  });

  it('has the package name that the docs use', async () => {
    const text = "console.log(Object.keys(await import('daybook/encoding')).join(' '))";
    const args = ['--input-type=module', '--eval', text];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT });
    expect(stdout.trim().split(' ')).toContain('decodeSubmission');
    expect(stdout).not.toContain('startNode');
  });
});

describe.skipIf(!hasBrowser)('daybook/encoding in a browser (needs Chromium)', () => {
  const server = serveDist();
  let browser: WatchingBrowser;

  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    browser = new WatchingBrowser(await launchBrowser(), `http://127.0.0.1:${port}`);
  });

  afterAll(async () => {
    await browser.close();
    server.close();
    server.closeAllConnections();
  });

  it('encodes and decodes the vectors as Node does', async () => {
    const cases = await Promise.all(vectors.map(inNode));
    const { page, offences } = await browser.open('/');
    const results = await page.evaluate(`resultsOf(${JSON.stringify(cases)})`);
    expect(results).toEqual(cases.map(({ message, decoded }) => ({ message, decoded })));
    expect(offences).toEqual([]);
    expect(vectors.length).toBe(15);
  });

  it('refuses with the same codes', async () => {
    const { page, offences } = await browser.open('/');
    const codes = await page.evaluate('refusals()');
    expect(codes).toEqual(['json_syntax', 'bad_hex', 'unknown_domain', 'bad_magic']);
    expect(offences).toEqual([]);
  });
});
