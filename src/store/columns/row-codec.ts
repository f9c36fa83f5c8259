/** How rows are encoded and decoded: canonical BCS, unless a column states otherwise. */
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import { BcsError, BcsReader } from '../../move/bcs/bcs-reader.ts';
import { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import type { Batch } from '../batch.ts';
import type { StoreReader } from '../store.ts';
import { RowDamagedError } from '../store-error.ts';
import type { Column, RowKey } from './columns.ts';

const SHARED_BYTES = 64 * 1024;

/** Row values are written here, one after the other (`next`), and returned as views. */
export const rowWriter = new BcsWriter(SHARED_BYTES);

interface RowForm<Value> {
  readonly write: (writer: BcsWriter, value: Value) => unknown;
  readonly read: (reader: BcsReader, key: RowKey) => Value;
}

export class RowCodec<Name, Value> {
  readonly column: Column;
  readonly keyOf: (name: Name) => RowKey;
  readonly #form: RowForm<Value>;

  constructor(column: Column, keyOf: (name: Name) => RowKey, form: RowForm<Value>) {
    this.column = column;
    this.keyOf = keyOf;
    this.#form = form;
  }

  encode(value: Value): Buffer {
    this.#form.write(rowWriter.next(), value);
    return rowWriter.view();
  }

  /** @throws RowDamagedError */
  decode(key: RowKey, bytes: Uint8Array): Value {
    return decodeRow(this.column, key, bytes, this.#form.read);
  }

  put(batch: Batch, name: Name, value: Value): void {
    const { partition, order } = this.keyOf(name);
    batch.put(this.column, partition, order, this.encode(value));
  }

  delete(batch: Batch, name: Name): void {
    const { partition, order } = this.keyOf(name);
    batch.delete(this.column, partition, order);
  }

  /** Puts a row that becomes visible when all other rows of the batch are stored. */
  publish(batch: Batch, name: Name, value: Value): void {
    const { partition, order } = this.keyOf(name);
    batch.publish(this.column, partition, order, this.encode(value));
  }

  get(store: StoreReader, name: Name): MaybePromise<Value | undefined> {
    const key = this.keyOf(name);
    return andThen(
      store.get(this.column, key.partition, key.order),
      (bytes) => bytes && this.decode(key, bytes),
    );
  }
}

/** Decodes a value that must use all of its bytes; slices reference them. @throws RowDamagedError naming the row. */
export function decodeRow<T>(
  column: Column,
  key: RowKey,
  value: Uint8Array,
  read: (reader: BcsReader, key: RowKey) => T,
): T {
  return decoding(column, key, () => {
    const reader = new BcsReader(value);
    const decoded = read(reader, key);
    reader.finish();
    return decoded;
  });
}

/** Decodes parts of a row. @throws RowDamagedError naming the row, in place of BcsError. */
export function decoding<T>(column: Column, key: RowKey, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    if (!(error instanceof BcsError)) throw error;
    throw new RowDamagedError(column, key, error.message, { cause: error });
  }
}
