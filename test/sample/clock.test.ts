/** The clock of a sample ledger: when it changes, and the times of blocks between changes. */
import { pino } from 'pino';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Committer } from '../../src/ingest/committer.ts';
import { startProducing } from '../../src/node/sample.ts';
import { BlockClock, type ClockChange } from '../../src/sample/model/clock.ts';
import { Effects } from '../../src/sample/model/effects.ts';
import { sampleChunks } from '../../src/sample/sample.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { MemoryStore } from '../store/memory-store.ts';

const WALL_USECS = 1_800_000_000_000_000;
const OWN_USECS = 1_767_225_600_000_000;
const MAX_LAG_USECS = 5_000_000;

/** A clock, and what a ledger does with it for each block. */
class Ledger {
  readonly effects = new Effects();
  readonly clock: BlockClock;
  height = 0;
  version = 1;

  constructor(changes: readonly ClockChange[] = []) {
    this.clock = new BlockClock(1n, this.effects, changes);
    this.effects.takeWriteSet();
  }

  /** The time of the next block, and how many slots record a change. */
  block(versions: number, rate?: number, wallUsecs = 0): [time: number, writes: number] {
    const start = { height: this.height + 1, version: this.version };
    if (rate !== undefined) this.clock.choose(start, rate, wallUsecs);
    const time = this.clock.nextTime(start, OWN_USECS + this.height);
    this.height += 1;
    this.version += versions;
    this.effects.now = time;
    this.clock.startBlock(this.height);
    // Byte 1 of a write set is the number of writes.
    return [time, this.effects.takeWriteSet()[1]!];
  }
}

describe('the clock of a sample ledger', () => {
  it('is its own until the wall clock is chosen, then that of the versions', () => {
    const ledger = new Ledger();
    expect(ledger.block(10)).toEqual([OWN_USECS, 0]);
    expect(ledger.block(10, 100, WALL_USECS)).toEqual([WALL_USECS, 2]);
    expect(ledger.block(50, 100, WALL_USECS)).toEqual([WALL_USECS + 100_000, 0]);
    expect(ledger.block(1, 100, WALL_USECS)).toEqual([WALL_USECS + 600_000, 0]);
    expect(ledger.clock.rate).toBe(100);
  });

  it.each([
    [-1, false],
    [0, false],
    [1, true],
  ])('jumps ahead when it is too far behind: %i microseconds more', (more, jumps) => {
    const ledger = new Ledger();
    ledger.block(100, 100, WALL_USECS);
    const due = WALL_USECS + 1_000_000;
    const wall = due + MAX_LAG_USECS + more;
    expect(ledger.block(1, 100, wall)).toEqual(jumps ? [wall, 2] : [due, 0]);
  });

  it('never goes back', () => {
    const ledger = new Ledger();
    expect(ledger.block(1, 10, WALL_USECS)).toEqual([WALL_USECS, 2]);
    const next = new Ledger([{ height: 1, version: 1, timestamp: WALL_USECS, rate: 10 }]);
    expect(next.block(1)).toEqual([WALL_USECS, 2]);
    expect(next.block(1, 10, WALL_USECS - 1_000)).toEqual([WALL_USECS + 1, 2]);
  });

  it('can be the sample’s own again, and a replay finds all of it', () => {
    const ledger = new Ledger();
    const first = [ledger.block(3, 7, WALL_USECS), ledger.block(3, 7, WALL_USECS)];
    const changes = [{ height: 1, version: 1, timestamp: WALL_USECS, rate: 7 }];
    const again = new Ledger(changes);
    expect([again.block(3), again.block(3)]).toEqual(first);
    expect(again.block(1, 0)).toEqual([OWN_USECS + 2, 2]);
    expect(again.clock.rate).toBe(0);
    expect(again.block(1, 0)).toEqual([OWN_USECS + 3, 0]);
  });
});

describe('a ledger whose newest block is ahead of the wall clock', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each([
    [59, true],
    [60, true],
    [61, false],
  ])('by %i seconds', async (seconds, mayProduce) => {
    const writer = await LedgerWriter.open(new MemoryStore());
    const options = { seed: 1, transactions: 10, accounts: 5 };
    await new Committer(writer).pushAll(sampleChunks(options));
    vi.useFakeTimers({ toFake: ['Date'] });
    vi.setSystemTime(Number(writer.head!.timestampUsecs) / 1000 - seconds * 1000);
    const production = { transactionsPerSecond: 10, clock: 'wall' } as const;
    const started = startProducing(writer, production, pino({ level: 'silent' }));
    if (mayProduce) await (await started).stop();
    else {
      await expect(started).rejects.toMatchObject({
        code: 'bad_setting',
        message: 'cannot produce by the wall clock: the newest block is 61 seconds ahead of it',
      });
    }
  });
});
