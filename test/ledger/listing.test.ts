/** What limits a page of an account apart from `limit`, without losing anything on a walk. */
import { beforeAll, describe, expect, it } from 'vitest';
import {
  type ListedPage,
  type ListingBounds,
  listAccount,
} from '../../src/ledger/accounts/listing.ts';
import { padAddress } from '../../src/move/types/address.ts';
import {
  AccessPathKey,
  moduleStateKey,
  type Path,
  physicalStateKey,
  resourceGroupStateKey,
  resourceStateKey,
  type StateKey,
} from '../../src/move/types/state-key.ts';
import type { StructTag } from '../../src/move/types/type-tag.ts';
import { openView, type StoreView } from '../../src/store/read/view.ts';
import type { StateWrite } from '../../src/store/write/chunk.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { Random, testSeed } from '../random.ts';
import { MemoryStore } from '../store/memory-store.ts';

const ADDRESS = padAddress('a');
const EVERYTHING: ListingBounds = { maxBytes: 2 ** 30, maxKeys: 2 ** 30 };
const ALL_KINDS: readonly Path['kind'][] = ['code', 'resource', 'resourceGroup'];

function tag(name: string): StructTag {
  return { address: ADDRESS, module: 'm', name, typeArguments: [] };
}

function write(key: StateKey, value: Uint8Array | undefined): StateWrite {
  return { key: physicalStateKey(key), value };
}

async function viewOf(...versions: readonly (readonly StateWrite[])[]): Promise<StoreView> {
  const store = new MemoryStore();
  const writer = await LedgerWriter.open(store);
  await writer.append({
    firstVersion: 0n,
    transactions: versions.map((writes) => ({ writes, events: [], info: Buffer.from('info') })),
    blocks: [
      {
        height: 0n,
        firstVersion: 0n,
        epoch: 0n,
        round: 0n,
        timestampUsecs: 0n,
        id: Buffer.alloc(32),
      },
    ],
    epochEnds: [],
    frozenRoots: versions.length === 1 ? [Buffer.alloc(32)] : [Buffer.alloc(32, 1)],
    identity: { chainId: 1, genesisWaypointHash: Buffer.alloc(32), keepsTransactions: false },
  });
  return openView(store);
}

function names({ items }: ListedPage): string[] {
  return items.map(({ path }) => (path.kind === 'code' ? path.module.name : path.tag.name));
}

async function walk(
  view: StoreView,
  kinds: readonly Path['kind'][],
  limit: number,
  bounds: ListingBounds,
): Promise<ListedPage[]> {
  const pages: ListedPage[] = [];
  let cursor: string | undefined;
  do {
    const start = cursor === undefined ? undefined : Buffer.from(cursor, 'hex');
    const request = { address: ADDRESS, version: view.head.version, start, limit };
    const page = await listAccount(view, request, kinds, bounds);
    pages.push(page);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return pages;
}

describe('bytes', () => {
  let view: StoreView;
  beforeAll(async () => {
    view = await viewOf(
      ['A', 'B', 'C', 'D'].map((name) =>
        write(resourceStateKey(ADDRESS, tag(name)), Buffer.alloc(10)),
      ),
    );
  });

  it.each([
    [1, [1, 1, 1, 1]],
    [10, [1, 1, 1, 1]],
    [11, [2, 2]],
    [19, [2, 2]],
    [20, [2, 2]],
    [21, [3, 1]],
    [39, [4]],
    [40, [4]],
    [41, [4]],
  ])('of %i end a page with the item that reaches them', async (maxBytes, sizes) => {
    const pages = await walk(view, ['resource'], 100, { ...EVERYTHING, maxBytes });
    expect(pages.map(({ items }) => items.length)).toEqual(sizes);
    expect(pages.flatMap(names)).toEqual(['A', 'B', 'C', 'D']);
  });
});

describe('keys looked at', () => {
  const COUNT = 300;
  const name = (index: number) => `N${String(index).padStart(3, '0')}`;

  it.each([
    [127, 3],
    [128, 3],
    [129, 2],
    [256, 2],
    [257, 1],
    [300, 1],
  ])('of %i end a page, in steps of 128', async (maxKeys, pageCount) => {
    const live = [5, 200, 299];
    const keys = Array.from({ length: COUNT }, (_, index) =>
      resourceStateKey(ADDRESS, tag(name(index))),
    );
    const view = await viewOf(
      keys.map((key) => write(key, Buffer.of(1))),
      keys.flatMap((key, index) => (live.includes(index) ? [] : [write(key, undefined)])),
    );
    const pages = await walk(view, ['resource'], 10, { ...EVERYTHING, maxKeys });
    expect(pages.length).toBe(pageCount);
    expect(pages.flatMap(names)).toEqual(live.map(name));
  });

  it('may leave a page empty that has a next one', async () => {
    const keys = Array.from({ length: COUNT }, (_, index) =>
      resourceStateKey(ADDRESS, tag(name(index))),
    );
    const view = await viewOf(
      keys.map((key) => write(key, Buffer.of(1))),
      keys.slice(0, -1).map((key) => write(key, undefined)),
    );
    const pages = await walk(view, ['resource'], 10, { ...EVERYTHING, maxKeys: 128 });
    expect(pages.map(({ items }) => items.length)).toEqual([0, 0, 1]);
  });

  it('are few for modules among many resources', async () => {
    // Lengths of 125 to 300 bytes: their prefixes have one byte or two, so they do not sort like numbers.
    const resources = Array.from({ length: 2_000 }, (_, index) =>
      write(
        resourceStateKey(ADDRESS, tag(`R${index}${'x'.repeat((index * 7) % 200)}`)),
        Buffer.of(1),
      ),
    );
    const moduleNames = ['a', 'b'.repeat(80), 'c'.repeat(130), 'd'.repeat(200), 'e'.repeat(255)];
    const view = await viewOf([
      ...resources,
      ...moduleNames.map((module) => write(moduleStateKey(ADDRESS, module), Buffer.of(2))),
    ]);
    const [page] = await walk(view, ['code'], 100, EVERYTHING);
    expect(new Set(names(page!))).toEqual(new Set(moduleNames));
    const all = (await walk(view, ALL_KINDS, 10_000, EVERYTHING)).flatMap(names);
    expect(names(page!)).toEqual(all.filter((each) => moduleNames.includes(each)));
    // Each of some 200 lengths costs at most one step.
    for (const limit of [1, 2, 3, 4]) {
      const pages = await walk(view, ['code'], limit, EVERYTHING);
      expect(pages.flatMap(names)).toEqual(names(page!));
    }
  });
});

describe('a walk', () => {
  it('gives everything once, in order, whatever the bounds', async () => {
    const { below, seed } = new Random(testSeed('listing'));
    for (let run = 0; run < 20; run += 1) {
      const count = 1 + below(400);
      const writes = new Map<string, StateWrite>();
      for (let index = 0; index < count; index += 1) {
        const name = `T${below(200)}${'y'.repeat(below(3) === 0 ? below(1_500) : 0)}`;
        const key = [
          resourceStateKey(ADDRESS, tag(name)),
          resourceGroupStateKey(ADDRESS, tag(`${name}G`)),
          moduleStateKey(ADDRESS, name),
          new AccessPathKey(ADDRESS, Buffer.from(`\u0009${name}`)),
        ][below(4)]!;
        const value = below(4) === 0 ? undefined : Buffer.alloc(below(50));
        const written = write(key, value);
        writes.set(written.key.toString('hex'), written);
      }
      const view = await viewOf([...writes.values()]);
      const kinds = ALL_KINDS.filter(() => below(3) > 0);
      const expected = [...writes.values()]
        .filter(({ key, value }) => {
          // The kind is the first byte of the path; there is no kind 9.
          const path = key.subarray(33 + (key[33]! < 0x80 ? 1 : 2));
          const kind = ALL_KINDS[path[0]!];
          return value !== undefined && kind !== undefined && kinds.includes(kind);
        })
        .sort((left, right) => Buffer.compare(left.key, right.key));
      const bounds = { maxBytes: 1 + below(500), maxKeys: 1 + below(300) };
      const pages = await walk(view, kinds, 1 + below(20), bounds);
      const found = pages.flatMap(({ items }) =>
        items.map(({ path }) =>
          physicalStateKey(
            path.kind === 'code'
              ? moduleStateKey(path.module.address, path.module.name)
              : path.kind === 'resource'
                ? resourceStateKey(ADDRESS, path.tag)
                : resourceGroupStateKey(ADDRESS, path.tag),
          ).toString('hex'),
        ),
      );
      expect([seed, run, ...found]).toEqual([
        seed,
        run,
        ...expected.map(({ key }) => key.toString('hex')),
      ]);
    }
  });
});
