/** An input of the target `pages`: patches of the file, and where it is truncated. */

/** Bytes that overwrite others; if empty, the file is truncated here. */
export interface Patch {
  readonly at: number;
  readonly bytes: Buffer;
}

export interface Reading {
  /** Whether the ledger is also verified. */
  readonly isVerified: boolean;
  readonly patches: readonly Patch[];
}

const PLACE_BYTES = 6;

/** Verified u8; then patches: position u32, length u16, bytes. */
export function encodeReading({ isVerified, patches }: Reading): Buffer {
  const written = patches.flatMap(({ at, bytes }) => {
    const place = Buffer.alloc(PLACE_BYTES);
    place.writeUInt32LE(at, 0);
    place.writeUInt16LE(bytes.length, 4);
    return [place, bytes];
  });
  return Buffer.concat([Buffer.of(isVerified ? 1 : 0), ...written]);
}

/** Decodes any bytes without failing. */
export function decodeReading(input: Buffer, fileBytes: number): Reading {
  const patches: Patch[] = [];
  for (let at = 1; at + PLACE_BYTES <= input.length; ) {
    const position = input.readUInt32LE(at) % fileBytes;
    const start = at + PLACE_BYTES;
    const bytes = input.subarray(start, start + input.readUInt16LE(at + 4));
    patches.push({ at: position, bytes: bytes.subarray(0, fileBytes - position) });
    at = start + bytes.length;
  }
  return { isVerified: (input[0] ?? 0) % 2 === 1, patches };
}
