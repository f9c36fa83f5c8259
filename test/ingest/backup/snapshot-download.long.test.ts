/** Snapshots over HTTP, from a server that breaks off, is slow, lies, or sends something else. */
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { bulkChunks } from '../../../bench/bulk-ledger/bulk-ledger.ts';
import {
  HttpSource,
  MAX_DAMAGED_DOWNLOADS,
  newestSnapshotOf,
} from '../../../src/ingest/backup/http-source.ts';
import { makeSnapshot } from '../../../src/ingest/backup/make-snapshot.ts';
import { checkpointUpTo } from '../../../src/ingest/checkpoint.ts';
import { openHead } from '../../../src/store/columns/head.ts';
import { openView } from '../../../src/store/read/view.ts';
import { LedgerWriter } from '../../../src/store/write/writer.ts';
import { MemoryStore } from '../../store/memory-store.ts';
import { loadFrom } from './snapshots.ts';

const TIMEOUTS = { silenceTimeoutMs: 1_000, totalTimeoutMs: 2_000 };

type Fault = (response: ServerResponse, bytes: Buffer) => void;

const FAULTS: Record<string, Fault> = {
  'cuts in the middle': (response, bytes) => {
    response.writeHead(200, { 'content-length': bytes.length });
    response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
  },
  'says nothing': () => undefined,
  'is slow without end': (response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write('x'), 50);
    response.once('close', () => clearInterval(timer));
  },
  'changes a byte': (response, bytes) => {
    const changed = Buffer.from(bytes);
    changed[changed.length >> 1]! ^= 1;
    response.end(changed);
  },
  'sends less': (response, bytes) => void response.end(bytes.subarray(0, -1)),
  'is busy': (response) => void response.writeHead(503, { 'retry-after': '0' }).end(),
  fails: (response) => void response.writeHead(500).end('no'),
};

const HOPELESS: Record<string, Fault> = {
  'does not have the file': (response) => void response.writeHead(404).end(),
  'answers with a page': (response) =>
    void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Log in</html>'),
  'leads elsewhere': (response) => void response.writeHead(302, { location: '/' }).end(),
  refuses: (response) => void response.writeHead(403).end(),
};

describe('a snapshot that is downloaded', () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-download-'));
  const snapshot = join(folder, 'snapshot');
  let version: bigint;
  beforeAll(async () => {
    const store = new MemoryStore();
    const writer = await LedgerWriter.open(store);
    for (const part of bulkChunks({ seed: 5, transactions: 200, accounts: 20 })) {
      await writer.append(part);
    }
    const checkpoint = await checkpointUpTo(await openView(store), 101n);
    const place = { folder: snapshot, workFolder: mkdtempSync(join(folder, 'work-')) };
    const request = { withTransactions: true, version: checkpoint!.version };
    await makeSnapshot(store, place, request, () => undefined);
    ({ version } = await openHead(store));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /**
   * Serves the folder; the first responses for matching files are faulty. @returns its URL, and the number of requests
   * for each
   */
  async function serve(name: RegExp, fault: Fault, times: number) {
    const asked = new Map<string, number>();
    const server = createServer((request, response) => {
      const file = request.url!.slice('/some/folder/'.length);
      if (file === 'metadata/') {
        const links = readdirSync(join(snapshot, file)).map((meta) => `<a href="${meta}">`);
        response.writeHead(200, { 'content-type': 'text/html' }).end(links.join(''));
        return;
      }
      const count = (asked.get(file) ?? 0) + 1;
      asked.set(file, count);
      const path = join(snapshot, file);
      if (!existsSync(path)) response.writeHead(404).end();
      else if (name.test(file) && count <= times) fault(response, readFileSync(path));
      else response.end(readFileSync(path));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    const { port } = server.address() as AddressInfo;
    return { url: new URL(`http://127.0.0.1:${port}/some/folder`), asked };
  }

  async function load(url: URL) {
    const source = new HttpSource(url, TIMEOUTS);
    return await loadFrom(source, new MemoryStore()).finally(() => source.close());
  }

  const CHUNKS = [/^state_.*\/0-\.chunk$/, /\/streams-0-\.chunk$/, /^transaction_.*\.chunk$/];
  const FILES = [/^metadata\/state/, /\/state\.manifest$/, /\/ledger\.json$/, ...CHUNKS];
  const DAMAGES = ['changes a byte', 'sends less'];
  const timesOf = (asked: ReadonlyMap<string, number>, name: RegExp) =>
    [...asked].find(([file]) => name.test(file))?.[1];

  it.each(Object.entries(FAULTS))('from a server that twice %s: is whole', async (what, fault) => {
    for (const name of DAMAGES.includes(what) ? CHUNKS : FILES) {
      const { url, asked } = await serve(name, fault, 2);
      expect((await load(url)).head.version).toBe(version);
      expect(timesOf(asked, name), String(name)).toBeGreaterThanOrEqual(3);
    }
  });

  it.each(DAMAGES)('from a server that always %s: fails', async (what) => {
    for (const name of CHUNKS) {
      const { url, asked } = await serve(name, FAULTS[what]!, 99);
      await expect(load(url)).rejects.toMatchObject({ code: 'backup_malformed' });
      expect(timesOf(asked, name)).toBe(MAX_DAMAGED_DOWNLOADS);
    }
  });

  it.each(Object.entries(HOPELESS))('from a server that %s: fails at once', async (_, fault) => {
    for (const name of CHUNKS) {
      const { url, asked } = await serve(name, fault, 99);
      await expect(load(url)).rejects.toMatchObject({ code: /^backup_(unreachable|incomplete)/ });
      expect(timesOf(asked, name)).toBe(1);
    }
  });

  it('is refused where its metadata cannot be listed', async () => {
    const { url } = await serve(/none/, FAULTS['fails']!, 0);
    url.pathname = '/some/other/folder';
    await expect(load(url)).rejects.toMatchObject({ code: 'backup_incomplete' });
  });

  it('whose list is something else, empty, or of odd names', async () => {
    const bodies: [string, string | undefined | RegExp][] = [
      ['[]', undefined],
      ['{}', /no list/],
      ['[{"name":7}]', /no list/],
      ['[{"name":"../x"}]', '/v1/-/snapshots/..%2Fx'],
      ['nonsense', /no list/],
    ];
    for (const [body, expected] of bodies) {
      const server = createServer((_, response) => response.end(body)).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const node = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const found = newestSnapshotOf(new URL(`${node}/v1`));
      if (expected instanceof RegExp) await expect(found).rejects.toThrow(expected);
      else expect((await found)?.href).toBe(expected && `${node}${expected}`);
      server.close();
      server.closeAllConnections();
    }
  });
});
