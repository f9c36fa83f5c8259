/**
 * Decoding of rows: what the columns' value codecs share. Values are canonical BCS unless a column
 * says otherwise.
 */
import { BcsError, BcsReader } from '../../move/bcs/bcs-reader.ts';
import { RowDamagedError } from '../store-error.ts';
import type { Column } from './columns.ts';

/**
 * Decodes a value that must take all of its bytes; views on them stay views.
 * @throws RowDamagedError naming the row.
 */
export function decodeRow<T>(
  column: Column,
  partition: Uint8Array,
  order: Uint8Array,
  value: Uint8Array,
  read: (reader: BcsReader) => T,
): T {
  try {
    const reader = new BcsReader(value);
    const decoded = read(reader);
    reader.finish();
    return decoded;
  } catch (error) {
    if (!(error instanceof BcsError)) throw error;
    throw new RowDamagedError(column.name, partition, order, error.message, { cause: error });
  }
}
