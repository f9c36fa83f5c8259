/** A genesis on a server. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { initLedger } from '../../src/node/init.ts';
import { writeSmallGenesis } from '../api/genesis-small.ts';

const genesis = writeSmallGenesis();
const folder = mkdtempSync(join(tmpdir(), 'daybook-genesis-url-'));
const server = createServer(({ url }, response) => {
  if (url === '/genesis.blob') response.end(readFileSync(genesis.path));
  else if (url === '/page') response.end('<!doctype html>');
  else response.writeHead(404).end();
});
let origin: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => {
  server.close();
  for (const made of [folder, genesis.folder]) rmSync(made, { recursive: true });
});

it('makes the ledger that the file makes', async () => {
  const fromFile = await initLedger(join(folder, 'file'), genesis.path);
  expect(await initLedger(join(folder, 'url'), `${origin}/genesis.blob`)).toEqual(fromFile);
});

it('makes none where it cannot be had, or is none', async () => {
  const cases = [
    [`${origin}/none`, 'file_not_readable'],
    [`${origin}/page`, 'not_a_genesis'],
    ['https://somebody:secret@example.com/genesis.blob', 'file_not_readable'],
  ] as const;
  for (const [url, code] of cases) {
    const failed = initLedger(join(folder, 'none'), url);
    await expect(failed).rejects.toMatchObject({ code });
    await expect(failed).rejects.not.toThrow('secret');
  }
});
