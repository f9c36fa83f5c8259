/**
 * The page's files over HTTP: exactly those of the build, with their types, tags and policies.
 * Needs `npm run build`.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PageFile, PageFilesError, readPageFiles } from '../../src/api/http/page-files.ts';
import { pageRoutes } from '../../src/api/http/page-paths.ts';
import type { TestApi } from '../api/client.ts';
import { withoutLedger } from '../api/error-answers.ts';

const DOCUMENTS = ['/', '/v1/spec'];

/** Path of the page's main script. */
function scriptPath(files: readonly PageFile[]): string {
  return files.find(({ path }) => /^\/page\/assets\/index-.*\.js$/.test(path))!.path;
}

describe('the page over HTTP', () => {
  let files: PageFile[];
  let app: TestApi;

  beforeAll(() => {
    files = readPageFiles();
    app = withoutLedger({}, files);
  });
  afterAll(() => app.close());

  it('serves the two documents, and every file that they and the modules name', async () => {
    const paths = new Set(files.map(({ path }) => path));
    for (const document of DOCUMENTS) {
      const { body, headers, statusCode } = await app.request(document);
      expect(statusCode).toBe(200);
      expect(headers['content-type']).toBe('text/html; charset=utf-8');
      const named = [...body.matchAll(/(?:src|href)="(\/page\/[^"]+)"/g)].map((match) => match[1]!);
      expect(named.length).toBeGreaterThan(3);
      expect(named.filter((path) => !paths.has(path))).toEqual([]);
      expect(body).not.toMatch(/<script(?![^>]*src=)|<style|\sstyle=|\son\w+=|https?:\/\//);
    }
  });

  it('says at which port an indexer answers, and may ask it', async () => {
    const facts = async (indexerPort: number | undefined) => {
      const api = withoutLedger({}, readPageFiles({ indexerPort }));
      const { body, headers } = await api.request('/');
      await api.close();
      const port = /<meta name="indexer-port" content="(\d+)">/.exec(body)?.[1];
      return { port, policy: String(headers['content-security-policy']) };
    };
    const { port, policy } = await facts(8090);
    expect(port).toBe('8090');
    expect(policy).toContain("connect-src 'self' http://*:8090 https://*:8090");
    const without = await facts(undefined);
    expect(without.port).toBe(undefined);
    expect(without.policy).not.toContain('connect-src');
  });

  it('says what the node is, and answers at every path of its views', async () => {
    const node = { isControlled: true, fork: { host: 'a"<&.example', version: '5' } };
    const api = withoutLedger({}, readPageFiles({ node }));
    const { body } = await api.request('/');
    const [, content] = /<meta name="node" content="([^"]*)">/.exec(body)!;
    const text = content!.replaceAll('&quot;', '"').replaceAll('&amp;', '&');
    expect(JSON.parse(text)).toEqual(node);
    for (const path of pageRoutes()) {
      const filled = path.replaceAll(/\{\w+\}/g, '0x1%3Cu8%3E');
      const answer = await api.request(`${filled}?network=mainnet`);
      expect([answer.statusCode, answer.body === body], path).toEqual([200, true]);
      expect((await api.request(`/v1${path}`)).body).not.toBe(body);
    }
    await api.close();
  });

  it('reads bytes and JSON without anything of Node', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'daybook-page-'));
    const sources = ['encoding/signing-message', 'asking/exact-json'].map((name) =>
      fileURLToPath(new URL(`../../web/src/${name}.ts`, import.meta.url)),
    );
    await build({
      configFile: false,
      logLevel: 'warn',
      build: { outDir: folder, emptyOutDir: true, lib: { entry: sources, formats: ['es'] } },
    });
    const script = fileURLToPath(new URL('page-without-node.mjs', import.meta.url));
    const said = execFileSync(process.execPath, [script, folder], { encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    const { found, json } = JSON.parse(said) as { found: boolean[]; json: string };
    expect(found.length).toBeGreaterThan(10);
    expect(found.every(Boolean)).toBe(true);
    expect(json).toBe('{"é":[1e400,"😀"]}');
  });

  it('names what the build hashed, which browsers may keep; the rest they ask for again', async () => {
    const { body } = await app.request('/');
    const hashed = files.filter(({ path }) => path.startsWith('/page/assets/'));
    expect(hashed.map(({ path }) => /-[\w-]{8}\.(js|css)$/.exec(path)?.[1]).sort()).toEqual([
      'css',
      'js',
      'js',
    ]);
    for (const { path } of files) {
      const { headers } = await app.request(path);
      const isHashed = path.startsWith('/page/assets/');
      // The main script starts the worker when there is a trace to show.
      const isNamed = isHashed && !path.includes('/trace-worker-');
      expect(body.includes(`"${path}"`)).toBe(isNamed || /base\.css$|favicon\.svg$/.test(path));
      expect(headers['cache-control']).toBe(
        isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
      );
    }
  });

  it('is below 250 kB, compressed', async () => {
    let total = 0;
    for (const { path } of files.filter((file) => !/swagger|spec/.test(file.path))) {
      const { bytes } = await app.request({ url: path, headers: { 'accept-encoding': 'gzip' } });
      total += bytes.length;
    }
    expect(total).toBeLessThan(250_000);
  });

  it('sends the security policy with every file', async () => {
    for (const { path } of files) {
      const { headers } = await app.request(path);
      const policy = String(headers['content-security-policy']);
      expect(policy).toContain("default-src 'self'");
      expect(policy).not.toContain('unsafe');
      expect(policy.includes('data:')).toBe(path === '/v1/spec');
      expect(headers['x-content-type-options']).toBe('nosniff');
    }
  });

  it('answers 304 to its own tag and the bytes to another, per coding', async () => {
    const url = scriptPath(files);
    const plain = await app.request(url);
    const gzip = await app.request({ url, headers: { 'accept-encoding': 'gzip' } });
    const brotli = await app.request({ url, headers: { 'accept-encoding': 'br' } });
    expect(gunzipSync(gzip.bytes).equals(plain.bytes)).toBe(true);
    expect(brotliDecompressSync(brotli.bytes).equals(plain.bytes)).toBe(true);
    const tags = [plain, gzip, brotli].map(({ headers }) => String(headers['etag']));
    expect(new Set(tags).size).toBe(3);
    expect(tags.every((tag) => /^"[\w-]+"$/.test(tag))).toBe(true);
    for (const [at, coding] of ['', 'gzip', 'br'].entries()) {
      const ask = (tag: string) =>
        app.request({ url, headers: { 'accept-encoding': coding, 'if-none-match': tag } });
      const same = await ask(tags[at]!);
      expect([same.statusCode, same.body]).toEqual([304, '']);
      expect((await ask(tags[(at + 1) % 3]!)).statusCode).toBe(200);
    }
  });

  it('answers HEAD without a body and refuses other methods', async () => {
    for (const path of [...DOCUMENTS, scriptPath(files)]) {
      const head = await app.request({ method: 'HEAD', url: path });
      expect([head.statusCode, head.body]).toEqual([200, '']);
      for (const method of ['POST', 'PUT', 'DELETE', 'PATCH'] as const) {
        expect((await app.request({ method, url: path })).statusCode).toBe(405);
      }
    }
  });

  it.each([
    '/page/../package.json',
    '/page/..%2f..%2fpackage.json',
    '/page/%2e%2e/%2e%2e/package.json',
    '/page/swagger-ui/../../package.json',
    '/page/swagger-ui/package.json',
    '/page//etc/passwd',
    '/page/spec.js/',
    '/page/assets/',
    '/page/assets',
    '/page/',
    '/page/main.tsx',
    '/page/assets/index.js',
    '/page/index.html',
    '/page/spec.js%00.css',
  ])('knows no %s', async (url) => {
    expect((await app.request({ method: 'GET', url })).statusCode).toBe(404);
  });

  it('does not compress when compression is off', async () => {
    const plain = withoutLedger({ compressionEnabled: false }, files);
    const { headers } = await plain.request({ url: '/', headers: { 'accept-encoding': 'gzip' } });
    expect(headers['content-encoding']).toBeUndefined();
    await plain.close();
  });
});

describe('reading the files at start', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'daybook-page-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const refusal = (): PageFilesError => {
    try {
      readPageFiles({ folder });
    } catch (error) {
      expect(error).toBeInstanceOf(PageFilesError);
      return error as PageFilesError;
    }
    throw new Error('the folder was accepted');
  };

  it('says what is missing and what to do', () => {
    expect(() => readPageFiles({ folder: join(folder, 'absent') })).toThrow(
      /cannot be read; run "npm run build"/,
    );
    expect(refusal().message).toContain('index.html is missing');
  });

  it('refuses what is not part of the page', () => {
    writeFileSync(join(folder, 'index.html'), 'x');
    writeFileSync(join(folder, 'spec.html'), 'x');
    expect(readPageFiles({ folder })).toHaveLength(2);
    writeFileSync(join(folder, 'secret.pem'), '');
    expect(refusal().message).toContain('secret.pem is not part of the page');
  });
});
