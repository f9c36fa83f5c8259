/**
 * Pages of an account's state: the state keys of some kinds that have a value at a version, in the order of
 * their physical encoding (docs/spec/ledger.md §5.4). The cursor of a page is the physical key that the next one begins
 * with.
 *
 * A page is limited in items, in bytes and in keys read: the first limit reached ends the page, and its cursor tells
 * where to continue. So a page may be shorter than requested, even empty, and have a next one.
 */
import { BcsReader } from '../../move/bcs/bcs-reader.ts';
import type { Address } from '../../move/types/address.ts';
import {
  type AccessPathKey,
  hashedPhysicalKey,
  type Path,
  parsePhysicalStateKey,
  physicalStateKey,
  resourceGroupStateKey,
  resourceStateKey,
} from '../../move/types/state-key.ts';
import type { StructTag } from '../../move/types/type-tag.ts';
import type { StateSource } from '../../state/source.ts';
import { YieldBudget } from '../../yield-budget.ts';

export interface ListingRequest {
  readonly address: Address;
  readonly version: bigint;
  /** The physical state key of the first item; absent: from the beginning. */
  readonly start?: Buffer | undefined;
  /** Maximum number of state keys, 1 or more, already reduced to the maximum page size. */
  readonly limit: number;
  readonly pace?: YieldBudget;
}

/** Limits of a page in addition to its number of items. */
export interface ListingBounds {
  /** The page ends with the item whose value reaches this many bytes in all. */
  readonly maxBytes: number;
  /** The page ends after this many keys read, listed or not, rounded up to a step. */
  readonly maxKeys: number;
}

/**
 * 16 MiB of values become about 50 MB of JSON; `0x1` has 2 MB of modules. 100,000 keys take about a second, in steps
 * of a few milliseconds. Both are far above the size of usual accounts, because clients expect to get everything on
 * one page.
 */
const LISTING_BOUNDS: ListingBounds = { maxBytes: 16 * 1024 * 1024, maxKeys: 100_000 };

/** Number of keys whose values are read in one step; other requests can run between two steps. */
const KEYS_PER_STEP = 128;

/** Bytes before the length of the path in a physical key: tag and address. */
const PATH_LENGTH_AT = 33;

type ListingSource = Pick<StateSource, 'accountKeys' | 'stateMany'>;

export interface ListedItem {
  readonly path: Path;
  readonly bytes: Buffer;
}

export interface ListedPage {
  readonly items: readonly ListedItem[];
  /** Hex of the physical key to begin the next page with, without `0x`; `undefined` on the last page. */
  readonly cursor: string | undefined;
}

interface ParsedKey {
  readonly physical: Buffer;
  readonly path: Path | undefined;
}

/** The page of an account's keys of the given kinds. Keys with an unknown path have no kind. */
export async function listAccount(
  source: ListingSource,
  request: ListingRequest,
  kinds: readonly Path['kind'][],
  bounds: ListingBounds = LISTING_BOUNDS,
): Promise<ListedPage> {
  const { address, version, limit, pace = new YieldBudget() } = request;
  const items: ListedItem[] = [];
  let from = request.start && (await startOf(source, request, request.start));
  if (from === FOREIGN_CURSOR) return { items, cursor: undefined };
  let sizeBytes = 0;
  for (let scanned = 0; ; scanned += KEYS_PER_STEP) {
    const query = { from, limit: KEYS_PER_STEP, version, kinds };
    const page = await source.accountKeys(address, query);
    const keys = page.keys.map(parseKey).filter(({ path }) => path && kinds.includes(path.kind));
    const values = await source.stateMany(
      keys.map(({ physical }) => hashedPhysicalKey(physical)),
      version,
    );
    for (const [index, { physical, path }] of keys.entries()) {
      const bytes = values[index]?.bytes;
      if (bytes === undefined) continue;
      if (items.length === limit || sizeBytes >= bounds.maxBytes) {
        return { items, cursor: cursorOf(address, { physical, path }) };
      }
      items.push({ path: path!, bytes });
      sizeBytes += bytes.length;
      pace.hold(bytes.length);
    }
    if (page.next === undefined) return { items, cursor: undefined };
    const next = parseKey(page.next);
    // Clients must be able to send a cursor back, so a page never ends at a key without a known path.
    if (scanned + KEYS_PER_STEP >= bounds.maxKeys && next.path !== undefined) {
      return { items, cursor: cursorOf(address, next) };
    }
    from = nextFrom(next, kinds);
    await pace.nextTurn();
  }
}

function parseKey(physical: Buffer): ParsedKey {
  const key = parsePhysicalStateKey(physical) as AccessPathKey;
  return { physical, path: key.parsed };
}

/**
 * Where to continue. Among paths of one length, modules come first, so after another kind there are none until the
 * next length: an account with a million resources and two modules is listed at once.
 */
function nextFrom({ physical, path }: ParsedKey, kinds: readonly Path['kind'][]): Buffer {
  if (path?.kind === 'code' || kinds.some((kind) => kind !== 'code')) return physical;
  const reader = new BcsReader(physical, PATH_LENGTH_AT);
  reader.uleb32();
  const from = Buffer.from(physical.subarray(0, reader.offset));
  // The smallest bytes above every key of this length; the last byte of a length is below 0x80, so there is no carry.
  from[from.length - 1]! += 1;
  return from;
}

/**
 * The cursor of a key. That of a group is written as if it were a resource, as the reference does; `startOf` turns it
 * back.
 */
function cursorOf(address: Address, { physical, path }: ParsedKey): string {
  const key =
    path?.kind === 'resourceGroup'
      ? physicalStateKey(resourceStateKey(address, path.tag))
      : physical;
  return key.toString('hex');
}

const GROUPED: readonly Path['kind'][] = ['resource', 'resourceGroup'];

/** Stands for a cursor that belongs to another account or to none. */
const FOREIGN_CURSOR = Symbol('nothing to list');

async function startOf(
  source: ListingSource,
  request: ListingRequest,
  start: Buffer,
): Promise<Buffer | typeof FOREIGN_CURSOR> {
  const key = parsePhysicalStateKey(start);
  if (key.kind !== 'accessPath' || key.address !== request.address) return FOREIGN_CURSOR;
  const path = key.parsed;
  if (path?.kind !== 'resource') return start;
  const group = await groupOfResourceCursor(source, request, path.tag);
  return group ?? start;
}

/**
 * The group meant by a cursor that looks like a resource: starting at the resource would list the keys between the two
 * again. No type is both.
 */
async function groupOfResourceCursor(
  source: ListingSource,
  { address, version }: ListingRequest,
  tag: StructTag,
): Promise<Buffer | undefined> {
  const exists = async (key: Buffer) => {
    const kinds = GROUPED;
    const { keys } = await source.accountKeys(address, { from: key, limit: 1, version, kinds });
    return keys[0]?.equals(key) === true;
  };
  if (await exists(physicalStateKey(resourceStateKey(address, tag)))) return undefined;
  const group = physicalStateKey(resourceGroupStateKey(address, tag));
  return (await exists(group)) ? group : undefined;
}
