/** Digests of columns in reports. */
import type { VerifyReport } from './repair.ts';

type ColumnDigests = VerifyReport['columns'];

export function digestLines(columns: ColumnDigests): string[] {
  const lines = [`${'column'.padEnd(20)}${'rows'.padStart(14)}  digest (SHA-256)`];
  for (const { column, rows, digest } of columns) {
    lines.push(`${column.name.padEnd(20)}${String(rows).padStart(14)}  ${hex(digest)}`);
  }
  return lines;
}

export function digestFacts(columns: ColumnDigests) {
  return Object.fromEntries(
    columns.map(({ column, rows, bytes, digest }) => [
      column.name,
      { rows, bytes, digest: hex(digest) },
    ]),
  );
}

/** Digests from another process are plain bytes, not Buffers. */
function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}
