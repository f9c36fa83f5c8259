/**
 * Transactions of a kind, newest first. The node has no index of kinds, so a limited number of pages of all
 * transactions is scanned. The newest page follows the ledger.
 */
import { useRef, useState } from 'preact/hooks';
import type { Transaction } from '../asking/answers.ts';
import { ApiFailure, send } from '../asking/api-client.ts';
import { type Asked, useWork } from '../asking/ask.tsx';
import { parseJson } from '../asking/exact-json.ts';
import { headAbove, useRecoveries } from '../asking/live-ledger.ts';
import { transactionsRequest } from '../asking/requests.ts';
import { greater, lesser } from '../parts/number-text.ts';

/** The node's maximum page size. */
const PAGE_SIZE = 100n;
/** Versions that are scanned before the reader is asked whether to continue. */
const MAX_LOOKED_AT = 2_000n;
/** With more new versions than this the list starts over. */
const MAX_FOLLOWED = 300n;

export interface ScanOptions {
  /** Versions from this one on are left out; absent: none. */
  readonly before: bigint | undefined;
  readonly wanted: number;
  readonly isWanted: (transaction: Transaction) => boolean;
  /** Identifies `isWanted`. */
  readonly filter: string;
  readonly isPaused: boolean;
}

export interface Scan {
  readonly rows: readonly Transaction[];
  /** The last request. */
  readonly asked: Asked<unknown>;
  readonly isWorking: boolean;
  /** The lowest scanned version, where the next page of the list begins. */
  readonly lowest: bigint | undefined;
  /** Whether there are no older versions. */
  readonly isAll: boolean;
  /** The newest version in the list. */
  readonly newest: bigint | undefined;
}

const NOTHING: Scan = {
  rows: [],
  asked: { request: undefined, refreshes: 0 },
  isWorking: true,
  lowest: undefined,
  isAll: false,
  newest: undefined,
};

/** The transactions, as they are found. */
export function useScan(options: ScanOptions): Scan {
  const { before, filter, isPaused, wanted } = options;
  const key = `${before} ${filter} ${wanted}`;
  const [scan, setScan] = useState<Scan & { readonly key?: string }>(NOTHING);
  const recoveries = useRecoveries();
  const latest = useRef(options);
  latest.current = options;
  useWork(
    async (signal) => {
      const put = (next: Scan): void => {
        if (!signal.aborted) setScan({ ...next, key });
      };
      try {
        await run(latest.current, put, signal);
      } catch (failure) {
        signal.throwIfAborted();
        const request = failure instanceof ApiFailure ? failure.request : undefined;
        setScan((known) => ({
          ...(known.key === key ? known : NOTHING),
          key,
          isWorking: false,
          asked: { request, failure, refreshes: 0 },
        }));
      }
    },
    [key, isPaused, recoveries],
  );
  return scan.key === key ? scan : NOTHING;
}

async function run(options: ScanOptions, put: (scan: Scan) => void, signal: AbortSignal) {
  const { before, isPaused } = options;
  for (;;) {
    const { ledger_version, oldest_ledger_version } = await headAbove(-1n, signal);
    const newest = BigInt(ledger_version);
    const end = before === undefined ? newest + 1n : before;
    let scan = await lookBack(
      options,
      { end, newest, oldest: BigInt(oldest_ledger_version) },
      put,
      signal,
    );
    if (before !== undefined || isPaused) return;
    // New versions are added at the top. If there are too many, the list starts over. After a revert everything does.
    while (scan !== undefined) scan = await followed(options, scan, put, signal);
  }
}

interface Bounds {
  readonly end: bigint;
  readonly newest: bigint;
  readonly oldest: bigint;
}

/** Scans pages below `end` until there are enough rows. */
async function lookBack(
  { wanted, isWanted }: ScanOptions,
  { end, newest, oldest }: Bounds,
  put: (scan: Scan) => void,
  signal: AbortSignal,
): Promise<Scan | undefined> {
  let scan: Scan = { ...NOTHING, newest };
  let top = lesser(end, newest + 1n);
  // The first page is small, which suffices if most transactions match.
  let size = BigInt(wanted) + 10n;
  const stop = greater(top - MAX_LOOKED_AT, oldest);
  do {
    const start = greater(top - size, top <= oldest ? 0n : stop);
    const request = transactionsRequest({ start, limit: greater(top - start, 1n) });
    const answer = await send(request, signal);
    const found = parseJson<readonly Transaction[]>(answer.text).filter(isWanted).reverse();
    const room = wanted - scan.rows.length;
    const rows = [...scan.rows, ...found.slice(0, room)];
    const lowest = found.length > room ? BigInt(rows.at(-1)!.version!) : start;
    const isDone = rows.length >= wanted || lowest <= stop;
    const asked = { request, answer, refreshes: 0 };
    scan = { rows, asked, isWorking: !isDone, lowest, isAll: lowest <= oldest, newest };
    put(scan);
    top = start;
    size = PAGE_SIZE;
  } while (scan.isWorking);
  return scan;
}

/** The list with later transactions added; undefined if it has to start over. */
async function followed(
  { wanted, isWanted }: ScanOptions,
  scan: Scan,
  put: (scan: Scan) => void,
  signal: AbortSignal,
): Promise<Scan | undefined> {
  const { ledger_version } = await headAbove(scan.newest!, signal);
  const newest = BigInt(ledger_version);
  const start = scan.newest! + 1n;
  if (newest - start >= MAX_FOLLOWED) return undefined;
  const request = transactionsRequest({ start, limit: lesser(newest - start + 1n, PAGE_SIZE) });
  const answer = await send(request, signal);
  const came = parseJson<readonly Transaction[]>(answer.text);
  const rows = [...came.filter(isWanted).reverse(), ...scan.rows].slice(0, wanted);
  const isFull = rows.length === wanted;
  const next: Scan = {
    ...scan,
    rows,
    newest: came.length === 0 ? newest : BigInt(came.at(-1)!.version!),
    lowest: isFull ? BigInt(rows.at(-1)!.version!) : scan.lowest,
    isAll: scan.isAll && rows.length < wanted,
    asked: {
      request: scan.asked.request,
      answer: scan.asked.answer!,
      refreshes: scan.asked.refreshes + 1,
    },
  };
  put(next);
  return next;
}
