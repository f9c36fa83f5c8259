/** Opening views on an engine that answers later: the newest view is kept, whichever opening ends first. */
import { describe, expect, test } from 'vitest';
import { openLedger } from '../../src/ledger/open.ts';
import type { StoreReader } from '../../src/store/store.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { AnsweringLater } from '../store/answering-later.ts';
import { block, chunk, transaction } from '../store/chunks.ts';
import { MemoryStore } from '../store/memory-store.ts';

/** Reads that wait until the test releases them. */
class HeldReads extends AnsweringLater {
  readonly #held: (() => void)[] = [];
  readonly #isHeld: (read: string) => boolean;

  constructor(store: StoreReader, isHeld: (read: string) => boolean) {
    super(store);
    this.#isHeld = isHeld;
  }

  protected override async later<T>(what: string, read: () => T | Promise<T>): Promise<T> {
    const answer = await super.later(what, read);
    if (this.#isHeld(what)) await new Promise<void>((resolve) => this.#held.push(resolve));
    return answer;
  }

  /** Releases the read that has waited longest. */
  release(): void {
    this.#held.shift()?.();
  }
}

async function grownLedger() {
  const writer = await LedgerWriter.open(new MemoryStore());
  const grow = async (version: number) => {
    const blocks = version === 0 ? {} : { blocks: [block(version, version)] };
    await writer.append(chunk(version, [transaction(version)], blocks));
  };
  await grow(0);
  return { writer, grow };
}

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn += 1) await new Promise((next) => setImmediate(next));
};

describe('a slower opening', () => {
  test('whose head is old by then gives the newer view', async () => {
    const { writer, grow } = await grownLedger();
    let isHeld = true;
    const store = new HeldReads(writer.reader, (read) => isHeld && read === 'get head');
    const ledger = openLedger(store);
    const slow = ledger.view();
    await turns(3);
    isHeld = false;
    await grow(1);
    const newer = await ledger.view();
    expect(newer.state.version).toBe(1n);
    store.release();
    expect(await slow).toBe(newer);
    await turns(2);
    expect(await ledger.view()).toBe(newer);
  });

  test('that is overtaken while it reads on does not replace the newer view', async () => {
    const { writer, grow } = await grownLedger();
    let isHeld = true;
    const store = new HeldReads(writer.reader, (read) => isHeld && read === 'range pruning');
    const ledger = openLedger(store);
    const slow = ledger.view();
    await turns(6);
    isHeld = false;
    await grow(1);
    const newer = await ledger.view();
    expect(newer.state.version).toBe(1n);
    store.release();
    expect(await slow).toBe(newer);
    await turns(2);
    expect(await ledger.view()).toBe(newer);
  });
});

test('openings at once share one view', async () => {
  const { writer } = await grownLedger();
  const ledger = openLedger(new AnsweringLater(writer.reader));
  const views = await Promise.all([ledger.view(), ledger.view(), ledger.view()]);
  expect(new Set(views).size).toBe(1);
});

test('a failure to open is not remembered', async () => {
  const store = new MemoryStore();
  const ledger = openLedger(new AnsweringLater(store));
  const unavailable = expect.objectContaining({ code: 'ledger_unavailable' });
  await expect(ledger.view()).rejects.toThrow(unavailable);
  const writer = await LedgerWriter.open(store);
  await writer.append(chunk(0, [transaction(0)]));
  await expect(ledger.view()).resolves.toMatchObject({ state: { version: 0n } });
});
