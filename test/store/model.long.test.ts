/**
 * Random histories, the same for SQLite and for the model: rows (puts, deletes, reads of every kind, reopening), and
 * whole ledgers (chunks through the writer, views at every version) compared with a naive replay.
 */
import { expect, onTestFinished, test } from 'vitest';
import { hashedPhysicalKey } from '../../src/move/types/state-key.ts';
import { Batch } from '../../src/store/batch.ts';
import {
  ACCOUNT_KEYS,
  COLUMNS,
  type Column,
  EPOCHS,
  EVENTS,
  MAX_ORDER_BYTES,
  type ScannedRow,
  STATE,
  STATE_KEYS,
} from '../../src/store/columns/columns.ts';
import { openView, type StoreView } from '../../src/store/read/view.ts';
import type { Store } from '../../src/store/store.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { IS_LONG, randomSource, testSeed } from '../random.ts';
import {
  address,
  block,
  chunk,
  resourceKey,
  streamEvent,
  tableKey,
  transaction,
  write,
} from './chunks.ts';
import { DURABLE_ENGINES } from './engines.ts';
import { MemoryStore } from './memory-store.ts';

type Below = (most: number) => number;

/** Keys from a small space, so that they collide, including extreme bytes. */
function randomBytes(below: Below, length: number): Buffer {
  const bytes = Buffer.alloc(length, [0, 1, 255][below(3)]!);
  if (length > 0) bytes[below(length)] = [0, 1, 127, 254, 255][below(5)]!;
  return bytes;
}

function randomOrder(below: Below, { orderBytes: [least, most] }: Column): Buffer {
  if (least === most) return randomBytes(below, least);
  const length = [1, 2, 3, MAX_ORDER_BYTES - 1, MAX_ORDER_BYTES][below(5)]!;
  return randomBytes(below, length);
}

const ROW_COLUMNS = [STATE, STATE_KEYS, EVENTS, ACCOUNT_KEYS, EPOCHS];

/** A server takes ten times as long. */
const roundsIn = (engine: string, rounds: number): number =>
  engine === 'SQLite' || IS_LONG ? rounds : Math.ceil(rounds / 4);

test.each(DURABLE_ENGINES)('rows, %s', async (name, newPlace) => {
  const random = randomSource(testSeed());
  const below: Below = (most) => Math.floor(random() * most);
  const openStore = await newPlace();
  let stored = await openStore();
  onTestFinished(() => stored.close());
  const model = new MemoryStore();
  for (let round = 0; round < roundsIn(name, 150); round += 1) {
    if (below(20) === 0) {
      await stored.close();
      stored = await openStore();
    }
    const [forStored, forModel] = [new Batch(), new Batch()];
    for (let change = below(30); change > 0; change -= 1) {
      const column = ROW_COLUMNS[below(ROW_COLUMNS.length)]!;
      const key = [randomBytes(below, column.partitionBytes), randomOrder(below, column)] as const;
      const value = randomBytes(below, [0, 1, 50, 5_000, 70_000][below(5)]!);
      const isDelete = below(4) === 0;
      for (const batch of [forStored, forModel]) {
        if (isDelete) batch.delete(column, ...key);
        else batch.put(column, ...key, value);
      }
    }
    await Promise.all([stored.commit(forStored), model.commit(forModel)]);
    for (let read = 0; read < 20; read += 1) {
      const ask = randomRead(below);
      expect(textOf(await ask(stored))).toBe(textOf(await ask(model)));
    }
  }
  for (const column of COLUMNS) {
    expect(textOf(await all(stored, column))).toBe(textOf(await all(model, column)));
  }
});

function randomRead(below: Below): (store: Store) => unknown {
  const column = ROW_COLUMNS[below(ROW_COLUMNS.length)]!;
  const partition = randomBytes(below, column.partitionBytes);
  const order = randomOrder(below, column);
  if (column === STATE_KEYS) return (store) => store.get(column, partition, order);
  const limit = 1 + below(10);
  const reverse = below(2) === 0;
  const from = below(2) === 0 ? undefined : order;
  const to = below(2) === 0 ? undefined : randomOrder(below, column);
  const kinds: readonly ((store: Store) => unknown)[] = [
    (store) => store.get(column, partition, order),
    (store) => store.seekLast(column, partition, order),
    (store) => store.range(column, partition, { from, to, limit, reverse }),
    (store) => store.scan(column, { after: { partition, order }, maxRows: limit, maxBytes: 500 }),
  ];
  return kinds[below(kinds.length)]!;
}

/** A result as text: comparing large buffers item by item takes the test runner seconds. */
function textOf(answer: unknown): string {
  if (Buffer.isBuffer(answer)) return answer.toString('hex');
  if (Array.isArray(answer)) return answer.map(textOf).join('\n');
  if (typeof answer !== 'object' || answer === null) return String(answer);
  return Object.entries(answer)
    .map(([name, part]) => `${name} ${textOf(part)}`)
    .sort()
    .join(' ');
}

async function all(store: Store, column: Column): Promise<readonly ScannedRow[]> {
  return store.scan(column, { maxRows: 10_000, maxBytes: 1e12 });
}

/** The state of a naive replay. */
interface Replay {
  /** The value after each version, by key. */
  readonly values: Map<string, Map<bigint, string | undefined>>;
  /** The versions of each stream's events. */
  readonly streams: number[][];
  readonly blockStarts: number[];
  version: number;
}

test.each(DURABLE_ENGINES)('ledgers, %s', async (name, newPlace) => {
  const random = randomSource(testSeed());
  const below: Below = (most) => Math.floor(random() * most);
  const openStore = await newPlace();
  let stored = await openStore();
  onTestFinished(() => stored.close());
  const model = new MemoryStore({ answers: 'later' });
  let writers = [await LedgerWriter.open(stored), await LedgerWriter.open(model)];
  const replay: Replay = { values: new Map(), streams: [[], [], []], blockStarts: [], version: -1 };
  for (let round = 0; round < roundsIn(name, 40); round += 1) {
    if (below(8) === 0) {
      await stored.close();
      stored = await openStore();
      writers = [await LedgerWriter.open(stored), await LedgerWriter.open(model)];
    }
    const next = randomChunk(below, replay);
    for (const writer of writers) await writer.append(next);
    if (below(3) === 0) {
      for (const writer of writers) {
        expect((await writer.append(next)).outcome).toBe('already_there');
      }
    }
    for (const store of [stored, model]) await compare(await openView(store), replay, below);
  }
  for (const column of COLUMNS) {
    expect(textOf(await all(stored, column))).toBe(textOf(await all(model, column)));
  }
});

const KEYS = [
  ...[1, 2, 3].flatMap((account) => ['A', 'B'].map((name) => resourceKey(account, name))),
  resourceKey(3, 'L'.repeat(3_000)),
  tableKey(9, 'item'),
];

function randomChunk(below: Below, replay: Replay) {
  const first = replay.version + 1;
  const blocks = first === 0 ? [block(0, 0, 0)] : [];
  const count = 1 + below(8);
  const transactions = Array.from({ length: count }, (_, index) => {
    const version = first + index;
    if (version > 0 && below(3) === 0) {
      blocks.push(block(replay.blockStarts.length + blocks.length, version));
    }
    const writes = KEYS.filter(() => below(4) === 0).map((key) => {
      const value = below(4) === 0 ? undefined : `${version}`;
      const history = replay.values.get(key.toString('hex')) ?? new Map();
      replay.values.set(key.toString('hex'), history.set(BigInt(version), value));
      return write(key, value);
    });
    const events = Array.from({ length: below(3) }, () => {
      const stream = below(replay.streams.length);
      const sequence = replay.streams[stream]!.push(version) - 1;
      return streamEvent(7, stream, sequence);
    });
    return transaction(version, { writes, events });
  });
  replay.blockStarts.push(...blocks.map(({ firstVersion }) => Number(firstVersion)));
  replay.version += count;
  return chunk(first, transactions, { blocks });
}

async function compare(view: StoreView, replay: Replay, below: Below): Promise<void> {
  expect(view.head.version).toBe(BigInt(replay.version));
  expect(view.head.blockHeight).toBe(BigInt(replay.blockStarts.length - 1));
  const version = BigInt(below(replay.version + 1));
  for (const key of KEYS) {
    const history = [...(replay.values.get(key.toString('hex')) ?? [])];
    const [, value] = history.filter(([written]) => written <= version).at(-1) ?? [];
    const entry = await view.state(hashedPhysicalKey(key), version);
    expect(entry?.bytes?.toString()).toBe(value);
  }
  const starts = replay.blockStarts.filter((start) => BigInt(start) <= version);
  expect((await view.blockOfVersion(version))?.height).toBe(BigInt(starts.length - 1));
  for (const [stream, versions] of replay.streams.entries()) {
    const limit = 1 + below(5);
    const start = below(versions.length + 2);
    const id = { address: address(7), creationNumber: BigInt(stream) };
    const page = await view.eventStream(id).page({ start: BigInt(start), limit });
    expect(page.events.map((event) => Number(event.version))).toEqual(
      versions.slice(start, start + limit),
    );
    const newest = await view.eventStream(id).page({ limit });
    expect(newest.events.map((event) => Number(event.version))).toEqual(versions.slice(-limit));
  }
  for (const account of [1, 2, 3]) {
    const written = KEYS.filter(
      (key) =>
        key.subarray(1, 33).toString('hex') === address(account) &&
        [...(replay.values.get(key.toString('hex'))?.keys() ?? [])].some((at) => at <= version),
    );
    const listing = await view.accountKeys(address(account), { limit: 100, version });
    expect(listing.keys).toEqual(written.sort(Buffer.compare));
  }
}
