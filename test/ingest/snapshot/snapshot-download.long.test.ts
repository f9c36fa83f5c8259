/** Snapshots over HTTP, from a server that cuts, is slow, lies, or answers something else. */
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { checkpointUpTo } from '../../../src/ingest/snapshot/checkpoint.ts';
import { makeSnapshot } from '../../../src/ingest/snapshot/make-snapshot.ts';
import {
  MAX_DAMAGED_DOWNLOADS,
  newestSnapshotOf,
  SnapshotDownload,
} from '../../../src/ingest/snapshot/snapshot-download.ts';
import { sampleChunks } from '../../../src/sample/sample.ts';
import { openHead } from '../../../src/store/columns/head.ts';
import { openView } from '../../../src/store/view.ts';
import { LedgerWriter } from '../../../src/store/writer.ts';
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
  'sends less': (response, bytes) => void response.end(bytes.subarray(1)),
  'sends more': (response, bytes) => void response.end(Buffer.concat([bytes, bytes])),
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
    for (const part of sampleChunks({ seed: 5, transactions: 200, accounts: 20 })) {
      await writer.append(part);
    }
    const checkpoint = await checkpointUpTo(await openView(store), 101n);
    await makeSnapshot(
      store,
      snapshot,
      { withTransactions: true, version: checkpoint!.version },
      () => undefined,
    );
    ({ version } = await openHead(store));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** Serves the folder; of a file, the first answers are faulty. @returns its URL, and how often each was asked for */
  async function serve(name: RegExp, fault: Fault, times: number) {
    const asked = new Map<string, number>();
    const server = createServer((request, response) => {
      const file = request.url!.slice('/some/folder/'.length);
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
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/some/folder`, asked };
  }

  async function load(url: string) {
    const source = new SnapshotDownload(url, TIMEOUTS);
    try {
      return await loadFrom(source, new MemoryStore());
    } finally {
      await source.close();
    }
  }

  const FILES = [/^manifest\.json$/, /^state-000000\.zst$/, /^transactions-000000\.zst$/];

  it.each(Object.entries(FAULTS))('from a server that twice %s: is whole', async (_, fault) => {
    for (const name of FILES) {
      const { url, asked } = await serve(name, fault, 2);
      expect((await load(url)).head.version).toBe(version);
      const [times] = [...asked].filter(([file]) => name.test(file)).map(([, count]) => count);
      expect(times).toBeGreaterThanOrEqual(3);
    }
  });

  it.each(['changes a byte', 'sends less', 'sends more'])(
    'from a server that always %s: fails',
    async (fault) => {
      for (const name of FILES) {
        const { url, asked } = await serve(name, FAULTS[fault]!, 99);
        await expect(load(url)).rejects.toMatchObject({ code: 'page_malformed' });
        const [times] = [...asked].filter(([file]) => name.test(file)).map(([, count]) => count);
        expect(times).toBe(MAX_DAMAGED_DOWNLOADS);
      }
    },
  );

  it.each(Object.entries(HOPELESS))('from a server that %s: fails at once', async (_, fault) => {
    for (const name of FILES) {
      const { url, asked } = await serve(name, fault, 99);
      await expect(load(url)).rejects.toMatchObject({ code: /^upstream_/ });
      for (const count of asked.values()) expect(count).toBe(1);
    }
  });

  it('of an address that is none, or a file', () => {
    for (const url of ['http://user:s3cr3t@host/', 'http://host/?x', 'http://host/snapshot.tar']) {
      const refusal = expect.objectContaining({ code: 'bad_upstream_url' });
      expect(() => new SnapshotDownload(url)).toThrow(refusal);
      expect(() => new SnapshotDownload(url)).not.toThrow(/s3cr3t/);
    }
  });

  it('whose list is something else, empty, or of odd names', async () => {
    const bodies: [string, string | undefined | RegExp][] = [
      ['[]', undefined],
      ['{}', /no list/],
      ['[{"name":7}]', /no list/],
      ['[{"name":"../x"}]', '/v1/-/snapshots/..%2Fx/'],
      ['nonsense', /damaged/],
    ];
    for (const [body, expected] of bodies) {
      const server = createServer((_, response) => response.end(body)).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const node = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const found = newestSnapshotOf(node, TIMEOUTS);
      if (expected instanceof RegExp) await expect(found).rejects.toThrow(expected);
      else expect(await found).toBe(expected && `${node}${expected}`);
      server.close();
      server.closeAllConnections();
    }
  });
});
