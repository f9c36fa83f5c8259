/** What power cuts leave of a file whose writes were recorded. */
import { closeSync, ftruncateSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import type { Random } from '../test/random.ts';
import type { WriteEvent } from './recorded-writes.ts';

/** What a disk writes whole, in bytes. */
const SECTOR_BYTES = 512;
/** The file on the disk is compared with the one that it is to be in pieces of this size. */
const PIECE_BYTES = 4096;
const CUT_BYTES = 10;

/** What of the writes that were not synced is on the disk. */
export const ALL_BEFORE = 0;
export const ANY_OF_THEM = 1;
export const ANY_SECTORS = 2;

export interface Cut {
  /** How many events came before it. */
  readonly after: number;
  readonly how: number;
  /** Whether the ledger that is left is continued. */
  readonly isContinued: boolean;
  readonly seed: number;
}

export function encodeCut({ after, how, isContinued, seed }: Cut): Buffer {
  const input = Buffer.alloc(CUT_BYTES);
  input.writeUInt32LE(after, 0);
  input[4] = how;
  input[5] = isContinued ? 1 : 0;
  input.writeUInt32LE(seed, 6);
  return input;
}

export function decodeCut(input: Buffer, events: number): Cut {
  return {
    after: input.readUInt32LE(0) % (events + 1),
    how: input[4]! % 3,
    isContinued: input[5] === 1,
    seed: input.readUInt32LE(6),
  };
}

/** The disk after some events. */
interface Moment {
  readonly synced: Buffer;
  readonly unsynced: readonly { readonly at: number; readonly bytes: Buffer }[];
  readonly acknowledged: bigint;
}

export class RecordedFile {
  readonly #path: string;
  /** After none of the events, after the first, and so on; what did not change is shared. */
  readonly #moments: readonly Moment[];

  constructor(events: readonly WriteEvent[], path: string) {
    this.#path = path;
    const moments: Moment[] = [{ synced: Buffer.alloc(0), unsynced: [], acknowledged: -1n }];
    for (const event of events) moments.push(momentAfter(moments[moments.length - 1]!, event));
    this.#moments = moments;
  }

  /** Makes the file what a cut leaves of it. @returns that, and the last version that was acknowledged before */
  leave({ after, how }: Cut, random: Random): { bytes: Buffer; acknowledged: bigint } {
    const { synced, unsynced, acknowledged } = this.#moments[after]!;
    const left = unsynced.flatMap(({ at, bytes }) => {
      if (how === ALL_BEFORE) return [{ at, bytes }];
      if (how === ANY_OF_THEM) return random.below(2) === 0 ? [{ at, bytes }] : [];
      const sectors = [];
      for (let from = 0; from < bytes.length; from += SECTOR_BYTES) {
        if (random.below(2) > 0) continue;
        sectors.push({ at: at + from, bytes: bytes.subarray(from, from + SECTOR_BYTES) });
      }
      return sectors;
    });
    const bytes = written(synced, left);
    this.#write(bytes);
    return { bytes, acknowledged };
  }

  /** Only what is not so yet. */
  #write(bytes: Buffer): void {
    if (bytes.length === 0) {
      rmSync(this.#path, { force: true });
      return;
    }
    const file = openSync(this.#path, 'a+');
    closeSync(file);
    const present = readFileSync(this.#path);
    const to = openSync(this.#path, 'r+');
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      const piece = bytes.subarray(at, at + PIECE_BYTES);
      if (piece.equals(present.subarray(at, at + piece.length))) continue;
      writeSync(to, piece, 0, piece.length, at);
    }
    ftruncateSync(to, bytes.length);
    closeSync(to);
  }
}

function momentAfter(before: Moment, event: WriteEvent): Moment {
  if (event.kind === 'acknowledged') return { ...before, acknowledged: event.version };
  if (event.kind === 'sync') {
    return { ...before, synced: written(before.synced, before.unsynced), unsynced: [] };
  }
  if (event.isSynced) return { ...before, synced: written(before.synced, [event]) };
  return { ...before, unsynced: [...before.unsynced, event] };
}

/** A file with some writes; a gap is zeros. */
function written(
  file: Buffer,
  writes: readonly { readonly at: number; readonly bytes: Buffer }[],
): Buffer {
  const length = Math.max(file.length, ...writes.map(({ at, bytes }) => at + bytes.length));
  const whole = Buffer.concat([file], length);
  for (const { at, bytes } of writes) bytes.copy(whole, at);
  return whole;
}
