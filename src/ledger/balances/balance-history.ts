/**
 * The history of a balance (docs/extensions.md): the versions that changed it, found in the writes to its state keys.
 * The balance before the oldest version counts as 0, so on a pruned ledger the first entry is the balance at that
 * version.
 */
import type { Address } from '../../move/types/address.ts';
import { LedgerError } from '../../state/ledger-error.ts';
import type { PruningGuard } from '../../state/pruning-guard.ts';
import type { LedgerSource } from '../../state/source.ts';
import type { StateEntry } from '../../store/columns/state-column.ts';
import { YieldBudget } from '../../yield-budget.ts';
import { type Asset, amountOfPart, asU64, type BalancePart, balanceParts } from './balance.ts';

export const MAX_CHANGES_PER_PAGE = 1_000;
/** Writes to a state key that are read in one turn of the event loop: a millisecond or two. */
export const WRITES_PER_READ = 256;
/** Maximum number of writes read for one page. Most writes change the balance, but some may not. */
const MAX_WRITES_PER_PAGE = 10_000;

export interface BalanceChange {
  readonly version: bigint;
  readonly amount: bigint;
  /** Timestamp of the version's block; 0 if the block is pruned, and for genesis. */
  readonly timestampUsecs: bigint;
}

export interface BalanceHistoryPage {
  readonly changes: readonly BalanceChange[];
  /** The version that the next page begins with; `undefined` on the last page. */
  readonly next: bigint | undefined;
  /**
   * Whether the page stays the same until something of it is pruned. A page that begins at the oldest version has an
   * entry that a longer ledger does not have, and pruned blocks have no timestamps.
   */
  readonly isFinal: boolean;
}

export interface BalanceHistoryRequest {
  readonly address: Address;
  readonly asset: Asset;
  /** Both included; absent: from the oldest version, to the newest. */
  readonly from: bigint | undefined;
  readonly to: bigint | undefined;
  /** The `next` of the previous page. */
  readonly start: bigint | undefined;
  /** 1 to MAX_CHANGES_PER_PAGE. */
  readonly limit: number;
  readonly isDescending: boolean;
  readonly pace?: YieldBudget;
}

interface HistorySources {
  readonly source: Pick<LedgerSource, 'head' | 'state' | 'history'>;
  readonly guard: PruningGuard;
}

type Change = Omit<BalanceChange, 'timestampUsecs'>;

/**
 * A page of the changes. It may have fewer than `limit` without being the last.
 * @throws LedgerError `version_not_found`, `version_pruned`, `invalid_input` for bounds in the wrong order,
 *   `internal_error` for a balance that does not decode
 */
export async function balanceHistory(
  { source, guard }: HistorySources,
  request: BalanceHistoryRequest,
  maxWrites = MAX_WRITES_PER_PAGE,
): Promise<BalanceHistoryPage> {
  const { address, limit, isDescending, pace = new YieldBudget() } = request;
  const parts = balanceParts(address, request.asset);
  const oldest = guard.oldestVersionOf(address);
  let { from, to } = boundsOf(request, guard, oldest);
  const found: Change[] = [];
  let lowest = isDescending ? to : from;
  let scannedWrites = 0;
  while (from <= to && found.length <= limit && scannedWrites < maxWrites) {
    if (scannedWrites > 0) await pace.nextTurn();
    const span = await readSpan(source, parts, { from, to, oldest, isDescending });
    for (const change of span.changes) found.push(change);
    scannedWrites += span.writes;
    if (span.from < lowest) lowest = span.from;
    if (isDescending) to = span.from - 1n;
    else from = span.to + 1n;
  }
  // Without this check, a row that was pruned meanwhile would be silently missing.
  await guard.assertRetained(lowest > oldest ? lowest - 1n : lowest, address);
  const more = from <= to ? (isDescending ? to : from) : undefined;
  return {
    changes: await withTimestamps({ source, guard }, found.slice(0, limit)),
    next: found[limit]?.version ?? more,
    isFinal: source.head.oldestVersion === 0n || lowest > source.head.oldestVersion,
  };
}

function boundsOf(
  { address, from: first, to: last, start, isDescending }: BalanceHistoryRequest,
  guard: PruningGuard,
  oldest: bigint,
): { from: bigint; to: bigint } {
  const from = first === undefined ? oldest : guard.resolveVersion(first, address);
  const to = guard.resolveVersion(last, address);
  if (from > to) {
    const message = `from_version (${from}) must not be above to_version (${to})`;
    throw new LedgerError('invalid_input', message);
  }
  if (start === undefined) return { from, to };
  const begin = guard.resolveVersion(start, address);
  if (isDescending) return { from, to: lower(begin, to) };
  return begin < from ? { from, to } : { from: begin, to };
}

interface SpanRequest {
  readonly from: bigint;
  readonly to: bigint;
  readonly oldest: bigint;
  readonly isDescending: boolean;
}

interface Span {
  /** The versions that were searched: all requested ones, or those nearest to the beginning of the page. */
  readonly from: bigint;
  readonly to: bigint;
  readonly changes: readonly Change[];
  readonly writes: number;
}

async function readSpan(
  source: HistorySources['source'],
  parts: readonly BalancePart[],
  { from: first, to: last, oldest, isDescending }: SpanRequest,
): Promise<Span> {
  const keys = parts.map(({ key }) => key);
  const query = { from: first, to: last, limit: WRITES_PER_READ, isDescending };
  const found = await source.state.stateWrites(keys, query);
  let [from, to] = [first, last];
  for (const writes of found) {
    // If a key may have more writes than were read, nothing is known beyond the last one read.
    if (writes.length < WRITES_PER_READ) continue;
    const { version } = writes[writes.length - 1]!;
    if (isDescending && version > from) from = version;
    if (!isDescending && version < to) to = version;
  }
  const writes = found.reduce((sum, { length }) => sum + length, 0);
  if (writes === 0 && from > oldest) return { from, to, changes: [], writes };
  const base = from > oldest ? from - 1n : oldest;
  const ascending = isDescending ? found.map((list) => [...list].reverse()) : found;
  const amounts = (await source.state.stateMany(keys, base)).map((entry, at) =>
    amountOfPart(parts[at]!, entry),
  );
  // The balance before the oldest version counts as 0.
  const before = from > oldest ? totalOf(amounts) : 0n;
  const changes = changesFrom(base, before, parts, amounts, ascending, to);
  return { from, to, changes: isDescending ? changes.reverse() : changes, writes };
}

/**
 * The versions after which the sum of the parts differs from the sum before, ascending.
 * @param base the first version
 * @param before the sum before `base`
 * @param amounts the amounts at `base`; updated in place
 * @param writes to each part, ascending: all from `base` to `to`, and maybe more
 */
function changesFrom(
  base: bigint,
  before: bigint,
  parts: readonly BalancePart[],
  amounts: bigint[],
  writes: readonly (readonly StateEntry[])[],
  to: bigint,
): Change[] {
  const next = writes.map((list) => list.findIndex((write) => write.version > base));
  const changes: Change[] = [];
  let version: bigint | undefined = base;
  for (let last = before; version !== undefined; ) {
    const amount = totalOf(amounts);
    if (amount !== last) changes.push({ version, amount });
    last = amount;
    version = undefined;
    for (let at = 0; at < writes.length; at += 1) {
      const write = writes[at]![next[at]!];
      if (write === undefined || write.version > to) continue;
      if (version === undefined || write.version < version) ({ version } = write);
    }
    for (let at = 0; at < writes.length; at += 1) {
      const write = writes[at]![next[at]!];
      if (write === undefined || write.version !== version) continue;
      amounts[at] = amountOfPart(parts[at]!, write);
      next[at]! += 1;
    }
  }
  return changes;
}

function lower(a: bigint, b: bigint): bigint {
  if (a < b) return a;
  return b;
}

function totalOf(amounts: readonly bigint[]): bigint {
  let sum = 0n;
  for (const amount of amounts) sum += amount;
  return asU64(sum);
}

/** Adds timestamps. Also for pinned accounts, these are retained only from the ledger's oldest version on. */
async function withTimestamps(
  { source, guard }: HistorySources,
  changes: readonly Change[],
): Promise<readonly BalanceChange[]> {
  const { oldestVersion, version: newest, timestampUsecs: newestUsecs } = source.head;
  const blocks = await source.history.blocksOfVersions(changes.map(({ version }) => version));
  const [first, last] = [changes[0], changes[changes.length - 1]];
  if (first === undefined || last === undefined) return [];
  // If a block was pruned meanwhile, an older one may have been found in its place.
  let lowest = lower(first.version, last.version);
  if (lowest < oldestVersion) lowest = oldestVersion;
  await guard.assertRetained(lowest);
  return changes.map(({ version, amount }, at) => {
    if (version < oldestVersion) return { version, amount, timestampUsecs: 0n };
    // A ledger that has only a state has no block for its version.
    const timestampUsecs = version === newest ? newestUsecs : blocks[at]?.timestampUsecs;
    if (timestampUsecs !== undefined) return { version, amount, timestampUsecs };
    const message = `Failed to retrieve block timestamp: there is no block of version ${version}`;
    throw new LedgerError('internal_error', message);
  });
}
