/** Repairing a ledger from a real node on loopback: any damage in any column that follows from its versions. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { Batch } from '../../src/store/batch.ts';
import {
  ACCOUNT_KEYS,
  ACCOUNT_TRANSACTIONS,
  BALANCES,
  BLOCKS_BY_HEIGHT,
  COLUMNS,
  type Column,
  EPOCHS,
  EVENTS,
  HEAD,
  IDENTITY,
  PRUNING,
  type ScannedRow,
  STATE,
  STATE_KEYS,
  TRANSACTION_HASHES,
  TRANSACTION_INFOS,
  TRANSACTIONS,
  VERSION_WRITES,
} from '../../src/store/columns/columns.ts';
import { decodeEventRow } from '../../src/store/columns/event-column.ts';
import { HEAD_KEY, readHead } from '../../src/store/columns/head.ts';
import { LEDGER_IDENTITY } from '../../src/store/columns/identity-column.ts';
import {
  decodeU64Key,
  encodeBucketKey,
  encodeU64Key,
  NO_ORDER,
} from '../../src/store/columns/order-key.ts';
import { readPruneProgress } from '../../src/store/columns/pruning-column.ts';
import { parsePostgresUrl } from '../../src/store/postgres/location.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { storeFileOf } from '../../src/store/sqlite/files.ts';
import { Block } from '../../src/store/sqlite/runs/block.ts';
import { MAX_RUN_BLOCKS, type RunFacts } from '../../src/store/sqlite/runs/manifest.ts';
import { openSqliteReader } from '../../src/store/sqlite/sqlite-store.ts';
import { CHECKSUM_BYTES } from '../../src/store/sqlite/stored-value.ts';
import { placeOf } from '../../src/store/sqlite/version-record.ts';
import type { Store } from '../../src/store/store.ts';
import { keyText } from '../../src/store/store-error.ts';
import { digests, upstreamOver } from '../ingest/feed-following.ts';
import { NO_POSTGRES } from '../postgres/cluster.ts';
import { newPostgresLocation } from '../postgres/shared.ts';
import { randomSource, someOf, testSeed } from '../random.ts';
import {
  findStored,
  flipInside,
  overwrite,
  readStored,
  spoilPage,
  spoilValues,
  storedIds,
  storedRuns,
} from '../store/stored-rows.ts';
import {
  damagedLedger,
  digestsOf,
  fill,
  type Harm,
  repaired,
  soundStore,
} from './damaged-ledgers.ts';

/** Columns whose rows follow from nothing else. */
const FIXED: readonly Column[] = [IDENTITY, HEAD, PRUNING];
const LEAN = 'without whole transactions';
const ALL = { maxRows: 10_000, maxBytes: 1e9 };

let sound: Store;
let expected: Record<string, string>;
beforeAll(async () => {
  sound = await soundStore();
  expected = await digests(sound);
});

type Below = (most: number) => number;
type RowHarm = (batch: Batch, column: Column, row: ScannedRow, below: Below) => void;
const HARMS: Readonly<Record<string, RowHarm>> = {
  'flipped bits': (batch, column, { partition, order, value }, below) => {
    const damaged = Buffer.from(value.length === 0 ? [0] : value);
    damaged[below(damaged.length)]! ^= 1 << below(8);
    batch.put(column, partition, order, damaged);
  },
  'missing rows': (batch, column, { partition, order }) => {
    batch.delete(column, partition, order);
  },
  'rows that nobody wrote': (batch, column, { partition, order, value }, below) => {
    const other = Buffer.from(partition);
    // The embedded engine accepts versions up to 2^53 - 1.
    const first = placeOf(column.number) === undefined ? 0 : 2;
    other[first + below(other.length - first)]! ^= 1 << below(8);
    batch.put(column, other, order, value);
  },
};

/** Damages three rows of every column except some. */
function everywhere(harm: RowHarm, but: readonly Column[] = FIXED): Harm {
  const random = randomSource(testSeed());
  const below = (most: number): number => Math.floor(random() * most);
  return async (store, batch) => {
    for (const column of COLUMNS.filter((one) => !but.includes(one))) {
      const rows = await store.scan(column, ALL);
      for (let count = 0; count < 3 && rows.length > 0; count += 1) {
        harm(batch, column, rows[below(rows.length)]!, below);
      }
    }
  };
}

async function expectHealed(data: string, digestsBefore = expected): Promise<void> {
  const { url } = await upstreamOver(sound);
  const { report, damagesBefore } = await repaired(data, url);
  expect(report.damages).toEqual([]);
  expect(damagesBefore).toBeGreaterThan(0);
  expect(await digestsOf(data)).toEqual(digestsBefore);
}

test.each(Object.entries(HARMS))('%s in every column are repaired', async (_, harm) => {
  await expectHealed(await damagedLedger(everywhere(harm)));
});

test.each(someOf(Object.entries(HARMS), 1))(
  '%s of a ledger without whole transactions',
  async (what, harm) => {
    const before = await digestsOf(await damagedLedger(() => undefined, LEAN));
    // Nothing reveals that these values have changed.
    const unseen = what === 'flipped bits' ? [STATE, TRANSACTION_INFOS, VERSION_WRITES] : [];
    // Nothing tells which version began a block that is missing from both columns, or ended an epoch.
    const unknown = what === 'missing rows' ? [BLOCKS_BY_HEIGHT, EPOCHS] : [];
    const damage = everywhere(harm, [...FIXED, ...unseen, ...unknown]);
    await expectHealed(await damagedLedger(damage, LEAN), before);
  },
);

describe.skipIf(NO_POSTGRES !== '')(`${NO_POSTGRES}in PostgreSQL`, () => {
  test('rows of every column are repaired', async () => {
    const data = await newPostgresLocation();
    const open = () => openPostgresStore(parsePostgresUrl(data));
    const store = await open();
    await fill(store);
    const batch = new Batch();
    for (const harm of Object.values(HARMS)) await everywhere(harm)(store, batch);
    await store.commit(batch);
    await store.close();
    const { url } = await upstreamOver(sound);
    const { report, damagesBefore } = await repaired(data, url);
    expect(report.damages).toEqual([]);
    expect(damagesBefore).toBeGreaterThan(0);
    const healed = await open();
    expect(await digests(healed)).toEqual(expected);
    await healed.close();
  });
});

test('genesis is repaired', async () => {
  const data = await damagedLedger(async (store, batch) => {
    const { partition, order } = encodeBucketKey(0n);
    batch.delete(TRANSACTION_INFOS, partition, order);
    batch.put(TRANSACTIONS, partition, order, Buffer.of(1, 2, 3));
    const rows = await store.scan(STATE, ALL);
    const ofGenesis = rows.filter((row) => row.order.equals(encodeU64Key(0n)));
    for (const row of ofGenesis.slice(0, 40)) batch.delete(STATE, row.partition, row.order);
  });
  await expectHealed(data);
});

test('more rows above the head than there are rounds are removed', async () => {
  const data = await damagedLedger((_, batch) => {
    for (let version = 5_000n; version < 5_030n; version += 1n) {
      const { partition, order } = encodeBucketKey(version);
      for (const column of [TRANSACTION_INFOS, VERSION_WRITES]) {
        batch.put(column, partition, order, Buffer.of(1));
      }
    }
  });
  await expectHealed(data);
});

/**
 * The blocks of a run with rows of a column, including deleted ones, but without blocks that contain rows needed for
 * opening.
 */
function blocksWith(data: string, { number, blocks }: RunFacts, column: Column) {
  const found = [];
  for (let at = 0; at < blocks; at += 1) {
    const id = number * MAX_RUN_BLOCKS + at;
    const block = new Block(readStored(data, 'blocks', id), id);
    const deleted = Array.from({ length: block.count }, (_, entry) => block.entryAt(entry))
      .filter(({ key }) => key[0] === column.number)
      .map(({ value }) => value === undefined);
    if (block.entryAt(0).key[0]! > HEAD.number && deleted.length > 0)
      found.push({ id, hasDeleted: deleted.includes(true) });
  }
  return found;
}

describe('pages', () => {
  test('a record whose index cannot be read is replaced', async () => {
    const data = await damagedLedger(() => undefined);
    const { start } = findStored(data, 'versions', 101);
    overwrite(data, start + CHECKSUM_BYTES, Buffer.alloc(6, 0xff));
    await expectHealed(data);
  });

  test('several whose values are rubbish, of versions and of state', async () => {
    const data = await damagedLedger(async (store, batch) => {
      const rows = await store.scan(STATE, ALL);
      const deletion = new Batch();
      for (const at of [0, rows.length >> 1]) {
        const { partition, order, value } = rows[at]!;
        // A row written after its version's record is stored separately.
        deletion.delete(STATE, partition, order);
        batch.put(STATE, partition, order, value);
      }
      await store.commit(deletion);
    });
    for (const version of [0, 30, 200, 390]) spoilValues(data, 'versions', version);
    const blobs = storedIds(data, 'blobs');
    for (const blob of [blobs[0]!, blobs.at(-1)!]) spoilValues(data, 'blobs', blob);
    await expectHealed(data);
  });

  test('blocks of sorted runs that are damaged are mended, and what is lost is put again', async () => {
    const data = await damagedLedger(() => undefined);
    const run = storedRuns(data).at(-1);
    const columns = [STATE, TRANSACTION_HASHES, ACCOUNT_TRANSACTIONS];
    const blocks = new Set(columns.map((column) => blocksWith(data, run!, column)[0]!.id));
    for (const block of blocks) flipInside(data, 'blocks', block);
    await expectHealed(data);
  });

  test('indexes of sorted runs that are damaged are made again', async () => {
    const data = await damagedLedger(() => undefined);
    for (const { number, blocks } of storedRuns(data)) {
      flipInside(data, 'blocks', number * MAX_RUN_BLOCKS + blocks);
    }
    await expectHealed(data);
  });

  test.each<[string, (data: string) => void]>([
    ['its pages', (data) => spoilPage(data, 'versions', 101)],
    ['the log', (data) => flipInside(data, 'log', storedIds(data, 'log')[0]!)],
    ['the list of the sorted runs', (data) => flipInside(data, 'manifest', 0)],
  ])('nothing is written where the engine cannot read %s', async (_, damage) => {
    const data = await damagedLedger((__, batch) => {
      batch.delete(EPOCHS, Buffer.of(0), encodeU64Key(1n));
    });
    damage(data);
    const before = readFileSync(storeFileOf(data));
    const upstream = await upstreamOver(sound);
    const outcome = await repaired(data, upstream.url).catch((error: unknown) => error);
    expect(outcome).toMatchObject({ code: expect.stringMatching(/^(?:damaged|data_not_usable)$/) });
    expect(upstream.pages).toEqual([]);
    expect(readFileSync(storeFileOf(data)).equals(before)).toBe(true);
  });
});

/** All rows, without those of state that no remaining version shows. */
async function visibleRows(data: string): Promise<Record<string, string>> {
  const store = openSqliteReader({ directory: data });
  const { oldestVersion } = (await readHead(store))!;
  const rows = await store.scan(STATE, ALL);
  const digest = createHash('sha256');
  for (const [at, { partition, order, value }] of rows.entries()) {
    const next = rows[at + 1];
    const isSuperseded =
      next?.partition.equals(partition) === true && decodeU64Key(next.order) <= oldestVersion;
    if (!isSuperseded) digest.update(partition).update(order).update(value);
  }
  const others = await digests(store);
  await store.close();
  return { ...others, [STATE.name]: digest.digest('hex') };
}

describe('a pruned ledger', () => {
  test.each(someOf(Object.entries(HARMS), 1))(
    '%s of its versions are repaired',
    async (_, harm) => {
      const before = await digestsOf(await damagedLedger(() => undefined, 'pruned'));
      const data = await damagedLedger(async (store, batch) => {
        const { clearedBelow } = await readPruneProgress(store);
        const damage = everywhere(
          (to, column, row, below) => {
            // Writes of older versions are not in any of the remaining ones.
            const isOld =
              (column === STATE && row.order.readBigUInt64BE() <= clearedBelow) ||
              (column === EVENTS && decodeEventRow(row.partition, row).version <= clearedBelow);
            if (!isOld) harm(to, column, row, below);
          },
          [...FIXED, ACCOUNT_KEYS, STATE_KEYS, BALANCES],
        );
        await damage(store, batch);
      }, 'pruned');
      await expectHealed(data, before);
    },
  );

  test('rows of the indexes of transactions that its versions no longer have are removed', async () => {
    const before = await digestsOf(await damagedLedger(() => undefined, 'pruned'));
    const data = await damagedLedger(async (_, batch) => {
      for (const column of [TRANSACTION_HASHES, ACCOUNT_TRANSACTIONS]) {
        for (const { partition, order, value } of (await sound.scan(column, ALL)).slice(0, 50)) {
          batch.put(column, partition, order, value);
        }
      }
    }, 'pruned');
    await expectHealed(data, before);
  });

  test('deletions of state that the index has lost are made again', async () => {
    const data = await damagedLedger(() => undefined, 'pruned');
    const before = await visibleRows(data);
    // The oldest run has rows from before pruning, a newer one the deletions by pruning.
    const blocks = storedRuns(data)
      .flatMap((run) => blocksWith(data, run, STATE))
      .filter(({ hasDeleted }) => hasDeleted);
    expect(blocks.length).toBeGreaterThan(3);
    flipInside(data, 'blocks', blocks[0]!.id);
    const { url } = await upstreamOver(sound);
    const { report, damagesBefore } = await repaired(data, url);
    expect(report.damages).toEqual([]);
    expect(damagesBefore).toBeGreaterThan(0);
    expect(await visibleRows(data)).toEqual(before);
  });

  test('a damaged value of older state is not taken for a deleted one', async () => {
    let rows: readonly ScannedRow[] = [];
    const data = await damagedLedger(async (store) => {
      rows = await store.scan(STATE, ALL);
    }, 'pruned');
    const [version] = storedIds(data, 'versions');
    const lost = rows.find(({ order }) => decodeU64Key(order) === BigInt(version!))!;
    flipInside(data, 'versions', version!);
    const { url } = await upstreamOver(sound);
    const { report } = await repaired(data, url);
    const key = keyText(lost);
    expect(report.damages).toContainEqual(expect.objectContaining({ column: STATE.name, key }));
    const store = openSqliteReader({ directory: data });
    expect(() => store.get(STATE, lost.partition, lost.order)).toThrow(
      expect.objectContaining({ code: 'row_damaged' }),
    );
    await store.close();
  });

  test('a damaged record of older state hides no other damage', async () => {
    const data = await damagedLedger(async (store, batch) => {
      const { clearedBelow } = await readPruneProgress(store);
      const { partition, order } = encodeBucketKey(clearedBelow + 40n);
      batch.delete(TRANSACTIONS, partition, order);
      // No version refers to it.
      const above = encodeBucketKey(5_000n);
      batch.put(VERSION_WRITES, above.partition, above.order, Buffer.of(1));
    }, 'pruned');
    const [record] = storedIds(data, 'versions');
    flipInside(data, 'versions', record!);
    const { url } = await upstreamOver(sound);
    const { report, repaired: done } = await repaired(data, url);
    expect(done).toMatchObject({ versions: 1 });
    const places = report.damages.map(({ key }) => key ?? '').filter((key) => key !== '');
    const version = Buffer.from(encodeU64Key(BigInt(record!))).toString('hex');
    for (const place of places) expect(place.replace('/', '')).toContain(version);
    expect(places.length).toBeGreaterThan(3);
  });

  test('a damaged value of older state does not stop the repair of newer rows of its key', async () => {
    let version = -1n;
    let lost: ScannedRow | undefined;
    const data = await damagedLedger(async (store, batch) => {
      const { clearedBelow } = await readPruneProgress(store);
      const rows = await store.scan(STATE, ALL);
      const versionOf = ({ order }: ScannedRow): bigint => order.readBigUInt64BE();
      // A key with a row from before the oldest version, in a record, and a newer one.
      const at = rows.findIndex((row, index) => {
        const next = rows[index + 1];
        const isOld = versionOf(row) > 0n && versionOf(row) < clearedBelow;
        return isOld && next?.partition.equals(row.partition) === true;
      });
      version = versionOf(rows[at]!);
      lost = rows[at + 1]!;
      batch.delete(STATE, lost.partition, lost.order);
    }, 'pruned');
    flipInside(data, 'versions', Number(version));
    const { url } = await upstreamOver(sound);
    const { report } = await repaired(data, url);
    expect(report.damageCount).toBeGreaterThan(0);
    const store = openSqliteReader({ directory: data });
    expect(await store.get(STATE, lost!.partition, lost!.order)).toEqual(lost!.value);
    await store.close();
  });

  test('keys of older state are found at a source that has its versions', async () => {
    const data = await damagedLedger(async (store, batch) => {
      for (const column of [ACCOUNT_KEYS, STATE_KEYS]) {
        const [first] = await store.scan(column, ALL);
        batch.delete(column, first!.partition, first!.order);
      }
    }, 'pruned');
    const { url } = await upstreamOver(sound);
    const { report, damagesBefore } = await repaired(data, url);
    expect(damagesBefore).toBeGreaterThan(0);
    expect(report.damages).toEqual([]);
  });

  test('a lost value of older state stays damage, and its key and balance stay', async () => {
    let before: Record<string, string> = {};
    const data = await damagedLedger(async (store, batch) => {
      before = await digests(store);
      const { clearedBelow } = await readPruneProgress(store);
      const rows = await store.scan(STATE, ALL);
      const old = rows.filter(({ order }) => order.readBigUInt64BE() < clearedBelow);
      for (const row of old.slice(0, 20)) batch.delete(STATE, row.partition, row.order);
    }, 'pruned');
    const { url } = await upstreamOver(sound);
    const { report } = await repaired(data, url);
    expect(report.damageCount).toBeGreaterThan(0);
    const after = await digestsOf(data);
    for (const { name } of COLUMNS) if (name !== STATE.name) expect(after[name]).toBe(before[name]);
  });
});

describe('what nothing follows from is not repaired', () => {
  test('a damaged head: nothing is written, whatever it says', async () => {
    const random = randomSource(testSeed());
    const before = Object.entries(expected);
    for (let count = 0; count < 3; count += 1) {
      const data = await damagedLedger(async (store, batch) => {
        const value = Buffer.from((await store.get(HEAD, HEAD_KEY.partition, NO_ORDER))!);
        // In turn the version, the time and the roots.
        const at = [0, 8, 50][count]!;
        value[at]! ^= 1 << Math.floor(random() * 8);
        batch.publish(HEAD, HEAD_KEY.partition, NO_ORDER, value);
      });
      const { url } = await upstreamOver(sound);
      const outcome = await repaired(data, url).catch((error: unknown) => error);
      const isRefused = (outcome as { code?: string }).code === 'damaged';
      const left = isRefused
        ? 1
        : (outcome as { report: { damageCount: number } }).report.damageCount;
      expect(left).toBeGreaterThan(0);
      const after = await digestsOf(data);
      for (const [name, digest] of before) if (name !== HEAD.name) expect(after[name]).toBe(digest);
    }
  });

  test('an identity that denies the transactions', async () => {
    const data = await damagedLedger(async (store, batch) => {
      const identity = (await LEDGER_IDENTITY.get(store))!;
      LEDGER_IDENTITY.put(batch, undefined, { ...identity, keepsTransactions: false });
    });
    const { url } = await upstreamOver(sound);
    await expect(repaired(data, url)).rejects.toMatchObject({ code: 'data_not_usable' });
    const after = await digestsOf(data);
    expect(after[TRANSACTIONS.name]).toBe(expected[TRANSACTIONS.name]);
  });
});
