/** Applies batches to the file of a store, one after the other, each as one transaction of SQLite. */
import { STATE } from '../columns/columns.ts';
import { LEDGER_LAYOUT } from '../columns/fork-columns.ts';
import { CLEAR_VERSION, DELETE_RANGE, type PackedOperation, unpackBatch } from './packed-batch.ts';
import { blobId, encodeBlob, inBlob, inRecord, isShort, recordIndex } from './placed-values.ts';
import { compareKeys, type Entry, versionOf } from './runs/block.ts';
import { prefixOf } from './runs/run.ts';
import { partitionBytesOf } from './runs/run-builder.ts';
import { hashOf } from './runs/run-filter.ts';
import { RunWriter } from './runs/run-writer.ts';
import { SqliteDatabase } from './sqlite-database.ts';
import { STATE_PLACE } from './version-record.ts';
import { placeOf, RecordChanges, versionOfParts } from './version-records.ts';

/** The places of columns by version in records, by number. */
const PLACES = LEDGER_LAYOUT.columns.reduce<(number | undefined)[]>((places, column) => {
  places[column.number] = placeOf(column);
  return places;
}, []);

interface Change extends Entry {
  readonly prefix: number;
  /** Whether a row that is deleted is not there anyway. */
  readonly isNone: boolean;
  readonly at: number;
}

/** What a committer remembers between commits; read again after one that failed. */
interface Written {
  readonly writer: RunWriter;
  /** The highest version that has had a record. */
  highest: number;
  lastBlob: number;
}

export class Committer {
  readonly #database: SqliteDatabase;
  #written: Written | undefined;

  constructor(path: string) {
    this.#database = new SqliteDatabase(path, { readOnly: false });
  }

  /** Stores a packed batch, or nothing of it. @throws SQLite's errors, StoredValueError, DamagedRecordError */
  commit(packed: Buffer): void {
    this.#inTransaction((written) => {
      const commit = new OneCommit(this.#database, written);
      commit.apply(packed);
      commit.finish();
    });
  }

  /** @returns how many places were mended */
  mend(): number {
    return this.#inTransaction(({ writer }) => writer.mend());
  }

  /** Closes the file, which then has everything, as far as nobody reads older pages. */
  close(): void {
    this.#database.checkpoint();
    this.#database.close();
  }

  #inTransaction<T>(change: (written: Written) => T): T {
    try {
      this.#database.beginWrite();
      this.#written ??= {
        writer: new RunWriter(this.#database),
        highest: this.#database.recordBounds()?.[1] ?? -1,
        lastBlob: this.#database.lastBlob(),
      };
      const result = change(this.#written);
      this.#database.commit();
      return result;
    } catch (error) {
      this.#written = undefined;
      this.#database.rollback();
      throw error;
    }
  }
}

/** The changes of one batch. */
class OneCommit {
  readonly #database: SqliteDatabase;
  readonly #written: Written;
  readonly #records: RecordChanges;
  readonly #changes: Change[] = [];

  constructor(database: SqliteDatabase, written: Written) {
    this.#database = database;
    this.#written = written;
    const { manifest } = written.writer.runs;
    this.#records = new RecordChanges(database, manifest, written.highest);
  }

  apply(packed: Buffer): void {
    const state: PackedOperation[] = [];
    for (const operation of unpackBatch(packed)) {
      const { kind, key, placed } = operation;
      if (kind === CLEAR_VERSION) {
        this.#records.clear(versionOfParts(key.subarray(1), key.subarray(7)));
      } else if (kind === DELETE_RANGE) this.#deleteRange(key, operation.to!);
      else {
        const place = PLACES[key[0]!];
        if (place !== undefined) this.#changeRecord(place, key, placed);
        // After all records of the batch are known.
        else if (key[0] === STATE.number) state.push(operation);
        else if (placed === undefined) this.#remove(key, this.#find(key));
        else this.#change(key, this.#placed(key, placed));
      }
    }
    for (const { key, placed } of state) {
      if (placed === undefined) this.#remove(key, this.#find(key));
      else this.#putState(key, placed);
    }
  }

  finish(): void {
    const changes = this.#changes.sort(
      (a, b) => a.prefix - b.prefix || compareKeys(a.key, b.key) || a.at - b.at,
    );
    // The last change of a row counts.
    const entries = changes.filter(({ key, isNone }, at) => {
      const next = changes[at + 1];
      return !isNone && (next === undefined || compareKeys(next.key, key) !== 0);
    });
    const { highest, range } = this.#records.write();
    this.#written.writer.noteRecords(range);
    this.#written.writer.add(entries);
    this.#written.highest = highest;
  }

  #changeRecord(place: number, key: Buffer, placed: Buffer | undefined): void {
    const [partition, order] = [key.subarray(1, 7), key.subarray(7)];
    if (placed === undefined) this.#records.deleteRow(place, partition, order);
    else this.#records.put(place, partition, order, placed.subarray(1));
  }

  #placed(key: Buffer, placed: Buffer): Buffer {
    const value = placed.subarray(1);
    return isShort(key[0]!, value) ? placed : this.#newBlob(value);
  }

  #putState(key: Buffer, placed: Buffer): void {
    const version = versionOf(key);
    const before = version > this.#written.highest ? undefined : this.#find(key);
    const known = before && recordIndex(before);
    const index = this.#records.putState(version, placed.subarray(1), known);
    this.#change(key, index === undefined ? this.#placed(key, placed) : inRecord(index));
  }

  #newBlob(value: Buffer): Buffer {
    this.#written.lastBlob += 1;
    const id = this.#written.lastBlob;
    this.#database.writeBlob(id, encodeBlob(value, id));
    return inBlob(id);
  }

  #deleteRange(from: Buffer, to: Buffer): void {
    const place = PLACES[from[0]!];
    if (place !== undefined) {
      this.#records.deleteRange(place, from.subarray(1), to.subarray(1));
      return;
    }
    const hash = hashOf(from, partitionBytesOf(from));
    for (const { key, value } of this.#written.writer.runs.walk({
      from,
      to,
      reverse: false,
      hash,
    })) {
      this.#remove(Buffer.from(key), value!);
    }
  }

  #remove(key: Buffer, placed: Buffer | undefined): void {
    const index = placed && recordIndex(placed);
    const blob = placed && blobId(placed);
    if (index !== undefined) this.#records.delete(STATE_PLACE, versionOf(key), index);
    if (blob !== undefined) this.#database.writeBlob(blob, undefined);
    this.#change(key, undefined, placed === undefined);
  }

  #find(key: Buffer): Buffer | undefined {
    const partitionBytes = partitionBytesOf(key);
    const hash = hashOf(key, partitionBytes);
    return this.#written.writer.runs.get({ key, partitionBytes, hash })?.value;
  }

  #change(key: Buffer, value: Buffer | undefined, isNone = false): void {
    const prefix = prefixOf(key, 0, key.length);
    this.#changes.push({ key, value, isNone, prefix, at: this.#changes.length });
  }
}
