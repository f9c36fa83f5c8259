/** PostgreSQL's binary form of `bytea[]`: one parameter that contains the parts of many keys, or many values. */

/** Number of dimensions, whether there are nulls, type of the elements, length, lower bound: 4 bytes each. */
const HEADER_BYTES = 20;
const EMPTY_HEADER_BYTES = 12;
const LENGTH_BYTES = 4;
const BYTEA_OID = 17;

export function encodeByteArrays(values: readonly Uint8Array[]): Buffer {
  if (values.length === 0) {
    const empty = Buffer.alloc(EMPTY_HEADER_BYTES);
    empty.writeInt32BE(BYTEA_OID, 8);
    return empty;
  }
  let byteLength = HEADER_BYTES;
  for (const value of values) byteLength += LENGTH_BYTES + value.length;
  const array = Buffer.allocUnsafe(byteLength);
  array.writeInt32BE(1, 0);
  array.writeInt32BE(0, 4);
  array.writeInt32BE(BYTEA_OID, 8);
  array.writeInt32BE(values.length, 12);
  array.writeInt32BE(1, 16);
  let offset = HEADER_BYTES;
  for (const value of values) {
    array.writeInt32BE(value.length, offset);
    array.set(value, offset + LENGTH_BYTES);
    offset += LENGTH_BYTES + value.length;
  }
  return array;
}
