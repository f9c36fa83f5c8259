/**
 * Event pages: repeatedly requested ones are cached for all views that contain their events, and not used for other
 * views.
 */
import { describe, expect, test } from 'vitest';
import { openLedger } from '../../src/ledger/open.ts';
import { Pruner } from '../../src/store/pruning/prune.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { address, block, chunk, streamEvent, transaction } from '../store/chunks.ts';
import { MemoryStore } from '../store/memory-store.ts';

const STREAM = { address: address(5), creationNumber: 2n };

describe('pages of event streams', () => {
  /** Versions 0 to `versions - 1`, each with a block and an event of one stream. */
  async function grownLedger(versions: number) {
    const writer = await LedgerWriter.open(new MemoryStore());
    const grow = async (version: number) => {
      const blocks = version === 0 ? {} : { blocks: [block(version, version)] };
      const events = [streamEvent(5, 2, version)];
      await writer.append(chunk(version, [transaction(version, { events })], blocks));
    };
    for (let version = 0; version < versions; version += 1) await grow(version);
    return { writer, grow, ledger: openLedger(writer.reader) };
  }

  test('are cached when asked for again: a full page for all later views, the newest one until there is another event', async () => {
    const { ledger, grow } = await grownLedger(50);
    const full = { ...STREAM, start: 3n, limit: 40 };
    const newest = { ...STREAM, limit: 40 };
    const ask = async (request: typeof full | typeof newest) => {
      // Waits for a new view, because the previous one may last until the turn ends.
      await new Promise((resolve) => setImmediate(resolve));
      return (await (await ledger.view()).pages.page(request, 'bcs')).body;
    };
    /** Only repeated requests are cached. */
    const askAgain = async (request: typeof full | typeof newest) => {
      const once = await ask(request);
      const again = await ask(request);
      expect(again).not.toBe(once);
      expect(again).toEqual(once);
      return again;
    };
    const [first, last] = [await askAgain(full), await askAgain(newest)];
    expect(await ask(full)).toBe(first);
    expect(await ask(newest)).toBe(last);
    await grow(50);
    expect(await ask(full)).toBe(first);
    const next = await ask(newest);
    expect(next).not.toBe(last);
    // The rest of a stream is cached too, until there is another event.
    const rest = { ...STREAM, start: 11n, limit: 99 };
    const ending = await askAgain(rest);
    expect(ending).toEqual(next);
    expect(await ask(rest)).toBe(ending);
    await grow(51);
    const longer = await ask(rest);
    expect(longer.length).toBeGreaterThan(ending.length);
    expect(await ask(rest)).toBe(longer);
  });

  test('reports a page as pruned though it is cached', async () => {
    const { ledger, writer } = await grownLedger(60);
    const request = { ...STREAM, start: 3n, limit: 40 };
    const before = await ledger.view();
    await before.pages.page(request, 'bcs');
    const page = await before.pages.page(request, 'bcs');
    await new Pruner(writer, { graceMs: 0, restFactor: 0 }).run({ versions: 50 });
    await new Promise((resolve) => setImmediate(resolve));
    const after = await ledger.view();
    const gone = expect.objectContaining({ code: 'version_pruned' });
    await expect(after.pages.page(request, 'bcs')).rejects.toThrow(gone);
    // A view that contained it still returns it.
    expect((await before.pages.page(request, 'bcs')).body).toEqual(page.body);
  });

  test('are told apart by stream, first event, limit and form', async () => {
    const { ledger } = await grownLedger(50);
    const view = await ledger.view();
    const request = { ...STREAM, start: 3n, limit: 10 };
    await view.pages.page(request, 'bcs');
    const page = await view.pages.page(request, 'bcs');
    expect((await view.pages.page({ ...request, start: 3n }, 'bcs')).body).toBe(page.body);
    for (const other of [{ start: 4n }, { limit: 9 }, { limit: 11 }, { creationNumber: 21n }]) {
      const answer = await view.pages.page({ ...request, ...other }, 'bcs');
      expect(answer.tagCore).not.toBe(page.tagCore);
    }
    await expect(view.pages.page(request, 'json')).rejects.toThrow();
  });
});
