/** Compares two nodes, one of which replays the recorded answers of a reference node. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { compareNodes } from '../../src/node/commands/compare/compare.ts';
import {
  LEDGER_HEADERS,
  NEWEST_VERSION,
  type Recorded,
  recordedLines,
  storeReferenceChain,
} from './reference-chain.ts';

const folder = mkdtempSync(join(tmpdir(), 'daybook-compare-'));
const data = join(folder, 'ledger');
beforeAll(() => storeReferenceChain(data));
afterAll(() => rmSync(folder, { recursive: true }));

/** The key of a request, without the version that is added to it. */
function keyOf(method: string, path: string, headers: object, body: string): string {
  const { accept = '', 'content-type': type = '' } = headers as Record<string, string>;
  const added = new RegExp(`[?&]ledger_version=${NEWEST_VERSION}$`);
  return [method, decodeURI(path).replace(added, ''), accept, type, body].join('\n');
}

function bodyOf({ body, body_hex: hex }: Recorded): Buffer {
  return hex === undefined ? Buffer.from(body ?? '') : Buffer.from(hex, 'hex');
}

/** Serves recorded answers to the same requests. */
async function replay(recorded: readonly Recorded[]) {
  const answers = new Map<string, Recorded['answer']>();
  for (const one of recorded) {
    const body = bodyOf(one).toString('hex');
    const { method = body === '' ? 'GET' : 'POST', path, headers } = one;
    answers.set(keyOf(method, path, headers, body), one.answer);
  }
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { method, url, headers } = request;
      const key = keyOf(method!, url!, headers, Buffer.concat(parts).toString('hex'));
      const answer = url === '/v1' ? undefined : answers.get(key);
      const { status = 200, headers: own = {}, body = '', body_hex: hex } = answer ?? {};
      const hasLedger = answer?.ledger_headers ?? true;
      response.writeHead(status, { ...(hasLedger ? LEDGER_HEADERS : {}), ...own });
      response.end(hex === undefined ? body : Buffer.from(hex, 'hex'));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

async function compare(recorded: readonly Recorded[]) {
  const server = await replay(recorded);
  const requestsFile = join(folder, 'requests.jsonl');
  writeFileSync(requestsFile, recorded.map((one) => JSON.stringify(one)).join('\n'));
  const request = { data, url: server.url, requestsFile, onProgress: () => undefined };
  try {
    return await compareNodes(request);
  } finally {
    server.close();
  }
}

const ALL = ['answers.jsonl', 'transactions.jsonl', 'state.jsonl'].flatMap((file) =>
  recordedLines(file),
);

it('finds the recorded answers of the reference equal', async () => {
  const { counts, reported } = await compare(ALL);
  expect(reported).toEqual([]);
  expect(counts).toMatchObject({ requests: ALL.length, equal: ALL.length });
});

it('finds the one answer that is changed', async () => {
  const index = ALL.findIndex((one) => one.class === 'by_version' && one.answer.status === 200);
  const one = ALL[index]!;
  const body = one.answer.body!.replace(/"hash":"0x./, '"hash":"0xg');
  const changed = { ...one, answer: { ...one.answer, body } };
  const part = [...ALL.slice(Math.max(0, index - 20), index), changed];
  const { counts, reported } = await compare(part);
  expect(counts).toMatchObject({ requests: part.length, equal: part.length - 1, different: 1 });
  const [{ path, differences }] = reported as [(typeof reported)[0]];
  expect(path).toBe(one.path);
  expect(differences).toEqual([
    { place: 'body $.hash', ours: expect.any(String), theirs: expect.stringMatching(/^"0xg/) },
  ]);
});
