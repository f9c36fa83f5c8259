/** Event records and pages of a stream (docs/spec/http.md §7). */

import { type ApiAnswer, ApiFailure, send } from './api-client.ts';
import type { EventRecord } from './event-file.ts';
import { field, isList, parseJson, textField } from './json-fields.ts';
import { eventsRequest } from './ledger-requests.ts';
import { readU64 } from './number-text.ts';

/** Events asked for at once. */
export const EVENTS_PAGE_SIZE = 25;

/** Events asked for at once while following; the reference's largest page (docs/spec/http.md §7.1). */
export const FOLLOW_PAGE_SIZE = 100;

/** A stream: an account and a creation number, as the reader typed them. */
export interface StreamName {
  readonly account: string;
  readonly creationNumber: string;
}

/** A page, ascending as the node gives it. */
export interface EventPage {
  readonly answer: ApiAnswer;
  readonly events: readonly EventRecord[];
}

/** Asks for a page; without `start` the newest. Rejects as `send` does. */
export async function readEvents(
  stream: StreamName,
  page: { readonly start?: bigint; readonly limit: number },
  signal: AbortSignal,
): Promise<EventPage> {
  const answer = await send(eventsRequest(stream.account, stream.creationNumber, page), signal);
  return { answer, events: readRecords(answer) };
}

function readRecords(answer: ApiAnswer): EventRecord[] {
  const json = parseJson(answer.text);
  if (!isList(json)) throw unreadable(answer, 'the answer is no array');
  return json.map((record) => {
    const sequenceNumber = readU64(textField(record, 'sequence_number') ?? '');
    const version = readU64(textField(record, 'version') ?? '');
    if (sequenceNumber === undefined || version === undefined) {
      throw unreadable(answer, 'a record lacks its numbers');
    }
    return {
      sequenceNumber,
      version,
      type: textField(record, 'type') ?? '',
      data: field(record, 'data') ?? null,
    };
  });
}

function unreadable({ request, status, elapsedMs }: ApiAnswer, message: string): ApiFailure {
  return new ApiFailure(request, { status, code: 'unreadable_answer', message, elapsedMs });
}

/** The page before `first`, and why it does not reach further when pruning cut it. */
export interface OlderPage extends EventPage {
  readonly pruned?: ApiFailure;
}

/**
 * The events just before `first` (1 or more). The node refuses a page that begins in pruned history
 * (410, docs/spec/decisions.md D4), so the beginning is then searched for in the page: at most log2 of the page
 * size further requests.
 */
export async function readOlderEvents(
  stream: StreamName,
  first: bigint,
  signal: AbortSignal,
  pageSize = EVENTS_PAGE_SIZE,
): Promise<OlderPage> {
  let low = first > BigInt(pageSize) ? first - BigInt(pageSize) : 0n;
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
  return pruned === undefined ? best : { ...best, pruned };
}

/** The events from `start` to before `end`: one page, or more where the node's largest page is smaller. */
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
    if (next >= end) return { answer: first.answer, events };
    const page = await readEvents(stream, { start: next, limit: Number(end - next) }, signal);
    if (page.events.length === 0) return { answer: first.answer, events };
    events.push(...page.events);
  }
}

/** The sequence number after the last event up to `version`: a binary search, one event a request. */
export async function endAtVersion(
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
