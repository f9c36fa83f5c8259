/** The index of module events by type: its rows, and reads through it, compared with all events of a random ledger. */
import { describe, expect, test } from 'vitest';
import { Batch } from '../../src/store/batch.ts';
import { EVENT_TYPES } from '../../src/store/columns/columns.ts';
import type { EventPlace, StoredModuleEvent } from '../../src/store/columns/event-column.ts';
import {
  TYPE_WINDOW,
  typePartition,
  WINDOW_VERSIONS,
  WindowVersions,
} from '../../src/store/columns/event-type-column.ts';
import { HEAD_ROW, openHead } from '../../src/store/columns/head.ts';
import { Pruner } from '../../src/store/pruning/prune.ts';
import { columnDigest } from '../../src/store/read/digest.ts';
import { readTypedEvents } from '../../src/store/read/typed-events.ts';
import type { Store } from '../../src/store/store.ts';
import type { Chunk, ChunkTransaction } from '../../src/store/write/chunk.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { Random, roundsOf, testSeed } from '../random.ts';
import { block, chunk, IDENTITY_OF_TESTS, transaction } from './chunks.ts';
import { MemoryStore } from './memory-store.ts';

const RUNS = roundsOf('RUNS', 1, 30);

const damaged = expect.objectContaining({ code: 'row_damaged' });

describe('rows', () => {
  const key = TYPE_WINDOW.keyOf({ partition: typePartition(Buffer.of(1)), start: 8_192n });
  const versionsOf = (...places: number[]) => {
    const versions = new WindowVersions();
    for (const place of places) versions.add(place);
    return versions;
  };
  const first = (count: number) => versionsOf(...Array.from({ length: count }, (_, at) => at));

  test('by hand', () => {
    // The first 8 bytes of SHA3-256 of 01.
    expect(Buffer.from(key.partition).toString('hex')).toBe('2767f15c8af2f2c7');
    expect(Buffer.from(key.order).toString('hex')).toBe('0000000000002000');
    expect(TYPE_WINDOW.encode(versionsOf(0, 258, 4_095)).toString('hex')).toBe('00000201ff0f');
    const bits = TYPE_WINDOW.encode(first(257));
    expect(bits.toString('hex')).toBe(`${'ff'.repeat(32)}01${'00'.repeat(479)}`);
  });

  test.each([1, 254, 255, 256, 257, WINDOW_VERSIONS])('of %i versions', (count) => {
    const random = new Random(testSeed() + count);
    const places = new Set<number>();
    while (places.size < count) places.add(random.below(WINDOW_VERSIONS));
    const versions = versionsOf(...places);
    const encoded = TYPE_WINDOW.encode(versions);
    expect(encoded.length).toBe(count < 256 ? count * 2 : 512);
    const decoded = TYPE_WINDOW.decode(key, encoded);
    expect([...decoded.places()]).toEqual([...places].toSorted((one, other) => one - other));
    expect(decoded.count).toBe(count);
    expect(decoded.equals(versions)).toBe(true);
    for (const [from, to] of [
      ...[
        [0, 0],
        [0, 4_095],
        [4_095, 4_095],
        [7, 8],
        [8, 15],
        [100, 99],
      ],
      ...Array.from({ length: 50 }, () => [random.below(4_096), random.below(4_096)]),
    ] as [number, number][]) {
      const some = [...places].filter((place) => place >= from && place <= to);
      expect(decoded.between(from, to).count).toBe(some.length);
    }
  });

  test.each([
    ['nothing', ''],
    ['half a place', '0100ff'],
    ['a place twice', '01000100'],
    ['places that descend', '02000100'],
    ['a place after the window', '0010'],
    ['a bitmap of few versions', `${'ff'.repeat(31)}7f${'00'.repeat(480)}`],
    ['more than a bitmap', `${'ff'.repeat(512)}00`],
  ])('%s is refused', (_, hex) => {
    expect(() => TYPE_WINDOW.decode(key, Buffer.from(hex, 'hex'))).toThrow(damaged);
  });
});

/** Types, with the share of versions that have events of them. */
const TYPES = [0.97, 0.4, 0.05, 0.002].map((share, at) => ({ share, typeTag: Buffer.of(at, 7) }));

/** A ledger of some windows, in chunks of random sizes. */
class RandomLedger {
  /** Indexed by type. */
  readonly #emitted: readonly EventPlace[][] = TYPES.map(() => []);
  readonly writer: LedgerWriter;
  readonly store: Store;
  readonly #random: Random;
  #height = 0;
  version = -1;

  private constructor(writer: LedgerWriter, random: Random) {
    this.writer = writer;
    this.store = writer.reader as Store;
    this.#random = random;
  }

  static async open(random: Random): Promise<RandomLedger> {
    return new RandomLedger(await LedgerWriter.open(new MemoryStore()), random);
  }

  nextChunk(count: number): Chunk {
    const first = this.version + 1;
    const transactions = Array.from({ length: count }, (_, at) => this.#transaction(first + at));
    this.version += count;
    const blocks = [block(this.#height, first)];
    this.#height += 1;
    const identity = { ...IDENTITY_OF_TESTS, keepsTransactions: false };
    const rest = first === 0 ? { blocks, identity } : { blocks };
    return chunk(first, transactions, rest);
  }

  #transaction(version: number): ChunkTransaction {
    const random = this.#random;
    const types = TYPES.flatMap(({ share }, type) => {
      if (random.fraction() >= share) return [];
      // Now and then one version has more events than a part reads.
      const most = random.below(200) === 0 ? 80 : 3;
      return Array.from({ length: 1 + random.below(most) }, () => type);
    });
    const events = types
      .toSorted(() => random.below(2) - 0.5)
      .map((type, index) => {
        this.#emitted[type]!.push({ version: BigInt(version), index });
        const { typeTag } = TYPES[type]!;
        return { kind: 'module' as const, typeTag, data: Buffer.of(index & 0xff) };
      });
    return { ...transaction(version, { events }), transaction: undefined };
  }

  /** Reads page after page until the end. */
  async read(type: number, start: EventPlace, end: bigint, limit: number): Promise<EventPlace[]> {
    const found: StoredModuleEvent[] = [];
    let next: EventPlace | undefined = start;
    while (next !== undefined) {
      const query = { typeTag: TYPES[type]!.typeTag, start: next, end, limit };
      const part = await readTypedEvents(this.store, query);
      expect(part.events.length).toBeLessThanOrEqual(limit);
      const data = Buffer.concat(part.events.map((event) => event.data));
      const expected = Buffer.from(part.events.map(({ index }) => index & 0xff));
      expect(data.toString('hex')).toBe(expected.toString('hex'));
      found.push(...part.events);
      next = part.next;
    }
    return found.map(({ version, index }) => ({ version, index }));
  }

  expected(type: number, start: EventPlace, end: bigint): EventPlace[] {
    return this.#emitted[type]!.filter(
      ({ version, index }) =>
        version <= end &&
        (version > start.version || (version === start.version && index >= start.index)),
    );
  }

  async compare(): Promise<void> {
    const random = this.#random;
    const { oldestVersion } = await openHead(this.store);
    const below = BigInt(this.version + 1) - oldestVersion;
    const any = () => oldestVersion + BigInt(random.below(Number(below)));
    for (const type of TYPES.keys()) {
      const starts = [{ version: oldestVersion, index: 0 }];
      for (let turn = 0; turn < 4; turn += 1)
        starts.push({ version: any(), index: random.below(5) });
      for (const start of starts) {
        const end = random.below(2) === 0 ? BigInt(this.version) : any();
        const read = await this.read(type, start, end, 1 + random.below(300));
        expect(shown(read)).toBe(shown(this.expected(type, start, end)));
      }
    }
  }
}

/** Thousands of positions are compared as one text, because comparing them one by one took longer than the reads. */
function shown(places: readonly EventPlace[]): string {
  return places.map(({ version, index }) => `${version}:${index}`).join('\n');
}

const digestOf = async (store: Store) => (await columnDigest(store, EVENT_TYPES)).digest;

test('reads are what a look at every event finds, in ledgers that grow and are pruned', async () => {
  for (let run = 0; run < RUNS; run += 1) {
    const random = new Random(testSeed() + run);
    const ledger = await RandomLedger.open(random);
    const pruner = new Pruner(ledger.writer, { graceMs: 0, restFactor: 0 });
    for (let round = 0; round < 8; round += 1) {
      await ledger.writer.append(ledger.nextChunk(random.pick([1, 2, 300, 3_000])));
      if (round === 4 || round === 6) await pruner.run({ versions: 1 + random.below(6_000) });
      await ledger.compare();
    }
  }
});

test('what is above the head does not count, and is written again without harm', async () => {
  const random = new Random(testSeed());
  const ledger = await RandomLedger.open(random);
  await ledger.writer.append(ledger.nextChunk(4_000));
  const head = await openHead(ledger.store);
  const next = ledger.nextChunk(200);
  await ledger.writer.append(next);
  const made = await digestOf(ledger.store);
  const batch = new Batch();
  HEAD_ROW.publish(batch, undefined, head);
  await ledger.store.commit(batch);
  const start = { version: 3_900n, index: 0 };
  const read = await ledger.read(0, start, head.version, 100);
  expect(read).toEqual(ledger.expected(0, start, head.version));
  const writer = await LedgerWriter.open(ledger.store);
  expect(writer.head).toEqual(head);
  await writer.append(next);
  expect(await digestOf(ledger.store)).toEqual(made);
});
