/**
 * Random histories with pruning. SQLite, the model and a plain list of the rows that must remain agree after every
 * step: chunks, prunes of any depth, accounts that are pinned from some point on, runs aborted between two steps,
 * restarts. RUNS sets the number of histories, SEED the first; history n of a run is the first one of SEED + n.
 */
import { expect, onTestFinished, test } from 'vitest';
import { ADDRESS_BYTES } from '../../src/move/types/address.ts';
import { hashedPhysicalKey } from '../../src/move/types/state-key.ts';
import { COLUMNS, type Column } from '../../src/store/columns/columns.ts';
import {
  type PinnedAccounts,
  readPinnedAccounts,
  readPruneProgress,
} from '../../src/store/columns/pruning-column.ts';
import { Pruner } from '../../src/store/pruning/prune.ts';
import type { PinnedObject } from '../../src/store/pruning/superseded-state.ts';
import { EventStreamView } from '../../src/store/read/event-pages.ts';
import { openView, type StoreView } from '../../src/store/read/view.ts';
import type { Store } from '../../src/store/store.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { randomSource, roundsOf, testSeed } from '../random.ts';
import { address } from './chunks.ts';
import { DURABLE_ENGINES } from './engines.ts';
import { MemoryStore } from './memory-store.ts';
import {
  type Below,
  expectedAccountKeys,
  expectedKeys,
  History,
  KEYS,
  ownerOf,
  STREAMS,
} from './prune-history.ts';

const RUNS = roundsOf('RUNS', 12, 300);

/** Counts of events in all histories, because a test in which nothing happens proves nothing. */
class Happened {
  writes = 0;
  deletions = 0;
  events = 0;
  prunes = 0;
  prunesCutOff = 0;
  keptAccounts = 0;
  restarts = 0;
  comparisons = 0;
}

const TIMEOUT_MS = 180_000 + RUNS * 4_000;

test.each(DURABLE_ENGINES)('histories, %s', { timeout: TIMEOUT_MS }, async (name, newPlace) => {
  const first = testSeed();
  // A server takes ten times as long.
  const runs = name === 'SQLite' ? RUNS : Math.ceil(RUNS / 4);
  const happened = new Happened();
  for (let run = 0; run < runs; run += 1) {
    const seed = first + run;
    try {
      await runHistory(seed, await newPlace(), happened);
    } catch (cause) {
      throw new Error(`with SEED=${seed} RUNS=1`, { cause });
    }
  }
  console.info(`seeds ${first} to ${first + runs - 1}, no difference:`, { ...happened });
  if (runs >= 12) {
    for (const [what, times] of Object.entries(happened)) expect(times, what).toBeGreaterThan(0);
  }
});

async function runHistory(
  seed: number,
  openStore: () => Promise<Store>,
  happened: Happened,
): Promise<void> {
  const random = randomSource(seed);
  const below: Below = (most) => Math.floor(random() * most);
  const history = new History();
  let stored = await openStore();
  onTestFinished(() => stored.close());
  const model = new MemoryStore({ answers: below(2) === 0 ? 'now' : 'later' });
  let writers = [await LedgerWriter.open(stored), await LedgerWriter.open(model)];
  const rounds = 6 + below(14);
  for (let round = 0; round < rounds; round += 1) {
    const next = history.nextChunk(below);
    for (const writer of writers) await writer.append(next);
    if (below(6) === 0) {
      const accounts = [1, 2, 3, 9].filter(() => below(3) === 0).map(address);
      happened.keptAccounts += accounts.length;
      for (const writer of writers) await new Pruner(writer).pinAccounts(accounts);
    }
    if (below(3) === 0) await prune(writers, below, happened);
    if (below(8) === 0) {
      happened.restarts += 1;
      await stored.close();
      stored = await openStore();
      writers = [await LedgerWriter.open(stored), await LedgerWriter.open(model)];
    }
    await compareStores(stored, model);
    await compareViews(stored, history, below);
    await compareViews(model, history, below);
    await compareRows(stored, history);
    happened.comparisons += 1;
  }
  await stored.close();
  const written = history.writes.flat();
  happened.writes += written.length;
  happened.deletions += written.filter(({ value }) => value === undefined).length;
  happened.events += history.events.flat().length + history.moduleEvents.length;
}

test('what is left does not depend on the steps, also of objects of pinned accounts', async () => {
  for (let run = 0; run < RUNS; run += 1) {
    const random = randomSource(testSeed() + run);
    const below: Below = (most) => Math.floor(random() * most);
    const history = new History();
    const stores = [1, 7, 40, 1e9].map(() => new MemoryStore());
    const writers = await Promise.all(stores.map((store) => LedgerWriter.open(store)));
    for (let round = 0; round < 12; round += 1) {
      const next = history.nextChunk(below);
      for (const writer of writers) await writer.append(next);
      const pinned = round === 3 ? [address(1)] : round === 7 ? [address(2)] : [];
      const versions = below(3) === 0 ? 1 + below(history.version + 5) : undefined;
      for (const [index, writer] of writers.entries()) {
        const bounds = { maxRows: [1, 7, 40, 1e9][index]!, maxMs: 1e9 };
        const pruner = new Pruner(writer, { bounds, graceMs: 0, restFactor: 0, objectsOf });
        await pruner.pinAccounts(pinned);
        if (versions !== undefined) await pruner.run({ versions });
      }
    }
    for (const store of stores.slice(1)) await compareStores(stores[0]!, store);
  }
});

/** Owners of table items: some values name their owner, who changes in turn. */
const objectsOf = (accounts: PinnedAccounts): PinnedObject => {
  return ({ owner }, entries) => {
    if (owner[ADDRESS_BYTES - 1] !== 9) return undefined;
    for (const { bytes } of entries) {
      const value = Number(bytes ?? 1);
      if (value % 4 === 0) return accounts.get(address((value % 8) / 4 + 1));
    }
    return undefined;
  };
};

/** Prunes both stores in the same way; now and then a run is aborted after some steps. */
async function prune(
  writers: readonly LedgerWriter[],
  below: Below,
  happened: Happened,
): Promise<void> {
  const head = writers[0]!.head!;
  const policy =
    below(4) === 0
      ? { seconds: 1 + below(20) }
      : { versions: 1 + below(Number(head.version) + 5), seconds: undefined };
  const bounds = { maxRows: 1 + below(60), maxMs: 1e9 };
  const stopAfter = below(3) === 0 ? 1 + below(3) : Number.POSITIVE_INFINITY;
  happened.prunes += 1;
  if (stopAfter !== Number.POSITIVE_INFINITY) happened.prunesCutOff += 1;
  for (const writer of writers) {
    const abort = new AbortController();
    let steps = 0;
    const pruner = new Pruner(writer, {
      ...{ bounds, graceMs: 0, restFactor: 0 },
      onProgress: () => {
        steps += 1;
        if (steps >= stopAfter) abort.abort();
      },
    });
    await pruner.run(policy, abort.signal);
  }
}

async function keysOf(store: Store, column: Column): Promise<string[]> {
  const rows = await store.scan(column, { maxRows: 10_000, maxBytes: 1e12 });
  return rows.map(({ partition, order }) => Buffer.concat([partition, order]).toString('hex'));
}

async function compareStores(stored: Store, model: Store): Promise<void> {
  for (const column of COLUMNS) {
    const query = { maxRows: 10_000, maxBytes: 1e12 };
    const texts = await Promise.all(
      [stored, model].map(async (store) =>
        (await store.scan(column, query)).map(
          ({ partition, order, value }) =>
            `${partition.toString('hex')} ${order.toString('hex')} ${value.toString('hex')}`,
        ),
      ),
    );
    expect(texts[0], column.name).toEqual(texts[1]);
  }
}

/** After complete pruning exactly the expected rows remain. */
async function compareRows(store: Store, history: History): Promise<void> {
  const { head } = await openView(store);
  const { clearedBelow } = await readPruneProgress(store);
  if (clearedBelow < head.oldestVersion) return;
  const kept = await readPinnedAccounts(store);
  const expected = expectedKeys(history, Number(head.oldestVersion), kept);
  for (const column of COLUMNS) {
    const keys = expected.get(column.name);
    if (keys !== undefined) expect(await keysOf(store, column), column.name).toEqual(keys);
  }
}

/** Everything at and above the oldest version, and all of pinned accounts, is unchanged. */
async function compareViews(store: Store, history: History, below: Below): Promise<void> {
  const view = await openView(store);
  const kept = await readPinnedAccounts(store);
  const oldest = Number(view.head.oldestVersion);
  expect(history.blocks.map(({ firstVersion }) => Number(firstVersion))).toContain(oldest);
  for (const [index, key] of KEYS.entries()) {
    const least = Number(kept.get(ownerOf(key)) ?? BigInt(oldest));
    const version = least + below(history.version + 1 - least);
    const entry = await view.state(hashedPhysicalKey(key), BigInt(version));
    expect(entry?.bytes?.toString()).toBe(history.valueAt(index, version));
    // Below it, values that are found are right; only a missing one may mean "pruned".
    const lower = below(history.version + 1);
    const found = await view.state(hashedPhysicalKey(key), BigInt(lower));
    if (found !== undefined) expect(found.bytes?.toString()).toBe(history.valueAt(index, lower));
  }
  for (const [stream, [account, creationNumber]] of STREAMS.entries()) {
    const least = Number(kept.get(address(account)) ?? BigInt(oldest));
    const id = { address: address(account), creationNumber: BigInt(creationNumber) };
    const head = { ...view.head, oldestVersion: BigInt(least) };
    const streamView = new EventStreamView(store, head, id);
    const all = history.events[stream]!;
    const start = below(all.length + 2);
    const limit = 1 + below(5);
    const page = await streamView.page({ start: BigInt(start), limit });
    const wanted = all.slice(start, start + limit);
    expect(page.events.map(({ version }) => Number(version))).toEqual(
      wanted.filter((at) => at >= least),
    );
    expect(page.pruned !== undefined).toBe(wanted[0] !== undefined && wanted[0] < least);
  }
  for (const account of [1, 2, 3]) await compareListing(view, history, kept, account);
}

async function compareListing(
  view: StoreView,
  history: History,
  kept: ReadonlyMap<string, bigint>,
  account: number,
): Promise<void> {
  const bound = Number(kept.get(address(account)) ?? view.head.oldestVersion);
  const query = { limit: 100, version: view.head.version };
  const { keys } = await view.accountKeys(address(account), query);
  // A deleted key may still be listed until it is pruned; it has no value then.
  const due = expectedAccountKeys(history, account, bound);
  expect(due.every((key) => keys.some((listed) => listed.equals(key)))).toBe(true);
  for (const key of keys) expect(KEYS.some((known) => known.equals(key))).toBe(true);
}
