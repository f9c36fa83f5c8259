/**
 * How often an operation waits for an engine that answers later. Each wait is a round trip to another process or
 * machine, so the numbers must not grow with the rows.
 */
import { describe, expect, test } from 'vitest';
import { bulkChunks } from '../../bench/bulk-ledger/bulk-ledger.ts';
import { Committer } from '../../src/ingest/committer.ts';
import { CoinAsset, FungibleAsset } from '../../src/ledger/balances/balance.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { parseJson } from '../../src/move/json/json-text.ts';
import { padAddress } from '../../src/move/types/address.ts';
import { APTOS_COIN_TAG } from '../../src/move/types/framework-tag.ts';
import { CAFE } from '../../src/sample/publishers.ts';
import { Pruner } from '../../src/store/pruning/prune.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { encodeValue } from '../../src/submission/encode/index.ts';
import { verifyLedger } from '../../src/verify/ledger.ts';
import { AnsweringLater, CommittingLater } from './answering-later.ts';
import { MemoryStore } from './memory-store.ts';

const PUBLISHER = CAFE;
const CHUNKS = [
  ...bulkChunks({
    ...{ transactions: 3_000, accounts: 60, seed: 7n },
    chunkTransactions: 300,
  }),
];

async function sampleOf(store: CommittingLater, chunks = CHUNKS) {
  const writer = await LedgerWriter.open(store);
  const committer = new Committer(writer);
  for (const chunk of chunks) await committer.push(chunk);
  await committer.drain();
  return writer;
}

test('ingest: a handful for a commit, however many events, keys and balances it has', async () => {
  const store = new CommittingLater(new MemoryStore());
  await sampleOf(store);
  const commits = store.reads.filter((read) => read === 'commit').length;
  expect(commits).toBe(CHUNKS.length);
  for (const read of ['seekLastMany events', 'getMany balances', 'seekLastMany state']) {
    expect([...new Set(store.reads)]).toContain(read);
  }
  expect(store.roundTrips / commits).toBeLessThan(10);
});

test('pruning: a few for a hundred versions', async () => {
  const store = new CommittingLater(new MemoryStore());
  const writer = await sampleOf(store);
  store.roundTrips = 0;
  const { versions } = await new Pruner(writer, { graceMs: 0, restFactor: 0 }).run({ versions: 1 });
  expect(Number(versions)).toBeGreaterThan(2_900);
  expect(store.roundTrips / Number(versions)).toBeLessThan(0.05);
});

describe('requests', () => {
  const opened = async () => {
    const memory = new MemoryStore();
    await sampleOf(new CommittingLater(memory));
    const store = new AnsweringLater(memory);
    const view = await openLedger(store).view();
    const roundTripsOf = async (ask: () => unknown) => {
      store.roundTrips = 0;
      await ask();
      return store.roundTrips;
    };
    return { view, roundTripsOf };
  };

  test('a balance: one; one more if only state has it', async () => {
    const { view, roundTripsOf } = await opened();
    const { version } = view.state;
    const coin = new CoinAsset(APTOS_COIN_TAG);
    expect(await roundTripsOf(() => view.balance(PUBLISHER, coin, version))).toBe(1);
    expect(await roundTripsOf(() => view.balance(PUBLISHER, coin, 0n))).toBe(2);
    const unknown = new FungibleAsset(padAddress('77'));
    expect(await roundTripsOf(() => view.balance(PUBLISHER, unknown, version))).toBe(2);
  });

  test('a module: one, none when it is asked for again', async () => {
    const { view, roundTripsOf } = await opened();
    const ask = async () => (await view.module(PUBLISHER, 'ticker', view.state.version)).json();
    expect(await roundTripsOf(ask)).toBe(1);
    expect(await roundTripsOf(ask)).toBe(0);
  });

  test('a page of events: one, besides the modules of types that the view has not seen', async () => {
    const { view, roundTripsOf } = await opened();
    const stream = { address: PUBLISHER, creationNumber: 2n };
    expect(await roundTripsOf(() => view.pages.page({ ...stream, limit: 25 }, 'bcs'))).toBe(1);
    expect(await roundTripsOf(() => view.pages.page({ ...stream, limit: 25 }, 'bcs'))).toBe(1);
    const page = { ...stream, start: 0n, limit: 25 };
    expect(await roundTripsOf(() => view.pages.page(page, 'json'))).toBe(2);
    // A repeated read is cached.
    expect(await roundTripsOf(() => view.pages.page(page, 'json'))).toBe(1);
    expect(await roundTripsOf(() => view.pages.page(page, 'json'))).toBe(0);
    expect(await roundTripsOf(() => view.pages.page({ ...page, start: 5n }, 'json'))).toBe(1);
  });

  test('encoding: two at most, none when the view has seen the function', async () => {
    const { view, roundTripsOf } = await opened();
    const request = parseJson(
      Buffer.from(
        JSON.stringify({
          ...{ sender: '0xa', sequence_number: '0', max_gas_amount: '1', gas_unit_price: '1' },
          expiration_timestamp_secs: '1',
          payload: {
            type: 'entry_function_payload',
            function: '0x1::aptos_account::transfer',
            ...{ type_arguments: [], arguments: ['0xb', '5'] },
          },
        }),
      ),
    );
    const { state, lookupModule } = view;
    const ask = () => encodeValue(request, { chainId: state.chainId, lookupModule });
    expect(await roundTripsOf(ask)).toBeLessThanOrEqual(2);
    expect(await roundTripsOf(ask)).toBe(0);
  });
});

test('verification: a few for a hundred versions, and a look-up of no row that a version wrote', async () => {
  const memory = new MemoryStore();
  await sampleOf(new CommittingLater(memory));
  const store = new AnsweringLater(memory);
  const { damageCount, head } = await verifyLedger(store);
  expect(damageCount).toBe(0);
  expect(store.roundTrips / Number(head.version)).toBeLessThan(0.1);
  expect(store.reads.filter((read) => /^(get|range|seekLast) (state|events)/.test(read))).toEqual(
    [],
  );
});
