/**
 * Applies batches to the file of a store, one at a time, each in one SQLite transaction. It runs in its own thread,
 * because a commit writes to the disk and merges runs, which must not delay the responses of this process.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { IS_BUILT } from '../../built.ts';
import { RequestThread } from '../../thread.ts';
import { STATE } from '../columns/columns.ts';
import { CLEAR_VERSION, DELETE, DELETE_RANGE, PackedReader, PUT } from '../packed-rows.ts';
import {
  blobId,
  blobReference,
  encodeBlob,
  isInline,
  recordIndex,
  recordReference,
} from './placed-values.ts';
import { Entry, entryOf, versionOf } from './runs/block.ts';
import { RunWriter } from './runs/run-writer.ts';
import { sortEntries } from './runs/sort-entries.ts';
import { SqliteDatabase } from './sqlite-database.ts';
import { isDiskFull, isStoredDamage, reasonOf, StoredValueError } from './stored-value.ts';
import { placeOf, STATE_PLACE } from './version-record.ts';
import { RecordChanges, versionOfKey } from './version-records.ts';

/** The pieces of a packed batch, or a command. */
type CommitRequest = readonly Uint8Array<ArrayBuffer>[] | 'repair' | 'close';
export type ThreadRequest = CommitRequest | { readonly copyTo: string };

export interface CommitFailure {
  readonly kind: 'full' | 'damaged' | 'io' | 'refused';
  readonly version?: number | undefined;
  readonly message: string;
}

export type CommitAnswer = { readonly repaired: number } | CommitFailure;

/** Handles one request at a time. Failures are returned, not thrown. */
export interface CommitThread {
  send(request: CommitRequest, transferList?: readonly ArrayBuffer[]): Promise<CommitAnswer>;
  close(): Promise<void>;
}

/** Commits in a worker thread or, when run from source (in tests), in the calling thread. */
export function openCommitThread(path: string): CommitThread {
  if (IS_BUILT) return new RequestThread<CommitRequest, CommitAnswer>('commit-worker', path);
  const committer = new SqliteCommitter(path);
  return {
    async send(request) {
      const answer = committer.answer(request);
      // Like the response of a worker, it never arrives in the event-loop turn of its request.
      await nextTurn();
      return answer;
    },
    close: async () => undefined,
  };
}

/** Copies the current state of a store, without free pages, while others read and write it. @returns the failure */
export async function copyFile(from: string, to: string): Promise<CommitFailure | undefined> {
  if (!IS_BUILT) return copyInThread(from, to);
  const thread = new RequestThread<ThreadRequest, CommitFailure | undefined>('commit-worker', from);
  return await thread.send({ copyTo: to }).finally(() => thread.close());
}

export function copyInThread(from: string, to: string): CommitFailure | undefined {
  const source = new SqliteDatabase(from, { readOnly: true });
  try {
    source.copyTo(to);
    return undefined;
  } catch (error) {
    return failureOf(error);
  } finally {
    source.close();
  }
}

/** A committer caches this between commits, and reads it again after a failed commit. */
interface CommitState {
  readonly writer: RunWriter;
  highest: number;
  lastBlob: number;
}

export class SqliteCommitter {
  readonly #database: SqliteDatabase;
  #state: CommitState | undefined;

  constructor(path: string) {
    this.#database = new SqliteDatabase(path, { readOnly: false });
  }

  /** Executes a request completely or not at all. Failures are returned, not thrown. */
  answer(request: CommitRequest): CommitAnswer {
    try {
      if (request === 'repair')
        return { repaired: this.#inTransaction(({ writer }) => writer.repair()) };
      if (request === 'close') {
        // Copies the whole log into the file, unless someone still reads older pages.
        this.#database.checkpoint();
        this.#database.close();
      } else this.commit(request);
      return { repaired: 0 };
    } catch (error) {
      return failureOf(error);
    }
  }

  /** @param pieces of a batch */
  commit(pieces: readonly Uint8Array[]): void {
    this.#inTransaction((state) => {
      const commit = new OneCommit(this.#database, state);
      commit.apply(pieces.map((piece) => new PackedReader(piece)));
      commit.finish();
    });
  }

  #inTransaction<T>(change: (state: CommitState) => T): T {
    try {
      this.#database.shortenLog();
      this.#database.beginWrite();
      this.#state ??= {
        writer: new RunWriter(this.#database),
        highest: this.#database.last('versions') ?? -1,
        lastBlob: this.#database.last('blobs') ?? 0,
      };
      const result = change(this.#state);
      this.#database.commit();
      return result;
    } catch (error) {
      this.#state = undefined;
      this.#database.rollback();
      throw error;
    }
  }
}

function failureOf(error: unknown): CommitFailure {
  const message = reasonOf(error);
  if (error instanceof RangeError) return { kind: 'refused', message };
  if (error instanceof StoredValueError)
    return { kind: 'damaged', version: error.version, message };
  if (isStoredDamage(error)) return { kind: 'damaged', message };
  return { kind: isDiskFull(error) ? 'full' : 'io', message };
}

class OneCommit {
  readonly #database: SqliteDatabase;
  readonly #state: CommitState;
  readonly #records: RecordChanges;
  readonly #changes: Entry[] = [];
  /** Deletions of rows that do not exist. */
  readonly #noOpDeletes = new Set<Entry>();

  constructor(database: SqliteDatabase, state: CommitState) {
    this.#database = database;
    this.#state = state;
    const { manifest } = state.writer.runs;
    this.#records = new RecordChanges(database, manifest, state.highest);
  }

  apply(pieces: readonly PackedReader[]): void {
    for (const row of pieces) while (row.next()) this.#applyRow(row);
    // State comes second: its values go into records of the same batch.
    for (const { bytes } of pieces) {
      for (const row = new PackedReader(bytes); row.next(); ) {
        if (row.column === STATE.number) this.#applyState(row);
      }
    }
  }

  finish(): void {
    const changes = sortEntries(this.#changes);
    // The last change of a row wins.
    const entries = changes.filter((entry, at) => {
      const isLast = changes[at + 1]?.compare(entry) !== 0;
      return isLast && !this.#noOpDeletes.has(entry);
    });
    const { highest, known } = this.#records.write();
    this.#state.writer.setRecordRange(known);
    this.#state.writer.add(entries);
    this.#state.highest = highest;
  }

  #applyRow(row: PackedReader): void {
    const { kind, column } = row;
    if (kind === CLEAR_VERSION) this.#records.clear(versionOfKey(row.key.subarray(1)));
    else if (kind === DELETE_RANGE) this.#deleteRange(row.key, row.value!);
    else {
      const place = placeOf(column);
      if (place !== undefined) this.#records.apply(place, row);
      else if (column === STATE.number) return;
      else if (kind === PUT) this.#changes.push(this.#placed(row));
      else this.#remove(row.key, this.#find(row.key));
    }
  }

  #applyState(row: PackedReader): void {
    const { kind, key } = row;
    if (kind === PUT) this.#putState(key, row);
    else if (kind === DELETE) this.#remove(key, this.#find(key));
  }

  /** Returns the entry of a row. Most rows already contain it in packed form. */
  #placed({ bytes, entryAt, keyEnd, end, column, key, value }: PackedReader): Entry {
    if (isInline(column, end - keyEnd - 1)) return new Entry(bytes, entryAt);
    return entryOf(key, this.#newBlob(value!));
  }

  #putState(key: Buffer, row: PackedReader): void {
    const version = versionOf(key);
    const before = version > this.#state.highest ? undefined : this.#find(key);
    const known = before && recordIndex(before);
    const index = this.#records.putState(version, row.value!, known);
    this.#changes.push(
      index === undefined ? this.#placed(row) : entryOf(key, recordReference(index)),
    );
  }

  #newBlob(value: Buffer): Buffer {
    this.#state.lastBlob += 1;
    const id = this.#state.lastBlob;
    this.#database.write('blobs', id, encodeBlob(value, id));
    return blobReference(id);
  }

  #deleteRange(from: Buffer, to: Buffer): void {
    const place = placeOf(from[0]!);
    if (place !== undefined) {
      this.#records.deleteRange(place, from.subarray(1), to.subarray(1));
      return;
    }
    for (const { key, value } of this.#state.writer.runs.walk({ from, to, reverse: false })) {
      this.#remove(Buffer.from(key), value!);
    }
  }

  #remove(key: Buffer, reference: Buffer | undefined): void {
    const index = reference && recordIndex(reference);
    const blob = reference && blobId(reference);
    if (index !== undefined) this.#records.delete(STATE_PLACE, versionOf(key), index);
    if (blob !== undefined) this.#database.remove('blobs', blob, blob + 1);
    const entry = entryOf(key, undefined);
    this.#changes.push(entry);
    if (reference === undefined) this.#noOpDeletes.add(entry);
  }

  #find(key: Buffer): Buffer | undefined {
    return this.#state.writer.runs.get(key)?.value;
  }
}
