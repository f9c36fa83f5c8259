/** Pruning inside a node while the disk is full for a time. */
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { startPruning } from '../../src/node/prune.ts';
import type { Batch } from '../../src/store/batch.ts';
import { readPinnedAccounts, readPruneProgress } from '../../src/store/columns/pruning-column.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { randomSource } from '../random.ts';
import { address } from '../store/chunks.ts';
import { MemoryStore } from '../store/memory-store.ts';
import { History } from '../store/prune-history.ts';
import { until } from './worker-processes.ts';

/** Refuses commits while `isFull`. */
class SmallStore extends MemoryStore {
  isFull = false;

  override async commit(batch: Batch): Promise<void> {
    if (this.isFull) throw new StoreError('store_full', 'the disk is full');
    await super.commit(batch);
  }
}

const SETTINGS = {
  keepVersions: 1,
  keepSeconds: 0,
  keepAccounts: `0x${address(3)}`,
  keepAccountsFile: '',
  pruneGraceSeconds: 1,
};

describe('pruning in a node whose disk is full', () => {
  it.each([
    ['before there is a ledger', false],
    ['when the node starts', true],
  ])('%s: waits, notes down what to keep, then prunes', async (_, hasLedger) => {
    const messages: string[] = [];
    const write = (line: string) => messages.push((JSON.parse(line) as { msg: string }).msg);
    const store = new SmallStore();
    const writer = await LedgerWriter.open(store);
    const begin = async () => {
      const random = randomSource(1);
      const history = new History();
      while (history.blocks.length < 5) {
        await writer.append(history.nextChunk((most) => Math.floor(random() * most)));
      }
      store.isFull = true;
    };
    if (hasLedger) await begin();
    const stopPruning = await startPruning(writer, SETTINGS, pino({ level: 'info' }, { write }));
    if (!hasLedger) await begin();
    await until('it waits', () => messages.includes('pruning waits: the disk is full'));
    await sleep(50);
    expect((await readPinnedAccounts(store)).size).toBe(0);
    store.isFull = false;
    await until('it prunes', () => messages.includes('pruned'));
    expect(await readPinnedAccounts(store)).toEqual(new Map([[address(3), 0n]]));
    expect((await readPruneProgress(store)).clearedBelow).toBe(writer.head!.oldestVersion);
    expect(messages.filter((one) => one === 'the history of accounts is kept')).toHaveLength(1);
    expect(messages).not.toContain('pruning stopped: it failed');
    await stopPruning();
  });
});
