/** An input of the target `pages`: rows that are read, and bytes that are written over others before. */

/** Bytes that are written over others. */
export interface Patch {
  readonly at: number;
  readonly bytes: Buffer;
}

export interface Reading {
  /** Numbers of known rows; absent: all of them. */
  readonly rows?: readonly number[] | undefined;
  readonly patches: readonly Patch[];
}

/** Count of rows u8 (0: all), each u16; then patches: position u32, length u16, bytes. */
export function encodeReading({ rows = [], patches }: Reading): Buffer {
  const head = Buffer.alloc(1 + 2 * rows.length);
  head[0] = rows.length;
  for (const [at, row] of rows.entries()) head.writeUInt16LE(row, 1 + 2 * at);
  const written = patches.flatMap(({ at, bytes }) => {
    const place = Buffer.alloc(6);
    place.writeUInt32LE(at, 0);
    place.writeUInt16LE(bytes.length, 4);
    return [place, bytes];
  });
  return Buffer.concat([head, ...written]);
}

/** Any bytes are a reading. */
export function decodeReading(input: Buffer, fileBytes: number): Reading {
  const rows: number[] = [];
  let at = 1;
  for (; rows.length < (input[0] ?? 0) && at + 2 <= input.length; at += 2) {
    rows.push(input.readUInt16LE(at));
  }
  const patches: Patch[] = [];
  while (at + 6 < input.length) {
    const position = input.readUInt32LE(at) % fileBytes;
    const bytes = input.subarray(at + 6, at + 6 + input.readUInt16LE(at + 4));
    patches.push({ at: position, bytes: bytes.subarray(0, fileBytes - position) });
    at += 6 + bytes.length;
  }
  return { rows: rows.length === 0 ? undefined : rows, patches };
}
