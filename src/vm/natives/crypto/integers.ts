/** Integers as bytes, lowest byte first. */

export function integerOfBytes(bytes: Uint8Array): bigint {
  let value = 0n;
  for (let index = bytes.length - 1; index >= 0; index -= 1) {
    value = (value << 8n) | BigInt(bytes[index]!);
  }
  return value;
}

/** @param length absent: as few as it takes */
export function bytesOfInteger(value: bigint, length?: number): Uint8Array {
  const size = length ?? Math.ceil(value.toString(16).length / 2);
  const bytes = new Uint8Array(size);
  for (let index = 0, left = value; index < size; index += 1, left >>= 8n) {
    bytes[index] = Number(left & 0xffn);
  }
  return bytes;
}
