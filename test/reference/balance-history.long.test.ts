/** Histories of balances, and versions by time, on the chain of a reference node, compared with single reads. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ASSET_TYPE } from '../../src/api/endpoints/parameters.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { padAddress } from '../../src/move/types/address.ts';
import { changesOf, readSingly } from '../api/balance-changes.ts';
import { NEWEST_VERSION, type ReferenceLedger, serveReferenceChain } from './reference-chain.ts';

/** Number of accounts whose balances are compared, and of their assets. */
const ACCOUNTS = 5;
const ASSETS_OF_ACCOUNT = 3;

let ledger: ReferenceLedger;
beforeAll(async () => {
  ledger = await serveReferenceChain();
});
afterAll(() => ledger.close());

it('the history of a balance is what reads of every version say', async () => {
  const view = await openLedger(ledger.store).view();
  const senders = new Set<string>();
  for (let start = 100; start < NEWEST_VERSION; start += 100) {
    const { api } = ledger;
    const page = await api.request(`/v1/transactions?start=${start}&limit=100`);
    for (const { sender } of page.json<{ sender?: string }[]>()) if (sender) senders.add(sender);
  }
  let changes = 0;
  for (const account of [...senders].slice(0, ACCOUNTS)) {
    const held = (await ledger.api.request(`/v1/accounts/${account}/balances`)).json<
      { asset_type: string }[]
    >();
    for (const { asset_type: asset } of held.slice(0, ASSETS_OF_ACCOUNT)) {
      const reads = await readSingly(view, padAddress(account.slice(2)), ASSET_TYPE.parse(asset));
      const url = `/v1/accounts/${account}/balance/${asset}/history?limit=1000`;
      const expected = changesOf(reads);
      expect((await ledger.api.request(url)).json()).toEqual(expected);
      const down = await ledger.api.request(`${url}&order=desc`);
      expect(down.json()).toEqual(expected.toReversed());
      changes += expected.length;
    }
  }
  expect(changes).toBeGreaterThan(20);
});

it('a version by time is the last one whose block is not later', async () => {
  const times: bigint[] = [];
  for (let version = 0; version <= NEWEST_VERSION; ) {
    const block = (await ledger.api.request(`/v1/blocks/by_version/${version}`)).json<{
      block_timestamp: string;
      last_version: string;
    }>();
    for (; version <= Number(block.last_version); version += 1) {
      times.push(BigInt(block.block_timestamp));
    }
  }
  for (let version = 0; version <= NEWEST_VERSION; version += 7) {
    for (const usecs of [times[version]!, times[version]! + 1n]) {
      const found = await ledger.api.request(`/v1/versions/by_timestamp/${usecs}`);
      const expected = times.findLastIndex((time) => time <= usecs);
      expect(found.json()).toMatchObject({
        version: String(expected),
        timestamp: String(times[expected]),
      });
    }
  }
});
