/** The pages of an LMDB file that hold the rows of its newest transaction: with the same of them it has the same rows. */
import { createHash } from 'node:crypto';
import { PAGE_BYTES } from '../src/store/lmdb/lmdb-file.ts';

/** In a meta page. */
const MAIN_ROOT_AT = 136;
const TRANSACTION_AT = 152;
const NO_ROOT = 2n ** 64n - 1n;
/** In other pages: the offsets of nodes follow the header. */
const FLAGS_AT = 18;
const LOWER_AT = 20;
const OVERFLOW_PAGES_AT = 20;
const HEADER_BYTES = 24;
const OFFSET_BYTES = 2;
const BRANCH = 1;
const LEAF = 2;
/** In a node: low and high part of a size or page, flags, size of the key, key, data. */
const NODE_HEADER_BYTES = 8;
const ON_PAGES = 1;
const IS_DATABASE = 2;
const ROOT_IN_DATABASE = 40;

/** `undefined` for a file that ends before they do. */
export function digestOfPages(file: Buffer): string | undefined {
  if (file.length < 2 * PAGE_BYTES) return undefined;
  const [meta] = [file.subarray(0, PAGE_BYTES), file.subarray(PAGE_BYTES, 2 * PAGE_BYTES)].sort(
    (a, b) => (a.readBigUInt64LE(TRANSACTION_AT) < b.readBigUInt64LE(TRANSACTION_AT) ? 1 : -1),
  );
  const digest = createHash('sha1');
  const roots = [meta!.readBigUInt64LE(MAIN_ROOT_AT)];
  for (let root = roots.pop(); root !== undefined; root = roots.pop()) {
    if (root === NO_ROOT) continue;
    const start = Number(root) * PAGE_BYTES;
    if (start + PAGE_BYTES > file.length) return undefined;
    const page = file.subarray(start, start + PAGE_BYTES);
    const flags = page.readUInt16LE(FLAGS_AT);
    if ((flags & (BRANCH | LEAF)) === 0) {
      const end = start + page.readUInt32LE(OVERFLOW_PAGES_AT) * PAGE_BYTES;
      if (end > file.length) return undefined;
      digest.update(file.subarray(start, end));
      continue;
    }
    digest.update(page);
    for (let at = 0; at < page.readUInt16LE(LOWER_AT); at += OFFSET_BYTES) {
      const node = HEADER_BYTES + page.readUInt16LE(HEADER_BYTES + at);
      const nodeFlags = page.readUInt16LE(node + 4);
      if ((flags & BRANCH) !== 0) {
        roots.push((BigInt(nodeFlags) << 32n) | BigInt(page.readUInt32LE(node)));
        continue;
      }
      const data = node + NODE_HEADER_BYTES + page.readUInt16LE(node + 6);
      if ((nodeFlags & IS_DATABASE) !== 0)
        roots.push(page.readBigUInt64LE(data + ROOT_IN_DATABASE));
      else if ((nodeFlags & ON_PAGES) !== 0) roots.push(page.readBigUInt64LE(data));
    }
  }
  return digest.digest('hex');
}
