/** `daybook copy`: a consistent copy of a ledger, without free space, while others read and write it. */
import { type Head, openHead, readHead } from '../store/columns/head.ts';
import { copyRows } from '../store/copy-rows.ts';
import { type ColumnDigest, columnDigest } from '../store/digest.ts';
import type { Store, StoreSnapshot } from '../store/store.ts';
import { NodeError } from './node-error.ts';
import { copyStoreFile, emptyStoreError, storeBytes, withCopy } from './open-store.ts';

interface CopyReport {
  readonly head: Head;
  /** Sizes of the two stores. */
  readonly fromBytes: number;
  readonly toBytes: number;
  readonly seconds: number;
  /** What both hold, if rows were copied and compared, and not a file. */
  readonly columns: readonly ColumnDigest[] | undefined;
}

/** Gets a function that tells how much is done, and about how much there is to do. */
type OnBegin = (
  what: 'bytes' | 'rows copied' | 'rows compared',
  done: () => number,
  needed: number,
) => void;

/**
 * Copies a ledger as it is now. When it resolves, the copy is on disk; killed before, it leaves no ledger. The next
 * call resumes a copy of rows that was cut off.
 * @throws NodeError `no_ledger`, `ledger_exists`, `data_not_usable`
 */
export async function copyLedger(from: string, to: string, onBegin: OnBegin): Promise<CopyReport> {
  const startedMs = performance.now();
  const report = (await copyFile(from, to, onBegin)) ?? (await copyByRows(from, to, onBegin));
  return { ...report, seconds: (performance.now() - startedMs) / 1000 };
}

async function copyFile(from: string, to: string, onBegin: OnBegin) {
  const copied = await copyStoreFile(
    from,
    to,
    (copiedBytes, neededBytes) => onBegin('bytes', copiedBytes, neededBytes),
    async (copy) => {
      const head = await readHead(copy);
      if (head === undefined) throw emptyStoreError(from);
      return head;
    },
  );
  if (copied === undefined) return undefined;
  const { found: head, ...sizes } = copied;
  return { head, ...sizes, columns: undefined };
}

async function copyByRows(from: string, to: string, onBegin: OnBegin) {
  const { sizes, ...report } = await withCopy(from, to, async (source, copy) => {
    const before = await source.statistics();
    const neededRows = before.reduce((sum, { rows }) => sum + rows, 0);
    const columns = await copiedRows(source, copy, neededRows, onBegin);
    const sizes = { from: before, to: await copy.statistics() };
    return { head: await openHead(copy), columns, sizes };
  });
  const fromBytes = await storeBytes(from, sizes.from);
  return { ...report, fromBytes, toBytes: await storeBytes(to, sizes.to) };
}

/** @throws NodeError `data_not_usable` when the copy is not what was read */
async function copiedRows(
  source: StoreSnapshot,
  copy: Store,
  neededRows: number,
  onBegin: OnBegin,
): Promise<readonly ColumnDigest[]> {
  let done = 0;
  onBegin('rows copied', () => done, neededRows);
  const columns = await copyRows(source, copy, (rows) => {
    done = rows;
  });
  let compared = 0;
  onBegin('rows compared', () => compared, done);
  for (const { column, digest, rows } of columns) {
    const before = compared;
    const found = await columnDigest(copy, column, (count) => {
      compared = before + count;
    });
    if (found.digest.equals(digest)) continue;
    const message =
      `column ${column.name} of the copy is not what was read (${found.rows} rows, ${rows} were read): ` +
      'copy again, and check the disks';
    throw new NodeError('data_not_usable', message);
  }
  return columns;
}
