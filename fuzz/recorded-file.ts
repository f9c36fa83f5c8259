/** Simulates what power cuts leave of files whose writes were recorded. */
import { writeFileSync } from 'node:fs';
import type { Random } from '../test/random.ts';
import type { FileEvent, WriteEvent } from './recorded-writes.ts';

/** Unit that a disk writes atomically, in bytes. */
const SECTOR_BYTES = 512;
const CUT_BYTES = 10;

/** Which of the unsynced writes are on the disk. */
export const ALL_BEFORE = 0;
export const UP_TO_A_BYTE = 1;
export const ANY_OF_THEM = 2;
export const ANY_SECTORS = 3;
const KINDS = 4;

export interface Cut {
  /** Number of events before the cut. */
  readonly after: number;
  readonly how: number;
  /** Whether the remaining ledger is continued. */
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
    how: input[4]! % KINDS,
    isContinued: input[5] === 1,
    seed: input.readUInt32LE(6),
  };
}

type Change = Exclude<FileEvent, { kind: 'sync' }>;

/** One file on the disk after some events. */
interface DiskFile {
  readonly synced: Buffer;
  readonly unsynced: readonly Change[];
}

interface Moment {
  readonly files: readonly DiskFile[];
  readonly acknowledged: bigint;
}

export class RecordedFiles {
  /** States before the first event, after it, and so on. Unchanged files are shared. */
  readonly #moments: readonly Moment[];

  /** @param before contents of the files before the recording */
  constructor(events: readonly WriteEvent[], before: readonly Buffer[]) {
    const files = before.map((synced) => ({ synced, unsynced: [] }));
    const moments: Moment[] = [{ files, acknowledged: -1n }];
    for (const event of events) moments.push(momentAfter(moments[moments.length - 1]!, event));
    this.#moments = moments;
  }

  /** Writes what a cut leaves of the files. @returns the last version acknowledged before the cut */
  leave({ after, how }: Cut, paths: readonly string[], random: Random): bigint {
    const { files, acknowledged } = this.#moments[after]!;
    for (const [at, { synced, unsynced }] of files.entries()) {
      writeFileSync(paths[at]!, changed(synced, leftOf(unsynced, how, random)));
    }
    return acknowledged;
  }
}

function leftOf(changes: readonly Change[], how: number, random: Random): Change[] {
  if (how === ALL_BEFORE) return [...changes];
  if (how === UP_TO_A_BYTE) {
    const end = random.below(changes.length + 1);
    const last = changes[end];
    const left = changes.slice(0, end);
    if (last?.kind !== 'write') return left;
    return [...left, { ...last, bytes: last.bytes.subarray(0, random.below(last.bytes.length)) }];
  }
  return changes.flatMap((change) => {
    if (change.kind === 'truncate' || how === ANY_OF_THEM) {
      return random.below(2) === 0 ? [change] : [];
    }
    const { at, bytes } = change;
    const sectors: Change[] = [];
    for (let from = 0; from < bytes.length; ) {
      // Sectors are aligned in the file, not in the write.
      const to = from + SECTOR_BYTES - ((at + from) % SECTOR_BYTES);
      if (random.below(2) === 0) {
        sectors.push({ ...change, at: at + from, bytes: bytes.subarray(from, to) });
      }
      from = to;
    }
    return sectors;
  });
}

function momentAfter({ files, acknowledged }: Moment, event: WriteEvent): Moment {
  if (event.kind === 'acknowledged') return { files, acknowledged: event.version };
  const { synced, unsynced } = files[event.file]!;
  const file =
    event.kind === 'sync'
      ? { synced: changed(synced, unsynced), unsynced: [] }
      : { synced, unsynced: [...unsynced, event] };
  return { files: files.with(event.file, file), acknowledged };
}

/** Applies changes to a file. Gaps are filled with zeros. */
function changed(file: Buffer, changes: readonly Change[]): Buffer {
  let whole = Buffer.from(file);
  for (const change of changes) {
    if (change.kind === 'truncate') {
      whole = Buffer.concat([whole], change.length);
      continue;
    }
    const end = change.at + change.bytes.length;
    if (end > whole.length) whole = Buffer.concat([whole], end);
    change.bytes.copy(whole, change.at);
  }
  return whole;
}
