/** Reads module events of one type in ledger order. It finds them through their index and reads bounded parts. */
import { EVENT_TYPES, MODULE_EVENTS } from '../columns/columns.ts';
import {
  decodeModuleEventRow,
  type EventPlace,
  moduleEventBounds,
  moduleEventOrder,
  type StoredModuleEvent,
} from '../columns/event-column.ts';
import {
  TYPE_WINDOW,
  typePartition,
  windowEnd,
  windowStart,
} from '../columns/event-type-column.ts';
import { decodeU64Key, encodeBucketKey, encodeU64Key } from '../columns/order-key.ts';
import type { StoreReader } from '../store.ts';

/** Most windows, versions, and events of each version that one part reads, in a few milliseconds. */
const MAX_WINDOWS = 32;
const MAX_VERSIONS = 32;
const MAX_EVENTS_OF_VERSION = 32;
/** Most events that a part reads if it begins within a version. */
const MAX_EVENTS_OF_REST = 1_024;

export interface TypedEventQuery {
  readonly typeTag: Uint8Array;
  readonly start: EventPlace;
  /** The last version, not above the head. */
  readonly end: bigint;
  readonly limit: number;
}

export interface TypedEventPart {
  readonly events: readonly StoredModuleEvent[];
  /** Where the next part begins, which may have no events; `undefined` if there are no more. */
  readonly next: EventPlace | undefined;
  readonly rows: number;
}

/** Reads one part, in at most two round trips. @throws RowDamagedError */
export async function readTypedEvents(
  store: StoreReader,
  query: TypedEventQuery,
): Promise<TypedEventPart> {
  const { start, end } = query;
  if (start.version > end) return { events: [], next: undefined, rows: 0 };
  const isWithin = start.index > 0;
  const { versions, scannedTo } = isWithin
    ? { versions: [start.version], scannedTo: start.version }
    : await versionsOfType(store, query);
  const limit = isWithin ? MAX_EVENTS_OF_REST : MAX_EVENTS_OF_VERSION;
  const ranges = versions.map((version) => {
    const key = encodeBucketKey(version);
    const [partition, { to }] = moduleEventBounds(key);
    const from = moduleEventOrder(key, isWithin ? start.index : 0);
    return { partition, from, to, limit };
  });
  const found = await store.rangeMany(MODULE_EVENTS, ranges);
  const events: StoredModuleEvent[] = [];
  let rows = versions.length;
  for (const [at, { partition }] of ranges.entries()) {
    const ofVersion = found[at]!;
    rows += ofVersion.length;
    let last: StoredModuleEvent | undefined;
    for (const row of ofVersion) {
      last = decodeModuleEventRow({ partition, ...row });
      if (!last.typeTag.equals(query.typeTag)) continue;
      events.push(last);
      if (events.length === query.limit) return { events, next: placeAfter(last), rows };
    }
    // The version may have more.
    if (ofVersion.length === limit) return { events, next: placeAfter(last!), rows };
  }
  const next = scannedTo < end ? { version: scannedTo + 1n, index: 0 } : undefined;
  return { events, next, rows };
}

function placeAfter({ version, index }: EventPlace): EventPlace {
  return { version, index: index + 1 };
}

async function versionsOfType(
  store: StoreReader,
  { typeTag, start, end, limit }: TypedEventQuery,
): Promise<{ readonly versions: readonly bigint[]; readonly scannedTo: bigint }> {
  const partition = typePartition(typeTag);
  const from = encodeU64Key(windowStart(start.version));
  const to = encodeU64Key(windowStart(end));
  const windows = await store.range(EVENT_TYPES, partition, { from, to, limit: MAX_WINDOWS });
  const most = Math.min(limit, MAX_VERSIONS);
  const versions: bigint[] = [];
  let scannedTo = end;
  for (const { order, value } of windows) {
    const first = decodeU64Key(order);
    for (const place of TYPE_WINDOW.decode({ partition, order }, value).places()) {
      const version = first + BigInt(place);
      if (version < start.version) continue;
      if (version > end) return { versions, scannedTo: end };
      versions.push(version);
      if (versions.length === most) return { versions, scannedTo: version };
    }
    if (windows.length === MAX_WINDOWS) scannedTo = windowEnd(first);
  }
  return { versions, scannedTo: scannedTo < end ? scannedTo : end };
}
