/** Real genesis ledgers in a SQLite store: every key is found by its hash, and listings are in order. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readGenesis } from '../../src/ingest/genesis/genesis.ts';
import { chunkOfGenesis, computeGenesisHashes } from '../../src/ingest/genesis/genesis-waypoint.ts';
import { hashedPhysicalKey } from '../../src/move/types/state-key.ts';
import { EVENTS, STATE } from '../../src/store/columns/columns.ts';
import { openView } from '../../src/store/read/view.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { temporarySqliteStore } from './engines.ts';

const shared = new URL('../../../shared/genesis/', import.meta.url);

describe.skipIf(!existsSync(shared))('genesis files (skipped without ../shared)', () => {
  test.each([
    ['mainnet', 1394, 1499],
    ['testnet', 128, 33],
    ['devnet', 302, 2],
  ])('%s', async (network, writes, streamEvents) => {
    const genesis = readGenesis(readFileSync(new URL(`${network}.blob`, shared)));
    const chunk = chunkOfGenesis(genesis, computeGenesisHashes(genesis));
    const store = await temporarySqliteStore();
    const writer = await LedgerWriter.open(store);
    expect((await writer.append(chunk)).outcome).toBe('committed');
    expect((await writer.append(chunk)).outcome).toBe('already_there');
    const statistics = await store.statistics();
    const rowsOf = (column: typeof STATE) =>
      statistics.find((each) => each.column === column)?.rows;
    expect([rowsOf(STATE), rowsOf(EVENTS)]).toEqual([writes, streamEvents]);
    const view = await openView(store);
    const byAccount = new Map<string, Buffer[]>();
    for (const { key, value } of chunk.transactions[0]!.writes) {
      const entry = await view.state(hashedPhysicalKey(key));
      expect(entry?.bytes?.equals(value!)).toBe(true);
      if (key[0] !== 0) continue;
      const address = key.toString('hex', 1, 33);
      byAccount.set(address, [...(byAccount.get(address) ?? []), key]);
    }
    for (const [address, keys] of byAccount) {
      const listing = await view.accountKeys(address, { limit: 10_000, version: 0n });
      expect(listing.keys).toEqual(keys.sort(Buffer.compare));
    }
  });
});
