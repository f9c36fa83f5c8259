/**
 * What a packed fork contains (docs/data-layout.md): all rows in the order of their keys. Left out is when and from
 * where each answer came: the same records make the same bytes.
 */
import { BcsReader } from '../move/bcs/bcs-reader.ts';
import { BcsWriter } from '../move/bcs/bcs-writer.ts';
import { Batch } from '../store/batch.ts';
import { type Column, HEAD, IDENTITY, type ScannedRow } from '../store/columns/columns.ts';
import { FORK_LAYOUT, FORK_LOG, FORK_ORIGIN } from '../store/columns/fork-columns.ts';
import { FORMAT_KEY } from '../store/columns/identity-column.ts';
import { type StoreReader, scanPages } from '../store/store.ts';

/** Most bytes of a pack's contents: they are in memory. */
export const MAX_PACKED_BYTES = 256 * 1024 * 1024;

const PACKED_COLUMNS = FORK_LAYOUT.columns.filter((column) => column !== FORK_LOG);
const MIN_ROW_BYTES = 2;

/** @returns `undefined` for more than `maxBytes` */
export async function packRows(
  store: Pick<StoreReader, 'scan'>,
  maxBytes = MAX_PACKED_BYTES,
): Promise<Buffer | undefined> {
  const writer = new BcsWriter().u32(FORK_LAYOUT.format);
  for (const column of PACKED_COLUMNS) {
    const rows: ScannedRow[] = [];
    let sizeBytes = writer.view().length;
    for await (const page of scanPages(store, column)) {
      for (const row of page.filter((one) => isPacked(column, one))) {
        sizeBytes += row.partition.length + row.order.length + row.value.length;
        rows.push(row);
      }
      if (sizeBytes > maxBytes) return undefined;
    }
    writer.vector(rows, (to, { partition, order, value }) =>
      to
        .fixed(partition)
        .bytes(order)
        .bytes(packedValue(column, partition, order, value)),
    );
  }
  const bytes = writer.view();
  return bytes.length > maxBytes ? undefined : bytes;
}

/** A store has a format of its own from the beginning. */
function isPacked(column: Column, { partition }: ScannedRow): boolean {
  return column !== IDENTITY || !partition.equals(FORMAT_KEY.partition);
}

function packedValue(column: Column, partition: Buffer, order: Buffer, value: Buffer): Buffer {
  const key = FORK_ORIGIN.keyOf();
  if (column !== IDENTITY || !partition.equals(key.partition)) return value;
  const origin = FORK_ORIGIN.decode({ partition, order }, value);
  return FORK_ORIGIN.encode({ ...origin, madeAtUsecs: 0n });
}

/** @returns the rows; a number: the format of another program's fork. @throws BcsError */
export function unpackRows(bytes: Uint8Array): Batch | number {
  const reader = new BcsReader(bytes);
  const format = reader.u32();
  if (format !== FORK_LAYOUT.format) return format;
  const batch = new Batch();
  for (const column of PACKED_COLUMNS) {
    let before: Buffer | undefined;
    reader.vector(column.partitionBytes + MIN_ROW_BYTES, () => {
      const start = reader.offset;
      const partition = reader.fixed(column.partitionBytes);
      const order = reader.bytes();
      const [least, most] = column.orderBytes;
      const key = Buffer.concat([partition, order]);
      const isInOrder = before === undefined || Buffer.compare(before, key) < 0;
      if (order.length < least || order.length > most || !isInOrder) {
        throw reader.error('bad_value', `not the next row of the column ${column.name}`, start);
      }
      before = key;
      const value = reader.bytes();
      if (column === HEAD) batch.publish(column, partition, order, value);
      else batch.put(column, partition, order, value);
    });
  }
  reader.finish();
  return batch;
}
