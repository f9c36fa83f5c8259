/** Event pages by the rules of docs/spec/http.md §7.1, compared with a naive implementation. */

import { describe, expect, test } from 'vitest';
import { U64_MAX } from '../../src/move/bcs/bcs-reader.ts';
import { Batch } from '../../src/store/batch.ts';
import { EVENTS } from '../../src/store/columns/columns.ts';
import { encodeStreamId, putEvent } from '../../src/store/columns/event-column.ts';
import type { Head } from '../../src/store/columns/head.ts';
import { encodeU64Key } from '../../src/store/columns/order-key.ts';
import type { EventPage } from '../../src/store/read/event-pages.ts';
import { StoreView } from '../../src/store/read/view.ts';
import type { Store } from '../../src/store/store.ts';
import { randomSource, testSeed } from '../random.ts';
import { address, frozenRoots } from './chunks.ts';
import { ENGINES } from './engines.ts';

const STREAM = { address: address(5), creationNumber: 3n };

function head(version: number, oldestVersion = 0): Head {
  return {
    version: BigInt(version),
    ...{ timestampUsecs: 0n, epoch: 0n, blockHeight: 0n, oldestBlockHeight: 0n },
    oldestVersion: BigInt(oldestVersion),
    frozenRoots: frozenRoots(version),
  };
}

/** Stores events with the given versions; the position is the sequence number. Also fills neighbouring streams. */
async function fill(
  store: Store,
  versions: readonly number[],
  firstStored = 0,
  stream = STREAM,
): Promise<void> {
  const batch = new Batch();
  const body = { typeTag: Buffer.of(2), data: Buffer.of(0) };
  for (const creationNumber of [stream.creationNumber - 1n, stream.creationNumber + 1n]) {
    const neighbour = { ...stream, creationNumber };
    putEvent(batch, neighbour, 0n, { version: 0n, index: 0 }, body);
  }
  versions.forEach((version, sequence) => {
    if (sequence < firstStored) return;
    putEvent(batch, stream, BigInt(sequence), { version: BigInt(version), index: 0 }, body);
  });
  await store.commit(batch);
}

const shown = ({ events, pruned }: EventPage): string =>
  events.map(({ sequenceNumber }) => sequenceNumber).join(',') +
  (pruned === undefined ? '' : ` pruned ${pruned.start}..${pruned.firstRetained}`);

describe.each(ENGINES)('%s', (_name, open) => {
  test('with and without start', async () => {
    const store = await open();
    await fill(store, [0, 1, 1, 2, 5, 5, 9]);
    const view = new StoreView(store, head(9));
    const page = async (limit: number, start?: bigint) =>
      shown(await view.eventStream(STREAM).page({ start, limit }));
    expect(await page(3)).toBe('4,5,6');
    expect(await page(7)).toBe('0,1,2,3,4,5,6');
    expect(await page(8)).toBe('0,1,2,3,4,5,6');
    expect(await page(3, 0n)).toBe('0,1,2');
    expect(await page(3, 5n)).toBe('5,6');
    expect(await page(3, 7n)).toBe('');
    expect(await page(3, U64_MAX)).toBe('');
    expect(await page(1, 6n)).toBe('6');
    const stream = view.eventStream(STREAM);
    expect(await stream.lastSequenceNumber()).toBe(6n);
    expect(await stream.firstRetainedSequenceNumber()).toBe(0n);
    const other = view.eventStream({ ...STREAM, creationNumber: 9n });
    expect(shown(await other.page({ limit: 5 }))).toBe('');
    expect(shown(await other.page({ start: 0n, limit: 5 }))).toBe('');
    expect(await other.lastSequenceNumber()).toBeUndefined();
    expect(await other.firstRetainedSequenceNumber()).toBeUndefined();
  });

  test('nothing above the head, however much there is', async () => {
    const store = await open();
    await fill(store, [0, 1, 1, 2, 5, 5, 9, ...new Array<number>(300).fill(10)]);
    const at = (version: number) => new StoreView(store, head(version));
    expect(shown(await at(9).eventStream(STREAM).page({ limit: 3 }))).toBe('4,5,6');
    expect(shown(await at(8).eventStream(STREAM).page({ limit: 3 }))).toBe('3,4,5');
    expect(shown(await at(5).eventStream(STREAM).page({ start: 4n, limit: 10 }))).toBe('4,5');
    expect(shown(await at(0).eventStream(STREAM).page({ limit: 3 }))).toBe('0');
    expect(await at(1).eventStream(STREAM).lastSequenceNumber()).toBe(2n);
    expect(await at(10).eventStream(STREAM).lastSequenceNumber()).toBe(306n);
    const late = await open();
    await fill(late, [4, 5]);
    const before = new StoreView(late, head(3));
    expect(shown(await before.eventStream(STREAM).page({ limit: 3 }))).toBe('');
    expect(shown(await before.eventStream(STREAM).page({ start: 0n, limit: 3 }))).toBe('');
    expect(await before.eventStream(STREAM).lastSequenceNumber()).toBeUndefined();
  });

  test('what is pruned is said, at the edges, deleted already or not', async () => {
    for (const firstStored of [0, 2, 4]) {
      const store = await open();
      await fill(store, [0, 1, 2, 3, 4, 5, 6], firstStored);
      const view = new StoreView(store, head(9, 4));
      const page = async (limit: number, start?: bigint) =>
        shown(await view.eventStream(STREAM).page({ start, limit }));
      expect(await page(3, 3n)).toBe('4,5 pruned 3..4');
      expect(await page(3, 4n)).toBe('4,5,6');
      expect(await page(3, 5n)).toBe('5,6');
      expect(await page(2, 0n)).toBe(' pruned 0..4');
      expect(await page(3)).toBe('4,5,6');
      expect(await page(4)).toBe('4,5,6 pruned 3..4');
      expect(await page(25)).toBe('4,5,6 pruned 0..4');
      expect(await page(3, 7n)).toBe('');
      expect(await view.eventStream(STREAM).firstRetainedSequenceNumber()).toBe(4n);
    }
  });

  test('a stream of which only the newest event, too old to show, is left', async () => {
    const store = await open();
    await fill(store, [0, 1, 2], 2);
    const view = new StoreView(store, head(9, 5));
    expect(shown(await view.eventStream(STREAM).page({ start: 0n, limit: 3 }))).toBe(
      ' pruned 0..3',
    );
    expect(shown(await view.eventStream(STREAM).page({ start: 2n, limit: 3 }))).toBe(
      ' pruned 2..3',
    );
    expect(shown(await view.eventStream(STREAM).page({ start: 3n, limit: 3 }))).toBe('');
    expect(shown(await view.eventStream(STREAM).page({ limit: 3 }))).toBe(' pruned 0..3');
  });

  test('a missing event is an error, never a shorter page', async () => {
    const store = await open();
    await fill(store, [0, 1, 2, 3, 4, 5]);
    await store.commit(new Batch().delete(EVENTS, encodeStreamId(STREAM), encodeU64Key(3n)));
    const view = new StoreView(store, head(9));
    const page = (limit: number, start?: bigint) => async () =>
      view.eventStream(STREAM).page({ start, limit });
    const gap = expect.objectContaining({ code: 'event_gap', expected: 3n, actual: 4n });
    await expect(page(3, 1n)()).rejects.toThrow(gap);
    await expect(page(3, 3n)()).rejects.toThrow(gap);
    await expect(page(4)()).rejects.toThrow(gap);
    expect(shown(await page(3, 0n)())).toBe('0,1,2');
    expect(shown(await page(2)())).toBe('4,5');
  });

  test('random streams against the plain way', async () => {
    const random = randomSource(testSeed());
    const below = (most: number) => Math.floor(random() * most);
    const store = await open();
    for (let round = 0; round < 60; round += 1) {
      const stream = { ...STREAM, creationNumber: BigInt(round * 3 + 1) };
      let version = 0;
      const versions = Array.from({ length: below(60) }, () => {
        version += below(3);
        return version;
      });
      const oldest = random() < 0.5 ? 0 : below(version + 2);
      const keptFrom = versions.findIndex((each) => each >= oldest);
      // The pruner may have deleted any event below the oldest version, except for the newest of them.
      const deletable = (keptFrom < 0 ? versions.length : keptFrom) - 1;
      await fill(store, versions, Math.max(0, below(deletable + 1)), stream);
      const newest = Math.max(oldest, below(version + 3));
      const view = new StoreView(store, head(newest, oldest));
      const visible = versions.filter((each) => each <= newest).length;
      const first = versions.findIndex((each) => each >= oldest && each <= newest);
      const firstRetained = first < 0 ? visible : first;
      for (let ask = 0; ask < 20; ask += 1) {
        const limit = 1 + below(30);
        const start = random() < 0.4 ? undefined : below(versions.length + 3);
        const from = start ?? Math.max(0, visible - limit);
        const wanted = versions
          .slice(from, Math.min(from + limit, visible))
          .map((_, n) => from + n);
        const expected = wanted.filter((sequence) => sequence >= firstRetained).join(',');
        const isPruned = wanted.length > 0 && from < firstRetained;
        const query = { start: start === undefined ? undefined : BigInt(start), limit };
        expect(shown(await view.eventStream(stream).page(query))).toBe(
          expected + (isPruned ? ` pruned ${from}..${firstRetained}` : ''),
        );
      }
    }
  });
});
