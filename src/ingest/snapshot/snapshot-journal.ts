/**
 * The files of a snapshot that is being made, and the journal of what is complete: a line for each chunk, written when
 * the chunk is on disk. A line that was cut off does not count.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { ChunkEntry, ChunkKind } from './manifest.ts';

export const JOURNAL_NAME = 'journal.jsonl';

/** What a snapshot is of. */
interface SnapshotBegun {
  readonly version: bigint;
  readonly newestVersion: bigint;
  readonly isWithTransactions: boolean;
}

type Line =
  | { readonly begun: { version: string; newest: string; transactions: boolean } }
  | { readonly chunk: ChunkEntry; readonly cursor: string }
  | { readonly done: ChunkKind };

export class SnapshotJournal {
  readonly #folder: string;
  readonly #chunks: ChunkEntry[] = [];
  readonly #done = new Set<ChunkKind>();
  readonly #cursors = new Map<ChunkKind, Buffer>();
  readonly #totals = new Map<ChunkKind, { readonly chunks: number; readonly records: number }>();
  #begun: SnapshotBegun | undefined;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Opens the journal of a folder; `begin` makes it if it does not exist. */
  static open(folder: string): SnapshotJournal {
    const journal = new SnapshotJournal(folder);
    const path = join(folder, JOURNAL_NAME);
    if (!existsSync(path)) return journal;
    const text = readFileSync(path, 'utf8');
    const wholeLines = text.slice(0, text.lastIndexOf('\n') + 1);
    truncateSync(path, Buffer.byteLength(wholeLines));
    for (const line of wholeLines.split('\n').slice(0, -1)) journal.#read(JSON.parse(line) as Line);
    return journal;
  }

  get begun(): SnapshotBegun | undefined {
    return this.#begun;
  }

  get chunks(): readonly ChunkEntry[] {
    return this.#chunks;
  }

  isDone(kind: ChunkKind): boolean {
    return this.#done.has(kind);
  }

  /** Where the next chunk of a kind begins; `undefined` for the first. */
  cursor(kind: ChunkKind): Buffer | undefined {
    return this.#cursors.get(kind);
  }

  /** Chunks of a kind. */
  count(kind: ChunkKind): number {
    return this.#totals.get(kind)?.chunks ?? 0;
  }

  /** Records in the chunks of a kind. */
  records(kind: ChunkKind): number {
    return this.#totals.get(kind)?.records ?? 0;
  }

  begin(begun: SnapshotBegun): void {
    if (this.#begun !== undefined) return;
    mkdirSync(this.#folder, { recursive: true });
    const { version, newestVersion, isWithTransactions: transactions } = begun;
    this.#add({ begun: { version: String(version), newest: String(newestVersion), transactions } });
  }

  add(chunk: ChunkEntry, file: Uint8Array, cursor: Buffer): void {
    this.#write(chunk.name, file);
    this.#add({ chunk, cursor: cursor.toString('base64') });
  }

  done(kind: ChunkKind): void {
    this.#add({ done: kind });
  }

  /** Writes the last file. */
  finish(name: string, file: Uint8Array): void {
    this.#write(name, file);
  }

  #read(line: Line): void {
    if ('begun' in line) {
      const { version, newest, transactions } = line.begun;
      this.#begun = {
        version: BigInt(version),
        newestVersion: BigInt(newest),
        isWithTransactions: transactions,
      };
    } else if ('done' in line) {
      this.#done.add(line.done);
    } else {
      const { kind, records } = line.chunk;
      this.#totals.set(kind, {
        chunks: this.count(kind) + 1,
        records: this.records(kind) + records,
      });
      this.#chunks.push(line.chunk);
      this.#cursors.set(kind, Buffer.from(line.cursor, 'base64'));
    }
  }

  #add(line: Line): void {
    appendToDisk(join(this.#folder, JOURNAL_NAME), Buffer.from(`${JSON.stringify(line)}\n`), 'a');
    this.#read(line);
  }

  #write(name: string, bytes: Uint8Array): void {
    appendToDisk(join(this.#folder, name), bytes, 'w');
  }
}

/** Returns when the bytes are on disk. */
function appendToDisk(path: string, bytes: Uint8Array, flags: 'a' | 'w'): void {
  const file = openSync(path, flags);
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
