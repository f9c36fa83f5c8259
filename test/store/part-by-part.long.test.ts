/**
 * A ledger that grows and is pruned on an engine with partially visible commits, read in between: every result is that
 * of an unchanged ledger, or says that the version is pruned, if it is. SEED sets the order.
 */

import { expect, test } from 'vitest';
import { bulkChunks } from '../../bench/bulk-ledger/bulk-ledger.ts';
import { Cache } from '../../src/cache.ts';
import { Committer } from '../../src/ingest/committer.ts';
import { CoinAsset, FungibleAsset } from '../../src/ledger/balances/balance.ts';
import type { CachedPage } from '../../src/ledger/events/stream-pages.ts';
import { BlockPriceCache } from '../../src/ledger/gas-price.ts';
import { LedgerView } from '../../src/ledger/ledger-view.ts';
import { TransactionCaches } from '../../src/ledger/transactions/renderer.ts';
import { type Address, addressFromBytes } from '../../src/move/types/address.ts';
import { APTOS_COIN_TAG } from '../../src/move/types/framework-tag.ts';
import { LedgerError } from '../../src/state/ledger-error.ts';
import { ModuleCache, TypeCache } from '../../src/state/module-view.ts';
import { PruningGuard } from '../../src/state/pruning-guard.ts';
import { storedSource } from '../../src/state/source.ts';
import {
  ACCOUNT_KEYS,
  ACCOUNT_TRANSACTIONS,
  BALANCES,
  BLOCKS_BY_VERSION,
  EVENTS,
  HEAD,
  STATE,
} from '../../src/store/columns/columns.ts';
import { decodeStreamId } from '../../src/store/columns/event-column.ts';
import { type Head, openHead } from '../../src/store/columns/head.ts';
import { LEDGER_IDENTITY } from '../../src/store/columns/identity-column.ts';
import { NO_ORDER } from '../../src/store/columns/order-key.ts';
import { readPinnedAccounts } from '../../src/store/columns/pruning-column.ts';
import { Pruner } from '../../src/store/pruning/prune.ts';
import type { StoreReader } from '../../src/store/store.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { randomSource, testSeed } from '../random.ts';
import { MemoryStore } from './memory-store.ts';
import { type Part, partByPart } from './part-by-part-store.ts';
import type { Below } from './prune-history.ts';

const CHUNKS = { transactions: 2_400, accounts: 40, seed: 3n, chunkTransactions: 120 };
const RETAINED_VERSIONS = 500;
const MAX_OLD_VIEWS = 6;
const HEAD_KEY = [HEAD, Buffer.of(0), NO_ORDER] as const;
const APT = new CoinAsset(APTOS_COIN_TAG);

/** A ledger at a head, as a request has it. */
interface Reader {
  readonly head: Head;
  readonly store: StoreReader;
  readonly guard: PruningGuard;
  readonly view: LedgerView;
}

/** @param isFresh whether the head is trusted to be the newest */
async function readerOf(store: StoreReader, isFresh: boolean, at?: Head): Promise<Reader> {
  const head = at ?? (await openHead(store));
  const identity = (await LEDGER_IDENTITY.get(store))!;
  const pinned = at === undefined ? await readPinnedAccounts(store) : new Map<Address, bigint>();
  const source = storedSource(store, head);
  const confirmedMs = isFresh ? performance.now() : Number.NEGATIVE_INFINITY;
  const guard = new PruningGuard(store, source, pinned, confirmedMs);
  const caches = {
    modules: new ModuleCache(),
    types: new TypeCache(),
    pages: new Cache<CachedPage>('event_pages'),
    transactions: new TransactionCaches(),
    blockPrices: new BlockPriceCache(),
  } as const;
  return { head, store, guard, view: new LedgerView(source, identity, caches, guard) };
}

/** The value, or the code of the error. */
async function outcomeOf(ask: () => unknown): Promise<unknown> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof LedgerError) return error.code;
    throw error;
  }
}

/** A read that is affected by a change. */
type Question = (reader: Reader, version: bigint, oldestNow: () => bigint) => unknown;

function questionsOf(part: Part, below: Below): Question[] {
  const { column, partition } = part;
  const order = 'order' in part ? Buffer.from(part.order) : undefined;
  switch (column) {
    case STATE:
      return [
        ({ guard }, version) =>
          guard.state(undefined, { hash: Buffer.from(partition), physical: partition }, version),
      ];
    case BALANCES: {
      const owner = addressFromBytes(partition);
      const asset = new FungibleAsset(addressFromBytes(order!));
      return [asset, APT].map(
        (of) =>
          ({ view }, version) =>
            view.balance(owner, of, version),
      );
    }
    case EVENTS: {
      const stream = decodeStreamId(Buffer.from(partition));
      const number = order === undefined ? below(20) : Number(order.readBigUInt64BE());
      const start = BigInt(Math.max(0, number - below(4)));
      const limit = 1 + below(5);
      return [
        async ({ guard }) => {
          const page = await guard.eventPage(stream, { start, limit });
          return page.pruned === undefined ? page.events : 'version_pruned';
        },
      ];
    }
    case ACCOUNT_KEYS: {
      const address = addressFromBytes(partition);
      return [
        async ({ view }, version) =>
          (await view.accounts.resources({ address, version, limit: 1_000 })).bcs(),
      ];
    }
    case ACCOUNT_TRANSACTIONS: {
      const address = addressFromBytes(partition);
      return [
        async ({ view }, version, oldestNow) => {
          const request = { address, from: version, to: undefined, limit: 1_000 };
          const sent = await view.history.transactionSummaries(request, 'this');
          // Lists leave out pruned versions.
          return sent.filter((summary) => summary.version >= oldestNow());
        },
      ];
    }
    case BLOCKS_BY_VERSION:
      return [
        ({ view }, version) => view.history.blockByVersion(version),
        ({ view }, version) => view.history.transactions(version, 3, 'this'),
      ];
    default:
      return [];
  }
}

test('every answer is right while commits show part by part', { timeout: 600_000 }, async () => {
  const random = randomSource(testSeed());
  const below: Below = (most) => Math.floor(random() * most);
  const whole = new MemoryStore();
  const engine = new MemoryStore({ answers: 'later' });
  const counts = { asked: 0, pruned: 0, parts: 0 };
  let old: Reader[] = [];
  let oldestNow = 0n;

  const check = async (reader: Reader, ask: Question) => {
    const { version: newest, oldestVersion } = reader.head;
    const span = Number(newest - oldestVersion) + 1;
    const near = [below(span), span - 1 - below(Math.min(span, 5)), below(Math.min(span, 5))];
    const version = oldestVersion + BigInt(near[below(3)]!);
    const given = await outcomeOf(() => ask(reader, version, () => oldestNow));
    counts.asked += 1;
    const truth = await readerOf(whole, true, {
      ...reader.head,
      ...{ oldestVersion: 0n, oldestBlockHeight: 0n },
    });
    const expected = await outcomeOf(() => ask(truth, version, () => oldestNow));
    if (given === 'version_pruned' || given === 'block_pruned') {
      counts.pruned += 1;
      // A page of events is pruned by the versions of its events.
      const [event] = Array.isArray(expected) ? expected : [];
      expect(Number(event?.version ?? version)).toBeLessThan(Number(oldestNow));
      return;
    }
    expect(given).toEqual(expected);
  };

  const store = partByPart(engine, {
    below,
    partsAtOnce: () => 1 + below([3, 40, 400][below(3)]!),
    between: async (next) => {
      counts.parts += next.length;
      if ((await engine.get(...HEAD_KEY)) === undefined) return;
      const fresh = await readerOf(engine, true);
      oldestNow = fresh.head.oldestVersion;
      const readers = [fresh, ...old.filter(() => below(3) === 0)];
      for (let index = 0; index < 3 && next.length > 0; index += 1) {
        const asked = questionsOf(next[below(next.length)]!, below);
        for (const ask of asked) for (const reader of readers) await check(reader, ask);
      }
      if (below(10) === 0) old = [...old, await readerOf(engine, false)].slice(-MAX_OLD_VIEWS);
    },
  });
  const writer = await LedgerWriter.open(store);
  const committer = new Committer(writer);
  const reference = new Committer(await LedgerWriter.open(whole));
  let round = 0;
  for (const chunk of bulkChunks(CHUNKS)) {
    await reference.push(chunk);
    await reference.drain();
    await committer.push(chunk);
    await committer.drain();
    round += 1;
    if (round % 3 !== 0) continue;
    const pruner = new Pruner(writer, { graceMs: 0, restFactor: 0 });
    await pruner.run({ versions: RETAINED_VERSIONS });
  }
  console.info({ ...counts });
  expect(counts.asked).toBeGreaterThan(1_000);
  expect(counts.pruned).toBeGreaterThan(0);
});
