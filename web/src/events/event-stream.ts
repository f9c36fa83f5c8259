/** Event records and pages of a stream (docs/spec/http.md §7). */
import type { EventJson } from '../asking/answers.ts';
import { type ApiAnswer, ApiFailure, send } from '../asking/api-client.ts';
import { parseJson } from '../asking/exact-json.ts';
import { listen } from '../asking/listen.ts';
import { type ApiRequest, eventsRequest } from '../asking/requests.ts';
import { greater, readU64 } from '../parts/number-text.ts';
import type { EventRecord } from './event-file.ts';

/** Events per request. */
export const EVENTS_PAGE_SIZE = 25;

/** The reference's largest page (docs/spec/http.md §7.1). */
export const LARGEST_PAGE_SIZE = 100;

/** How long new events are collected before they are shown, in milliseconds. */
const GATHER_MS = 100;

/** A stream: an account and a creation number, as the reader typed them. */
export interface StreamName {
  readonly account: string;
  readonly creationNumber: string;
}

/** A page of events, ascending as in the response. */
interface EventPage {
  readonly answer: ApiAnswer;
  readonly events: readonly EventRecord[];
  /** Why the page is short, if pruning cut it. */
  readonly pruned?: ApiFailure | undefined;
}

/** Requests a page; the newest without `start`. Rejects as `send` does. */
export async function readEvents(
  { account, creationNumber }: StreamName,
  page: { readonly start?: bigint | undefined; readonly limit: number },
  signal: AbortSignal,
): Promise<EventPage> {
  const answer = await send(eventsRequest(account, creationNumber, page), signal);
  const events = parseJson<readonly EventJson[]>(answer.text).map((event) =>
    eventRecord(event, answer.request),
  );
  return { answer, events };
}

function eventRecord({ type, data, ...numbers }: EventJson, request: ApiRequest): EventRecord {
  const sequenceNumber = readU64(numbers.sequence_number);
  const version = readU64(numbers.version);
  if (sequenceNumber !== undefined && version !== undefined) {
    return { sequenceNumber, version, type, data };
  }
  const message = 'a record lacks its numbers';
  throw new ApiFailure(request, { status: 200, code: 'unreadable_answer', message });
}

interface Following {
  /** The next sequence number, called each time that listening begins; `undefined`: begin with the newest page. */
  next(): bigint | undefined;
  events(events: readonly EventRecord[]): void;
  /** Why no events arrive; undefined when they arrive again. */
  failed(failure: ApiFailure | undefined): void;
}

/** Reports new events as they are committed, in batches, until the signal aborts. */
export function followEvents(
  { account, creationNumber }: StreamName,
  following: Following,
  signal: AbortSignal,
): void {
  let gathered: EventRecord[] = [];
  // A page that is hidden and shown again reopens the stream before it has shown the collected events.
  const next = () => {
    const last = gathered.at(-1);
    return last === undefined ? following.next() : last.sequenceNumber + 1n;
  };
  const request = () => eventsRequest(account, creationNumber, { start: next() });
  const event = (data: string): void => {
    const record = eventRecord(parseJson<EventJson>(data), request());
    gathered.push(record);
    if (gathered.length > 1) return;
    setTimeout(() => {
      const events = gathered;
      gathered = [];
      if (!signal.aborted) following.events(events);
    }, GATHER_MS);
  };
  listen({ request, event, failed: following.failed }, signal);
}

/**
 * The events just before `first` (1 or more). The node refuses a page that begins in pruned history (410,
 * docs/spec/decisions.md D4). The oldest retained event of the page is then found by binary search, with at most log2
 * of the page size further requests.
 */
export async function readOlderEvents(
  stream: StreamName,
  first: bigint,
  signal: AbortSignal,
  pageSize = EVENTS_PAGE_SIZE,
): Promise<EventPage> {
  let low = greater(first - BigInt(pageSize), 0n);
  let high = first;
  let pruned: ApiFailure | undefined;
  let best: EventPage | undefined;
  let start = low;
  while (low < high) {
    try {
      best = await readRange(stream, start, first, signal);
      high = start;
    } catch (error) {
      if (!(error instanceof ApiFailure) || error.status !== 410) throw error;
      pruned = error;
      low = start + 1n;
    }
    start = low + (high - low) / 2n;
  }
  if (best === undefined) throw pruned!;
  return { ...best, pruned };
}

/** The events from `start` to before `end`: one page, or more if the node's maximum page is smaller. */
async function readRange(
  stream: StreamName,
  start: bigint,
  end: bigint,
  signal: AbortSignal,
): Promise<EventPage> {
  const first = await readEvents(stream, { start, limit: Number(end - start) }, signal);
  const events = [...first.events];
  for (;;) {
    const next = (events.at(-1)?.sequenceNumber ?? end) + 1n;
    if (next >= end) return { ...first, events };
    const page = await readEvents(stream, { start: next, limit: Number(end - next) }, signal);
    if (page.events.length === 0) return { ...first, events };
    events.push(...page.events);
  }
}

/** The newest page, the page at `first`, or the last page up to a version. */
export async function readFirstPage(
  stream: StreamName,
  first: bigint | undefined,
  version: bigint | undefined,
  signal: AbortSignal,
): Promise<EventPage> {
  const limit = EVENTS_PAGE_SIZE;
  if (version === undefined) return readEvents(stream, { start: first, limit }, signal);
  const end = await endAtVersion(stream, version, signal);
  if (first === undefined && end > 0n) return readOlderEvents(stream, end, signal);
  const page = await readEvents(stream, { start: first ?? 0n, limit }, signal);
  return { ...page, events: page.events.filter((event) => event.version <= version) };
}

/** The sequence number after the last event up to `version`: a binary search, one event per request. */
async function endAtVersion(
  stream: StreamName,
  version: bigint,
  signal: AbortSignal,
): Promise<bigint> {
  const newest = (await readEvents(stream, { limit: 1 }, signal)).events.at(-1);
  if (newest === undefined) return 0n;
  let low = 0n;
  let high = newest.sequenceNumber + 1n;
  while (low < high) {
    const middle = (low + high) / 2n;
    if (await isAfter(stream, middle, version, signal)) high = middle;
    else low = middle + 1n;
  }
  return low;
}

/** Pruned events are older than all others. */
async function isAfter(stream: StreamName, start: bigint, version: bigint, signal: AbortSignal) {
  try {
    const { events } = await readEvents(stream, { start, limit: 1 }, signal);
    return events.length === 0 || events[0]!.version > version;
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 410) return false;
    throw error;
  }
}
