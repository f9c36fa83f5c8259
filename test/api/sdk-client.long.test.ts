/** This API's official SDK, unchanged, against a listening server: its pages have exactly what is stored. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Aptos,
  AptosConfig,
  getAptosFullNode,
  Network,
  paginateWithCursor,
} from '@aptos-labs/ts-sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bulkChunks } from '../../bench/bulk-ledger/bulk-ledger.ts';
import { buildApi } from '../../src/api/http/server.ts';
import { ADDRESS_ONE } from '../../src/move/types/address.ts';
import { decodeResourceGroup } from '../../src/move/types/resource-group.ts';
import { type Path, parsePhysicalStateKey } from '../../src/move/types/state-key.ts';
import { formatStructTag } from '../../src/move/types/type-tag.ts';
import { CAFE_HEX } from '../../src/sample/publishers.ts';
import type { Store } from '../../src/store/store.ts';
import type { Chunk } from '../../src/store/write/chunk.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { TestApi } from './client.ts';
import { LogLines } from './error-answers.ts';
import { apiSettings } from './settings.ts';
import { openTestedLedger, openTestedStore } from './tested-ledger.ts';

interface SdkEvent {
  readonly sequence_number: string;
  readonly guid: { readonly creation_number: string; readonly account_address: string };
}

/** The contents of accounts at the end of a history, by address. */
function contentOf(chunks: readonly Chunk[]): Map<string, { path: Path; value: Uint8Array }[]> {
  const values = new Map<string, Uint8Array | undefined>();
  for (const { transactions } of chunks) {
    for (const { writes } of transactions) {
      for (const { key, value } of writes) values.set(key.toString('hex'), value);
    }
  }
  const accounts = new Map<string, { path: Path; value: Uint8Array }[]>();
  for (const [hex, value] of values) {
    const key = parsePhysicalStateKey(Buffer.from(hex, 'hex'));
    if (key.kind !== 'accessPath' || value === undefined) continue;
    const content = accounts.get(key.address) ?? [];
    content.push({ path: key.parsed!, value });
    accounts.set(key.address, content);
  }
  return accounts;
}

function typesOf(content: readonly { path: Path; value: Uint8Array }[]): string[] {
  return content.flatMap(({ path, value }) => {
    if (path.kind === 'resource') return [formatStructTag(path.tag)];
    if (path.kind === 'code') return [];
    return decodeResourceGroup(value).map(({ tag }) => formatStructTag(tag));
  });
}

/** The items of all pages. */
async function pages(
  next: (cursor: string | undefined) => Promise<{ items: string[]; cursor: string | undefined }>,
): Promise<string[]> {
  const all: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await next(cursor);
    all.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return all;
}

describe('the SDK', () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-sdk-'));
  const chunks: Chunk[] = [];
  const log = new LogLines();
  let store: Store;
  let app: TestApi;
  let aptos: Aptos;

  beforeAll(async () => {
    store = await openTestedStore({ directory: folder });
    const writer = await LedgerWriter.open(store);
    for (const chunk of bulkChunks({ seed: 5, transactions: 1_500, accounts: 100 })) {
      chunks.push(chunk);
      await writer.append(chunk);
    }
    app = new TestApi(
      buildApi(openTestedLedger(store), apiSettings({ headerPrefix: 'X-Aptos' }), log),
    );
    const fullnode = `http://127.0.0.1:${await app.port()}/v1`;
    aptos = new Aptos(new AptosConfig({ network: Network.CUSTOM, fullnode }));
  });
  afterAll(async () => {
    expect(log).toEqual(new LogLines());
    await app.close();
    await store.close();
    rmSync(folder, { recursive: true });
  });

  /** The accounts with the most contents, and some that have groups. */
  function largest(): [string, { path: Path; value: Uint8Array }[]][] {
    const accounts = [...contentOf(chunks)];
    accounts.sort(([, left], [, right]) => right.length - left.length);
    const hasGroup = (content: readonly { path: Path }[]) =>
      content.some(({ path }) => path.kind === 'resourceGroup');
    const withGroups = accounts.filter(([, content]) => hasGroup(content));
    return [...accounts.slice(0, 6), ...withGroups.slice(0, 4)];
  }

  it('gets all resources, groups opened, at once and by its own cursor', async () => {
    let groups = 0;
    for (const [address, content] of largest()) {
      const expected = typesOf(content).sort();
      groups += content.filter(({ path }) => path.kind === 'resourceGroup').length;
      const accountAddress = `0x${address}`;
      const all = await aptos.getAccountResources({ accountAddress });
      expect(all.map(({ type }) => type).sort()).toEqual(expected);
      for (const limit of [1, 4]) {
        const types = await pages(async (cursor) => {
          const options = { limit, ...(cursor !== undefined && { cursor }) };
          const page = await aptos.getAccountResourcesPage({ accountAddress, options });
          return { items: page.resources.map(({ type }) => type), cursor: page.cursor };
        });
        expect(types.sort()).toEqual(expected);
      }
    }
    expect(groups).toBeGreaterThan(0);
  });

  it('gets all modules, at once and by its own cursor', async () => {
    const expected = contentOf(chunks)
      .get(ADDRESS_ONE)!
      .flatMap(({ path }) => (path.kind === 'code' ? [path.module.name] : []))
      .sort();
    expect(expected.length).toBeGreaterThan(10);
    const accountAddress = '0x1';
    const all = await aptos.getAccountModules({ accountAddress });
    expect(all.map(({ abi }) => abi!.name).sort()).toEqual(expected);
    for (const limit of [1, 4, 100]) {
      const names = await pages(async (cursor) => {
        const options = { limit, ...(cursor !== undefined && { cursor }) };
        const page = await aptos.getAccountModulesPage({ accountAddress, options });
        return { items: page.modules.map(({ abi }) => abi!.name), cursor: page.cursor };
      });
      expect(names.sort()).toEqual(expected);
    }
  });

  it('pages through an event stream by number and by handle', async () => {
    const blocks = chunks.flatMap((chunk) => chunk.blocks).length;
    const paths = [
      'accounts/0x1/events/3',
      'accounts/0x1/events/0x1::block::BlockResource/new_block_events',
    ];
    for (const path of paths) {
      const numbers: string[] = [];
      for (let start = 0; start <= blocks; start += 7) {
        const { data } = await getAptosFullNode<object, SdkEvent[]>({
          aptosConfig: aptos.config,
          originMethod: 'test',
          path,
          params: { start, limit: 7 },
        });
        numbers.push(...data.map(({ sequence_number: number }) => number));
        expect(data.every(({ guid }) => guid.creation_number === '3')).toBe(true);
      }
      expect(numbers).toEqual(Array.from({ length: blocks }, (_, index) => String(index)));
    }
  });

  it('walks any listing with its own pager', async () => {
    const types = await paginateWithCursor<Record<string, unknown>, { type: string }[]>({
      aptosConfig: aptos.config,
      originMethod: 'test',
      path: 'accounts/0x1/resources',
      params: { limit: 2 },
    });
    const stored = contentOf(chunks).get(ADDRESS_ONE)!;
    expect(types.map(({ type }) => type).sort()).toEqual(typesOf(stored).sort());
  });

  it('gets accounts, single resources and blocks', async () => {
    const info = await aptos.getAccountInfo({ accountAddress: CAFE_HEX });
    expect(Number(info.sequence_number)).toBeGreaterThan(0);
    const resource = await aptos.getAccountResource<{ height: string }>({
      accountAddress: '0x1',
      resourceType: '0x1::block::BlockResource',
    });
    const newest = chunks.at(-1)!.blocks.at(-1)!;
    expect(resource.height).toBe(String(newest.height));
    const block = await aptos.getBlockByHeight({ blockHeight: Number(newest.height) });
    expect(block.first_version).toBe(String(newest.firstVersion));
    const again = await aptos.getBlockByVersion({ ledgerVersion: Number(newest.firstVersion) });
    expect(again).toEqual(block);
  });
});
