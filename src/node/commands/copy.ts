/** `daybook copy` makes a consistent copy of a ledger, without free space, while others read and write it. */
import type { Command } from 'commander';
import { type Head, openHead, readHead } from '../../store/columns/head.ts';
import { type ColumnDigest, columnDigest } from '../../store/read/digest.ts';
import type { Store, StoreSnapshot } from '../../store/store.ts';
import { copyRows } from '../../store/write/copy-rows.ts';
import { NodeError } from '../node-error.ts';
import { copyStoreFile, emptyStoreError, storeBytes, withCopy } from '../open-store.ts';
import { countText, withProgress } from '../progress.ts';
import { digestFacts, digestLines } from './column-digests.ts';
import {
  addReport,
  addSettingOption,
  describe,
  factLines,
  type Report,
  secondsSince,
} from './command-line.ts';

const BYTES_PER_MB = 1_000_000;

export function define(command: Command): void {
  describe(command, {
    about:
      'The copy is the ledger of one moment, without the free space of the file: it is a backup, and ' +
      'the way to a smaller file after pruning. To or from PostgreSQL, rows are copied and their digests ' +
      'compared; the same command resumes a copy that was cut off.',
    examples: [
      'copy --to ./backup',
      'copy --data ./mainnet --to /backup/mainnet --json',
      'copy --data ./mainnet --to postgres://me@db.example/daybook',
    ],
  });
  addSettingOption(command, 'data', 'the ledger to copy: a folder, or postgres://…').requiredOption(
    '--to <dir>',
    'where to: a folder that is absent or empty, or postgres://…',
  );
  addReport(command, async ({ to }: { readonly to: string }, { data }) => {
    const startedMs = performance.now();
    const copied = await withProgress((show) =>
      copyLedger(data, to, (what, done, needed) => {
        const beganMs = performance.now();
        const inUnit = (count: number) => (what === 'bytes' ? count / BYTES_PER_MB : count);
        const unit = what === 'bytes' ? 'MB' : what;
        const total = Math.ceil(inUnit(needed));
        show(() => countText(unit, Math.ceil(inUnit(done())), total, beganMs));
      }),
    );
    return reportOf(copied, secondsSince(startedMs));
  });
}

function reportOf({ head, fromBytes, toBytes, columns }: CopyReport, seconds: number): Report {
  const facts = {
    ledger_version: head.version,
    oldest_ledger_version: head.oldestVersion,
    source_bytes: fromBytes,
    copy_bytes: toBytes,
    seconds,
  };
  if (columns === undefined) return { facts };
  const lines = ['', ...digestLines(columns), '', 'both are equal'].map((line) => `${line}\n`);
  const text = factLines(facts) + lines.join('');
  return { facts: { ...facts, columns: digestFacts(columns) }, text };
}

interface CopyReport {
  readonly head: Head;
  readonly fromBytes: number;
  readonly toBytes: number;
  /** The columns of both, if rows were copied and compared; absent if a file was copied. */
  readonly columns: readonly ColumnDigest[] | undefined;
}

/** Gets a function that returns how much is done, and the approximate total. */
type OnBegin = (
  what: 'bytes' | 'rows copied' | 'rows compared',
  done: () => number,
  needed: number,
) => void;

/**
 * Copies a ledger as it is now. When it resolves, the copy is on disk; killed before, it leaves no ledger. The next
 * call resumes an interrupted copy of rows. @throws NodeError `no_ledger`, `ledger_exists`, `data_not_usable`
 */
export async function copyLedger(from: string, to: string, onBegin: OnBegin): Promise<CopyReport> {
  return (await copyFile(from, to, onBegin)) ?? (await copyByRows(from, to, onBegin));
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

/** @throws NodeError `data_not_usable` if the copy differs from what was read */
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
