/**
 * Bytes kept beside the store for as long as this process lives, in a file of bounded size that is written round and
 * round: what was put first is overwritten first. What lies there is no memory of the process; the system keeps it in
 * its page cache as long as there is room and takes it back when others need it. The file loses its name as soon as
 * it is open, so that nobody else sees it and it ends with the process, however that ends.
 *
 * Nothing here is needed to answer anything. Whatever goes wrong with the file (a folder that may not be written, a
 * disk that is full or nearly so) ends the keeping for good, gives the file's room back and is told once.
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  ftruncateSync,
  openSync,
  readSync,
  statfsSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

/** Larger pieces are not kept, in bytes. */
export const MAX_KEPT_PIECE_BYTES = 256 * 1024;
/** Room that is left to others on the disk, in bytes: with less of it free, nothing is kept. */
export const MIN_FREE_DISK_BYTES = 1024 * 1024 * 1024;
/** The free room of the disk is looked at again after so many bytes written. */
export const FREE_CHECK_BYTES = 8 * 1024 * 1024;
/** Memory in which pieces are lent, in bytes; more for a larger one. */
const LENT_ROOM_BYTES = 16 * 1024;
/** What the file is called in the moment before it loses its name. */
export const KEPT_FILE_NAME = /^kept-pages-[0-9a-f]{16}$/;

/** What is told and asked while bytes are kept. */
export interface KeptBytesWatch {
  /** Told once, when keeping ends by a failure. */
  readonly onStop: (reason: Error) => void;
  /** Free bytes of the disk; absent: as much as it takes. */
  readonly freeBytes?: () => number;
  /** Least of them; absent: MIN_FREE_DISK_BYTES. */
  readonly minFreeBytes?: number | undefined;
}

/** Where and how much is kept. */
export interface KeptBytesOptions {
  readonly folder: string;
  /** Most bytes of the file. */
  readonly capacityBytes: number;
  readonly onStop: (reason: Error) => void;
  /** See KeptBytesWatch. */
  readonly minFreeBytes?: number | undefined;
}

/** The disk is so full that nothing is kept on it. */
class DiskNearlyFullError extends Error {
  constructor(freeBytes: number, minFreeBytes: number) {
    super(`${freeBytes} bytes are free on the disk, less than the ${minFreeBytes} left to others`);
    this.name = 'DiskNearlyFullError';
  }
}

/**
 * Makes the file in a folder; `undefined` where that fails, which is told to `onStop`.
 */
export function openKeptBytes(options: KeptBytesOptions): KeptBytes | undefined {
  const { folder, capacityBytes, onStop, minFreeBytes } = options;
  const path = join(folder, `kept-pages-${randomBytes(8).toString('hex')}`);
  const freeBytes = (): number => {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  };
  try {
    const watch = { onStop, freeBytes, minFreeBytes };
    assertRoom(watch);
    const file = openSync(path, 'wx+', 0o600);
    try {
      unlinkSync(path);
    } catch (error) {
      closeSync(file);
      throw error;
    }
    return new KeptBytes(file, capacityBytes, watch);
  } catch (error) {
    onStop(error as Error);
    return undefined;
  }
}

function assertRoom({ freeBytes, minFreeBytes = MIN_FREE_DISK_BYTES }: KeptBytesWatch): void {
  const free = freeBytes?.();
  if (free !== undefined && free < minFreeBytes) throw new DiskNearlyFullError(free, minFreeBytes);
}

/** Pieces of bytes in a file that nobody else writes. No method throws. */
export class KeptBytes {
  readonly #capacityBytes: number;
  readonly #watch: KeptBytesWatch;
  #file: number | undefined;
  /**
   * Where the next piece goes, counted on over all rounds: a piece at `p` lies in the file at `p` modulo the
   * capacity, and is whole as long as this is no more than a round ahead of it.
   */
  #end = 0;
  #nextCheck = FREE_CHECK_BYTES;
  #lent: Buffer | undefined;

  /**
   * @param file open for reading and writing; closed when keeping ends
   * @param capacityBytes most bytes of the file
   */
  constructor(file: number, capacityBytes: number, watch: KeptBytesWatch) {
    this.#file = file;
    this.#capacityBytes = capacityBytes;
    this.#watch = watch;
  }

  /** Whether pieces are still taken. */
  get isOpen(): boolean {
    return this.#file !== undefined;
  }

  /**
   * Keeps a copy of a piece.
   * @returns what `read` finds it by; `undefined` when it is not kept: it is empty or too large, or keeping has ended
   */
  put(piece: Uint8Array): number | undefined {
    const { length } = piece;
    const file = this.#file;
    if (file === undefined || length === 0) return undefined;
    if (length > this.#capacityBytes || length > MAX_KEPT_PIECE_BYTES) return undefined;
    const left = this.#capacityBytes - (this.#end % this.#capacityBytes);
    // A piece lies in one stretch.
    const at = length > left ? this.#end + left : this.#end;
    // Before the writing: should it fail half-way, what it has overwritten is no longer given out.
    this.#end = at + length;
    try {
      if (at >= this.#nextCheck) {
        this.#nextCheck = at + FREE_CHECK_BYTES;
        assertRoom(this.#watch);
      }
      writeWhole(file, piece, at % this.#capacityBytes);
      return at;
    } catch (error) {
      this.#stop(error as Error);
      return undefined;
    }
  }

  /**
   * A piece as it was put, in memory of its own.
   * @param at what `put` gave
   * @param length of the piece, in bytes
   * @returns `undefined` when the file has been written over it since, or keeping has ended
   */
  read(at: number, length: number): Buffer | undefined {
    const piece = Buffer.allocUnsafe(length);
    return this.#readInto(piece, at, length) ? piece : undefined;
  }

  /**
   * As `read`, in memory that the next piece will be lent in, too: for who is done with it before this turn ends, or
   * says `leave` before that.
   */
  lend(at: number, length: number): Buffer | undefined {
    if (this.#lent === undefined || this.#lent.length < length) {
      this.#lent = Buffer.allocUnsafeSlow(Math.max(length, LENT_ROOM_BYTES));
    }
    return this.#readInto(this.#lent, at, length) ? this.#lent.subarray(0, length) : undefined;
  }

  /** Leaves what was lent last to who has it: what is lent next lies elsewhere. */
  leave(): void {
    this.#lent = undefined;
  }

  /** Ends the keeping and gives the file's room back. Closing twice is allowed. */
  close(): void {
    const file = this.#file;
    if (file === undefined) return;
    this.#file = undefined;
    // The room is given back at once, also where something else holds the file open.
    quietly(() => ftruncateSync(file));
    quietly(() => closeSync(file));
  }

  #readInto(target: Buffer, at: number, length: number): boolean {
    if (this.#file === undefined || this.#end - at > this.#capacityBytes) return false;
    try {
      const read = readSync(this.#file, target, 0, length, at % this.#capacityBytes);
      if (read !== length) throw new Error(`the file of kept pages ends after ${read} bytes`);
      return true;
    } catch (error) {
      this.#stop(error as Error);
      return false;
    }
  }

  #stop(reason: Error): void {
    this.close();
    this.#watch.onStop(reason);
  }
}

function writeWhole(file: number, piece: Uint8Array, position: number): void {
  let done = 0;
  while (done < piece.length) {
    const written = writeSync(file, piece, done, piece.length - done, position + done);
    if (written === 0) throw new Error('the file of kept pages takes nothing more');
    done += written;
  }
}

/** Giving back what is broken may fail, too: there is nothing more to be done then. */
function quietly(give: () => void): void {
  try {
    give();
  } catch {
    // Said above.
  }
}
