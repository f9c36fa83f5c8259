/** The verdict of `verify` on a damaged index of module events by type, also if pruning has cut a window. */
import { beforeAll, describe, expect, it } from 'vitest';
import { Batch } from '../../src/store/batch.ts';
import { EVENT_TYPES } from '../../src/store/columns/columns.ts';
import {
  placeInWindow,
  TYPE_WINDOW,
  typePartition,
  WINDOW_VERSIONS,
  WindowVersions,
  windowStart,
} from '../../src/store/columns/event-type-column.ts';
import { HEAD_ROW, openHead } from '../../src/store/columns/head.ts';
import { decodeU64Key } from '../../src/store/columns/order-key.ts';
import { Pruner } from '../../src/store/pruning/prune.ts';
import type { Store } from '../../src/store/store.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { verifyVersionsOf } from '../../src/verify/ledger.ts';
import { newSecret } from '../../src/verify/row-sums.ts';
import { block, chunk, transaction } from '../store/chunks.ts';
import { MemoryStore } from '../store/memory-store.ts';

const TYPE = Buffer.of(1, 7);
const PARTITION = typePartition(TYPE);
const VERSIONS = 9_000;
const OLDEST = 5_000;
/** One in three versions has an event of the type. */
const hasEvent = (version: number) => version % 3 === 0;

describe('a pruned ledger', () => {
  let store: Store;

  beforeAll(async () => {
    const writer = await LedgerWriter.open(new MemoryStore());
    for (let first = 0; first < VERSIONS; first += 1_000) {
      const transactions = Array.from({ length: 1_000 }, (_, at) => {
        const event = { kind: 'module', typeTag: TYPE, data: Buffer.of(1) } as const;
        const events = hasEvent(first + at) ? [event] : [];
        return transaction(first + at, { events });
      });
      const blocks = [block(first / 1_000, first)];
      await writer.append(chunk(first, transactions, { blocks }));
    }
    await new Pruner(writer, { graceMs: 0, restFactor: 0 }).run({ versions: VERSIONS - OLDEST });
    expect(writer.head!.oldestVersion).toBe(BigInt(OLDEST));
    store = writer.reader as Store;
  });

  const keyOf = (version: number, partition = PARTITION) =>
    TYPE_WINDOW.keyOf({ partition, start: windowStart(BigInt(version)) });

  /** The damages of the index if a row does or does not contain a version. */
  async function withVersion(version: number, isNamed: boolean, partition = PARTITION) {
    const key = keyOf(version, partition);
    const value = await store.get(EVENT_TYPES, key.partition, key.order);
    const versions = value === undefined ? new WindowVersions() : TYPE_WINDOW.decode(key, value);
    const place = placeInWindow(BigInt(version));
    const changed = new WindowVersions();
    for (const other of versions.places()) if (other !== place) changed.add(other);
    if (isNamed) changed.add(place);
    const batch = new Batch();
    TYPE_WINDOW.put(batch, { partition, start: windowStart(BigInt(version)) }, changed);
    return await damagesWith(batch);
  }

  /** Transactions and infos of the ledger are placeholders, so only damages of the index count. */
  async function examined(): Promise<string[]> {
    const head = HEAD_ROW.encode(await openHead(store));
    const request = { head, clearedBelow: 0n, secret: newSecret(), maxListed: 1_000_000 };
    const { above, damages } = await verifyVersionsOf(store, request, () => undefined);
    return [...damages.listed, ...above.listed]
      .filter(({ column }) => column === EVENT_TYPES.name)
      .map(({ detail, version }) => `${version}: ${detail}`);
  }

  async function damagesWith(batch: Batch) {
    const { column, partition, order } = batch.rows[0]!;
    const before = await store.get(column, partition, order);
    await store.commit(batch);
    const damages = await examined();
    const repair = new Batch();
    if (before === undefined) repair.delete(column, partition, order);
    else repair.put(column, partition, order, before);
    await store.commit(repair);
    return damages;
  }

  it('has a row for each window from the oldest version on, and nothing below', async () => {
    const rows = await store.range(EVENT_TYPES, PARTITION, { limit: 10 });
    expect(rows.map(({ order }) => decodeU64Key(order))).toEqual([4_096n, 8_192n]);
    const [first] = rows.map((row) =>
      TYPE_WINDOW.decode({ partition: PARTITION, ...row }, row.value),
    );
    expect([...first!.places()][0]).toBe(5_001 - 4_096);
    expect(await examined()).toEqual([]);
  });

  const WRONG = 'it does not name the versions of its events';

  it.each([
    ['a version without an event', 6_001, true, `4096: ${WRONG}`],
    ['the lack of one with an event', 6_000, false, `4096: ${WRONG}`],
    ['one below the oldest version', 4_998, true, `4096: ${WRONG}`],
    [
      'one above the head',
      9_500,
      true,
      'undefined: it is above the head, and nobody is committing',
    ],
    ['a window that is pruned', 3, true, '0: no event is of its type and window'],
    [
      'a window above the head',
      3 * WINDOW_VERSIONS,
      true,
      'undefined: it is above the head, and nobody is committing',
    ],
  ])('%s is found', async (_, version, isNamed, expected) => {
    expect(await withVersion(version, isNamed)).toEqual([expected]);
  });

  it('a type that never occurred is found', async () => {
    const found = await withVersion(6_000, true, typePartition(Buffer.of(2)));
    expect(found).toEqual(['4096: no event is of its type and window']);
  });

  it('a missing row is found', async () => {
    const { partition, order } = keyOf(6_000);
    const batch = new Batch().delete(EVENT_TYPES, partition, order);
    expect(await damagesWith(batch)).toEqual(['4096: it is missing']);
  });

  it('a row that begins within a window is found', async () => {
    const batch = new Batch();
    const versions = new WindowVersions();
    versions.add(0);
    TYPE_WINDOW.put(batch, { partition: PARTITION, start: 6_000n }, versions);
    expect(await damagesWith(batch)).toEqual(['6000: no event is of its type and window']);
  });

  it('a row that does not decode is found', async () => {
    const { partition, order } = keyOf(6_000);
    const batch = new Batch().put(EVENT_TYPES, partition, order, Buffer.of(1));
    expect(await damagesWith(batch)).toHaveLength(1);
  });
});
