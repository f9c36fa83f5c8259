/** `daybook copy`: a consistent copy of a ledger, without free space, while others read and write it. */
import { type Head, readHead } from '../store/columns/head.ts';
import { copyStore, emptyStoreError } from './open-store.ts';

interface CopyReport {
  readonly head: Head;
  /** Sizes of the two files. */
  readonly fromBytes: number;
  readonly toBytes: number;
  readonly seconds: number;
}

/**
 * Copies a ledger as it is now. When it resolves, the copy is on disk; killed before, it leaves no ledger.
 * @param onBegin gets a function that tells how many bytes are copied, and about how many will be
 * @throws NodeError `no_ledger`, `ledger_exists`, `data_not_usable`
 */
export async function copyLedger(
  from: string,
  to: string,
  onBegin: (copiedBytes: () => number, neededBytes: number) => void,
): Promise<CopyReport> {
  const startedMs = performance.now();
  const { found, ...sizes } = await copyStore(from, to, onBegin, async (copy) => {
    const head = await readHead(copy);
    if (head === undefined) throw emptyStoreError(from);
    return head;
  });
  return { head: found, ...sizes, seconds: (performance.now() - startedMs) / 1000 };
}
