/** The file of kept bytes: what comes back, what is overwritten, and what happens when it cannot be written. */
import {
  chmodSync,
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  FREE_CHECK_BYTES,
  KeptBytes,
  type KeptBytesWatch,
  MAX_KEPT_PIECE_BYTES,
  MIN_FREE_DISK_BYTES,
  openKeptBytes,
} from '../../src/store/kept-bytes.ts';
import { canMount, SmallDisk } from '../process/small-disk.ts';
import { randomSource, testSeed } from '../random.ts';
import { temporaryDirectory } from './engines.ts';

/** Kept bytes over a file of their own, with what they said when they ended. */
function keptBytes(capacityBytes: number, rest: Partial<KeptBytesWatch> = {}) {
  const file = openSync(join(temporaryDirectory(), 'kept'), 'wx+');
  return { file, ...over(file, capacityBytes, rest) };
}

function over(file: number, capacityBytes: number, rest: Partial<KeptBytesWatch> = {}) {
  const stops: Error[] = [];
  const kept = new KeptBytes(file, capacityBytes, {
    onStop: (reason) => stops.push(reason),
    ...rest,
  });
  onTestFinished(() => kept.close());
  return { kept, stops };
}

function piece(length: number, fill: number): Buffer {
  return Buffer.alloc(length, fill);
}

describe('pieces', () => {
  test('come back as they were put, in memory of their own', () => {
    const { kept, file } = keptBytes(100);
    const [first, second] = [kept.put(piece(30, 1)), kept.put(piece(70, 2))];
    expect([first, second]).toEqual([0, 30]);
    const read = kept.read(30, 70)!;
    expect(read).toEqual(piece(70, 2));
    read.fill(9);
    expect(kept.read(30, 70)).toEqual(piece(70, 2));
    expect(kept.read(0, 30)).toEqual(piece(30, 1));
    expect(fstatSync(file).size).toBe(100);
  });

  test.each([
    [99, true],
    [100, true],
    [101, false],
  ])('of %i bytes in a file of 100: kept is %s', (length, isKept) => {
    const { kept, stops } = keptBytes(100);
    expect(kept.put(piece(length, 1)) !== undefined).toBe(isKept);
    expect([kept.isOpen, stops]).toEqual([true, []]);
  });

  test.each([
    [MAX_KEPT_PIECE_BYTES - 1, true],
    [MAX_KEPT_PIECE_BYTES, true],
    [MAX_KEPT_PIECE_BYTES + 1, false],
  ])('of %i bytes in a large file: kept is %s', (length, isKept) => {
    const { kept } = keptBytes(4 * MAX_KEPT_PIECE_BYTES);
    expect(kept.put(piece(length, 1)) !== undefined).toBe(isKept);
  });

  test('are lent in memory that is used again, unless it is left to who has it', () => {
    const { kept } = keptBytes(200_000);
    const [first, second] = [kept.put(piece(30, 1))!, kept.put(piece(30, 2))!];
    const lent = kept.lend(first, 30)!;
    expect(lent).toEqual(piece(30, 1));
    expect(kept.read(second, 30)).toEqual(piece(30, 2));
    expect(lent).toEqual(piece(30, 1));
    expect(kept.lend(second, 30)).toEqual(piece(30, 2));
    expect(lent).toEqual(piece(30, 2));
    kept.leave();
    expect(kept.lend(first, 30)).toEqual(piece(30, 1));
    expect(lent).toEqual(piece(30, 2));
    const large = kept.put(piece(100_000, 3))!;
    expect(kept.lend(large, 100_000)).toEqual(piece(100_000, 3));
    kept.put(piece(170_000, 4));
    expect(kept.lend(first, 30)).toBeUndefined();
    expect(kept.lend(large, 100_000)).toBeUndefined();
  });

  test('without bytes are not kept', () => {
    expect(keptBytes(100).kept.put(piece(0, 1))).toBeUndefined();
  });

  test.each([
    [39, true],
    [40, true],
    [41, false],
  ])('a round of 60 and %i later: the first is still there is %s', (length, isThere) => {
    const { kept, file } = keptBytes(100);
    const first = kept.put(piece(20, 1))!;
    kept.put(piece(80, 2));
    // The second round begins over the first piece.
    expect(kept.read(first, 20)).toEqual(piece(20, 1));
    const over = kept.put(piece(1, 3))!;
    expect(over).toBe(100);
    expect(kept.read(first, 20)).toBeUndefined();
    expect(kept.read(20, 80)).toEqual(piece(80, 2));
    // What is left of this round is too short for a piece, or just long enough.
    kept.put(piece(59, 4));
    const last = kept.put(piece(length, 5))!;
    expect(last).toBe(isThere ? 160 : 200);
    expect(kept.read(over, 1)?.[0]).toBe(isThere ? 3 : undefined);
    expect(kept.read(last, length)).toEqual(piece(length, 5));
    expect(fstatSync(file).size).toBe(100);
  });

  test('at random are there exactly when nothing was written over them', () => {
    const random = randomSource(testSeed());
    const capacity = 1_000;
    const { kept } = keptBytes(capacity);
    const put: { at: number; bytes: Buffer }[] = [];
    for (let round = 0; round < 500; round += 1) {
      const bytes = piece(1 + Math.floor(random() * 300), Math.floor(random() * 256));
      const at = kept.put(bytes)!;
      put.push({ at, bytes });
      const end = at + bytes.length;
      for (const old of put.slice(-20)) {
        const found = kept.read(old.at, old.bytes.length);
        if (old.at + capacity >= end) expect(found).toEqual(old.bytes);
        else expect(found).toBeUndefined();
      }
    }
  });
});

describe('a file that fails', () => {
  test('as a full device does, ends the keeping once, and nothing is read back', () => {
    const { kept, stops } = over(openSync('/dev/full', 'r+'), 100);
    expect(kept.put(piece(10, 1))).toBeUndefined();
    expect(stops).toEqual([expect.objectContaining({ code: 'ENOSPC' })]);
    expect(kept.isOpen).toBe(false);
    expect(kept.put(piece(10, 1))).toBeUndefined();
    expect(kept.read(0, 10)).toBeUndefined();
    kept.close();
    expect(stops).toHaveLength(1);
  });

  test('because it was closed', () => {
    const { kept, stops, file } = keptBytes(100);
    const at = kept.put(piece(10, 1))!;
    closeSync(file);
    expect(kept.read(at, 10)).toBeUndefined();
    expect(kept.put(piece(10, 1))).toBeUndefined();
    expect(stops).toEqual([expect.objectContaining({ code: 'EBADF' })]);
  });

  test('because it may only be read', () => {
    const path = join(temporaryDirectory(), 'kept');
    writeFileSync(path, '');
    const { kept, stops } = over(openSync(path, 'r'), 100);
    expect(kept.put(piece(10, 1))).toBeUndefined();
    expect(stops).toEqual([expect.objectContaining({ code: 'EBADF' })]);
  });

  test('by being shorter than it was is not read', () => {
    const path = join(temporaryDirectory(), 'kept');
    const { kept, stops } = over(openSync(path, 'wx+'), 100);
    const at = kept.put(piece(50, 1))!;
    writeFileSync(path, 'short');
    expect(kept.read(at, 50)).toBeUndefined();
    expect(stops).toHaveLength(1);
  });

  test('closing gives the room back and is no failure', () => {
    const { kept, stops, file } = keptBytes(100);
    const at = kept.put(piece(50, 1))!;
    const other = openSync(`/proc/self/fd/${file}`, 'r');
    onTestFinished(() => closeSync(other));
    expect(fstatSync(other).size).toBe(50);
    kept.close();
    kept.close();
    expect(fstatSync(other).size).toBe(0);
    expect(kept.read(at, 50)).toBeUndefined();
    expect(kept.put(piece(50, 1))).toBeUndefined();
    expect(stops).toEqual([]);
  });
});

describe('the room of the disk', () => {
  test.each([
    [-1, false],
    [0, true],
    [1, true],
  ])('%i bytes more than the least: keeps on is %s', (more, keepsOn) => {
    let free = MIN_FREE_DISK_BYTES;
    const { kept, stops } = keptBytes(MAX_KEPT_PIECE_BYTES, { freeBytes: () => free });
    const pieces = FREE_CHECK_BYTES / MAX_KEPT_PIECE_BYTES;
    for (let index = 0; index < pieces; index += 1) {
      expect(kept.put(piece(MAX_KEPT_PIECE_BYTES, 1))).toBeDefined();
      free = MIN_FREE_DISK_BYTES + more;
    }
    expect(kept.put(piece(1, 1)) !== undefined).toBe(keepsOn);
    expect(stops).toHaveLength(keepsOn ? 0 : 1);
  });

  test('too little of it from the beginning: there is no file', () => {
    const folder = temporaryDirectory();
    const stops: Error[] = [];
    const onStop = (reason: Error) => stops.push(reason);
    const minFreeBytes = Number.MAX_SAFE_INTEGER;
    expect(openKeptBytes({ folder, capacityBytes: 100, onStop, minFreeBytes })).toBeUndefined();
    expect(stops).toEqual([expect.objectContaining({ name: 'DiskNearlyFullError' })]);
    expect(readdirSync(folder)).toEqual([]);
  });

  test.runIf(canMount)('a disk that gets full is as empty as before', () => {
    const disk = new SmallDisk(join(temporaryDirectory(), 'disk'), '1m');
    try {
      const stops: Error[] = [];
      const kept = openKeptBytes({
        ...{ folder: disk.folder, capacityBytes: 2 ** 30, minFreeBytes: 0 },
        onStop: (reason) => stops.push(reason),
      })!;
      const at = kept.put(piece(100_000, 1))!;
      expect(kept.read(at, 100_000)).toEqual(piece(100_000, 1));
      for (let index = 0; index < 10; index += 1) kept.put(piece(150_000, 2));
      expect(stops).toEqual([expect.objectContaining({ code: 'ENOSPC' })]);
      expect(kept.read(at, 100_000)).toBeUndefined();
      // All of the disk but what its own folder takes.
      writeFileSync(join(disk.folder, 'other'), piece(1_000_000, 3));
    } finally {
      disk.unmount();
    }
  });
});

describe('opening', () => {
  test('leaves no name behind', () => {
    const folder = temporaryDirectory();
    const stops: Error[] = [];
    const onStop = (reason: Error) => stops.push(reason);
    const options = { folder, capacityBytes: 100, onStop, minFreeBytes: 0 };
    const [one, other] = [openKeptBytes(options)!, openKeptBytes(options)!];
    expect(readdirSync(folder)).toEqual([]);
    const at = [one.put(piece(10, 1))!, other.put(piece(10, 2))!];
    expect(one.read(at[0]!, 10)).toEqual(piece(10, 1));
    expect(other.read(at[1]!, 10)).toEqual(piece(10, 2));
    one.close();
    other.close();
    expect(stops).toEqual([]);
  });

  test('says why it cannot: no folder, no folder at all, one that may not be written', () => {
    const folder = temporaryDirectory();
    const file = join(folder, 'file');
    writeFileSync(file, '');
    const closed = join(folder, 'closed');
    mkdirSync(closed);
    chmodSync(closed, 0o500);
    const places = [join(folder, 'none'), file];
    // Root may write anywhere.
    if (process.getuid?.() !== 0) places.push(closed);
    for (const place of places) {
      const stops: Error[] = [];
      const onStop = (reason: Error) => stops.push(reason);
      const options = { folder: place, capacityBytes: 100, onStop, minFreeBytes: 0 };
      expect(openKeptBytes(options)).toBeUndefined();
      expect(stops).toHaveLength(1);
    }
    rmSync(closed, { recursive: true });
  });
});
