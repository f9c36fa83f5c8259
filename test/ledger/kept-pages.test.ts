/** Kept event pages: found again at later views, not found where they may not be, within their bounds. */
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { contentTag } from '../../src/ledger/content-tag.ts';
import { KeptPages, MIN_FILED_PAGE_BYTES, type PageName } from '../../src/ledger/kept-pages.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { KeptBytes } from '../../src/store/kept-bytes.ts';
import { Pruner } from '../../src/store/pruning/prune.ts';
import { LedgerWriter } from '../../src/store/writer.ts';
import { address, block, chunk, streamEvent, transaction } from '../store/chunks.ts';
import { temporaryDirectory } from '../store/engines.ts';
import { MemoryStore } from '../store/memory-store.ts';

const STREAM = { address: address(5), creationNumber: 2n };
const SOURCE = { firstVersion: 0n, lastVersion: 9n, layouts: [] };

function keptBytes(capacityBytes = 1024 * 1024): KeptBytes {
  const file = openSync(join(temporaryDirectory(), 'kept'), 'wx+');
  const kept = new KeptBytes(file, capacityBytes, {
    onStop: (reason) => {
      throw reason;
    },
  });
  onTestFinished(() => kept.close());
  return kept;
}

function name(first: number, rest: Partial<PageName> = {}): PageName {
  return { stream: STREAM, first: BigInt(first), count: 25, form: 'json', ...rest };
}

describe('pages', () => {
  test.each([
    [MIN_FILED_PAGE_BYTES - 1, false],
    [MIN_FILED_PAGE_BYTES, true],
    [MIN_FILED_PAGE_BYTES + 1, true],
  ])('of %i bytes: in the file is %s', (length, isFiled) => {
    const bytes = keptBytes();
    const pages = new KeptPages(bytes);
    const body = Buffer.alloc(length, 7);
    const made = pages.keep(name(0), SOURCE, body);
    const found = pages.find(name(0))!.answer()!;
    for (const { body: shown, tagCore, kept } of [made, found]) {
      expect(Buffer.from(shown)).toEqual(body);
      expect(tagCore).toBe(contentTag(body));
      expect(kept !== undefined).toBe(isFiled);
      if (isFiled) expect(kept!.read()).toEqual(body);
    }
    expect(bytes.put(Buffer.of(1))).toBe(isFiled ? length : 0);
  });

  test('are told apart by all of their names', () => {
    const pages = new KeptPages(keptBytes());
    pages.keep(name(1), SOURCE, Buffer.alloc(10));
    const others = [
      name(2),
      name(12, { count: 5 }),
      name(1, { count: 24 }),
      name(1, { form: 'bcs' }),
      name(1, { stream: { ...STREAM, creationNumber: 21n } }),
      name(1, { stream: { ...STREAM, address: address(6) } }),
    ];
    for (const other of others) expect(pages.find(other)).toBeUndefined();
    expect(pages.find(name(1))).toBeDefined();
  });

  test('that were overwritten are found without their bytes', () => {
    const pages = new KeptPages(keptBytes(4 * MIN_FILED_PAGE_BYTES));
    const { kept } = pages.keep(name(0), SOURCE, Buffer.alloc(2 * MIN_FILED_PAGE_BYTES));
    for (const first of [1, 2])
      pages.keep(name(first), SOURCE, Buffer.alloc(2 * MIN_FILED_PAGE_BYTES));
    expect(pages.find(name(0))?.answer()).toBeUndefined();
    expect(kept!.read()).toBeUndefined();
    expect(pages.find(name(2))?.answer()).toBeDefined();
  });

  test('are not kept when there is no file any more', () => {
    const bytes = keptBytes();
    const pages = new KeptPages(bytes);
    bytes.close();
    for (const length of [10, 2 * MIN_FILED_PAGE_BYTES]) {
      expect(pages.keep(name(0), SOURCE, Buffer.alloc(length)).kept).toBeUndefined();
      expect(pages.find(name(0))).toBeUndefined();
    }
  });

  test('are forgotten when keeping ends, small ones too', () => {
    const bytes = keptBytes();
    const pages = new KeptPages(bytes);
    for (const [first, length] of [10, 2 * MIN_FILED_PAGE_BYTES].entries()) {
      pages.keep(name(first), SOURCE, Buffer.alloc(length));
      expect(pages.find(name(first))).toBeDefined();
    }
    bytes.close();
    expect(pages.find(name(0))).toBeUndefined();
    expect(pages.find(name(1))).toBeUndefined();
    expect(pages.size).toMatchObject({ entries: 0, bytes: 0 });
  });

  test('stay within the room of their index, small ones and the names of types counted', () => {
    const room = 64 * 1024;
    const pages = new KeptPages(keptBytes(), room);
    const tag = 'x'.repeat(300);
    for (let first = 0; first < 1_000; first += 1) {
      pages.keep(name(first), { ...SOURCE, layouts: [{ tag }] }, Buffer.alloc(700));
    }
    const { entries, bytes } = pages.size;
    expect(bytes).toBeLessThanOrEqual(room);
    expect(entries).toBeGreaterThan(20);
    expect(entries).toBeLessThan(room / 1_000);
    expect(pages.find(name(0))).toBeUndefined();
    expect(pages.find(name(999))).toBeDefined();
  });
});

describe('a ledger that keeps pages', () => {
  /** Versions 0 to `versions - 1`, an event of one stream at each, a block for each. */
  async function grownLedger(versions: number) {
    const writer = await LedgerWriter.open(new MemoryStore());
    const grow = async (version: number) => {
      const blocks = version === 0 ? {} : { blocks: [block(version, version)] };
      const events = [streamEvent(5, 2, version)];
      await writer.append(chunk(version, [transaction(version, { events })], blocks));
    };
    for (let version = 0; version < versions; version += 1) await grow(version);
    return { writer, grow, ledger: openLedger(writer.reader, { pageBytes: keptBytes() }) };
  }

  test('finds a full page again at later views, and the newest one until there is another event', async () => {
    const { ledger, grow } = await grownLedger(50);
    const full = { ...STREAM, start: 3n, limit: 40 };
    const newest = { ...STREAM, limit: 40 };
    const ask = async (request: typeof full | typeof newest) => {
      // A view of its own for each: the one of before may last until the turn ends.
      await new Promise((resolve) => setImmediate(resolve));
      return (await ledger.view()).eventPage(request, 'bcs');
    };
    const [first, last] = [await ask(full), await ask(newest)];
    expect(first.kept).toBeDefined();
    expect((await ask(full)).kept).toBe(first.kept);
    expect((await ask(newest)).kept).toBe(last.kept);
    await grow(50);
    expect((await ask(full)).kept).toBe(first.kept);
    const next = await ask(newest);
    expect(next.kept).not.toBe(last.kept);
    // What was the newest page can still be asked for by its beginning.
    expect((await ask({ ...STREAM, start: 10n, limit: 40 })).kept).toBe(last.kept);
    // All that there is from somewhere on is the same page, whatever more was wanted.
    expect((await ask({ ...STREAM, start: 11n, limit: 99 })).kept).toBe(next.kept);
    expect((await ask(full)).body).toEqual(first.body);
  });

  test('says of a page that was pruned that it is, though it was kept', async () => {
    const { ledger, writer } = await grownLedger(60);
    const request = { ...STREAM, start: 3n, limit: 40 };
    const before = await ledger.view();
    const page = await before.eventPage(request, 'bcs');
    expect(page.kept).toBeDefined();
    await new Pruner(writer, { graceMs: 0, restFactor: 0 }).run({ versions: 50 });
    await new Promise((resolve) => setImmediate(resolve));
    const after = await ledger.view();
    const gone = expect.objectContaining({ code: 'version_pruned' });
    await expect(after.eventPage(request, 'bcs')).rejects.toThrow(gone);
    // A view that showed it shows it still.
    expect((await before.eventPage(request, 'bcs')).body).toEqual(page.body);
  });
});
