/**
 * Pages of event streams as one view shows them. Events never change, so a rendered page is valid at every view where
 * its request has the same events and the modules behind their layouts are unchanged. Pages that are requested again
 * are cached by their request, so a growing stream replaces its newest page
 * (test/api/event-pages-cached.long.test.ts compares cached pages with rendered ones).
 */

import { isAscii } from 'node:buffer';
import { type Cache, copiedBytes } from '../../cache.ts';
import { andThen, type MaybePromise, mapInOrder, settle } from '../../maybe-promise.ts';
import { BcsReader, U64_MAX } from '../../move/bcs/bcs-reader.ts';
import { BcsWriter, encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { contentDigest } from '../../move/crypto/hash.ts';
import { JsonWriter } from '../../move/json/json-writer.ts';
import { addressBytes, formatAddress } from '../../move/types/address.ts';
import { writeValue } from '../../move/values/value-json.ts';
import { areUnchanged, type Derived, type ModuleStamp } from '../../state/derived.ts';
import { conversionError, LedgerError } from '../../state/ledger-error.ts';
import type { ModuleView, RenderedType } from '../../state/module-view.ts';
import type { PruningGuard } from '../../state/pruning-guard.ts';
import type { LedgerSource } from '../../state/source.ts';
import type { StoredEvent, StreamId } from '../../store/columns/event-column.ts';
import { oldestTransaction } from '../../store/columns/head.ts';
import { type EventPage, firstOfNewest } from '../../store/read/event-pages.ts';
import { EventGapError } from '../../store/store-error.ts';
import { eventCount } from './event-handle.ts';

export type EventPageForm = 'json' | 'bcs';

interface EventPageRequest extends StreamId {
  /** First sequence number; absent: the newest page. */
  readonly start?: bigint | undefined;
  /** 1 or more, already reduced to the maximum page size. */
  readonly limit: number;
}

export type EventStream = StreamId;

interface EventRecordQuery {
  readonly start: bigint;
  /** 1 or more. */
  readonly limit: number;
  /** The record that reaches this many bytes of JSON in all is the last. */
  readonly maxBytes: number;
}

interface EventRecords {
  readonly events: readonly { readonly sequenceNumber: bigint; readonly json: Uint8Array }[];
  /** Whether the view has no events after these. */
  readonly isEnd: boolean;
}

interface EventPageAnswer {
  /** Text if it is short and ASCII, otherwise bytes. */
  readonly body: string | Uint8Array;
  /** `contentDigest` of the body. */
  readonly tagCore: string;
}

/** A page with its sources, and the views for which it is valid. */
export interface CachedPage {
  readonly answer: EventPageAnswer;
  readonly count: number;
  readonly lastSequenceNumber: bigint;
  readonly firstVersion: bigint;
  readonly lastVersion: bigint;
  readonly modules: readonly ModuleStamp[];
}

/** Pages by request and form; shared by all views of a ledger. */
export type EventPageCache = Cache<CachedPage>;

/** Longest page that is kept as text, in UTF-16 units: it is sent as one text with the response's head. */
const MAX_TEXT_LENGTH = 4 * 1024;
const PAGE_OVERHEAD_BYTES = 512;

interface PageSources {
  readonly source: LedgerSource;
  readonly guard: PruningGuard;
  readonly modules: ModuleView;
  readonly pages: EventPageCache;
}

export class StreamPages {
  readonly #sources: PageSources;

  constructor(sources: PageSources) {
    this.#sources = sources;
  }

  /**
   * A page as JSON or BCS.
   * @throws LedgerError `version_pruned`; `internal_error` for a gap, or an event that cannot be rendered; or rejects
   *   with them
   */
  page(request: EventPageRequest, form: EventPageForm): MaybePromise<EventPageAnswer> {
    const key = keyOf(request, form);
    return settle(
      () => this.#find(request, key),
      (found) => found ?? this.#renderPage(request, form, key),
      // An error here occurs again when the page is rendered, which reports it with the API's message.
      () => this.#renderPage(request, form, key),
    );
  }

  /** Records as in a JSON page. Fails as `page` does, but a failure to render a later record only ends the list. */
  async records(stream: EventStream, query: EventRecordQuery): Promise<EventRecords> {
    const { start, limit, maxBytes } = query;
    if (start > U64_MAX) return { events: [], isEnd: true };
    const events = await this.#events({ ...stream, start, limit });
    const typeOf = await resolveTypes(events, this.#sources.modules);
    const records: EventRecords['events'][number][] = [];
    let bytes = 0;
    for (const event of events) {
      const { sequenceNumber } = event;
      let json: Buffer;
      try {
        // Renders a page with one event and removes its brackets.
        json = renderEvents(stream, [event], typeOf.of).subarray(1, -1);
      } catch (failure) {
        if (records.length > 0) break;
        throw failure;
      }
      bytes += json.length;
      records.push({ sequenceNumber, json });
      if (bytes >= maxBytes) break;
    }
    return { events: records, isEnd: events.length < limit && records.length === events.length };
  }

  /** The sequence number after the last one. */
  end(stream: EventStream): MaybePromise<bigint> {
    const last = this.#sources.source.events.eventStream(stream).lastSequenceNumber();
    return andThen(last, (number) => (number === undefined ? 0n : number + 1n));
  }

  /** The sequence number that the newest page begins with; `end` if it is empty. */
  async startOfNewest(stream: EventStream, limit: number): Promise<bigint> {
    const [first] = await this.#events({ ...stream, limit });
    return first === undefined ? await this.end(stream) : first.sequenceNumber;
  }

  #renderPage(
    request: EventPageRequest,
    form: EventPageForm,
    key: string,
  ): MaybePromise<EventPageAnswer> {
    return andThen(this.#events(request), (events) => this.#render(request, events, form, key));
  }

  #render(
    request: EventPageRequest,
    events: readonly StoredEvent[],
    form: EventPageForm,
    key: string,
  ): MaybePromise<EventPageAnswer> {
    const { modules: view, pages } = this.#sources;
    const rendered =
      form === 'json'
        ? eventsJson(request, events, view)
        : { body: eventsBcs(request, events), modules: [] };
    return andThen(rendered, ({ body, modules }) => {
      const tagCore = contentDigest(body);
      // The bytes of a short page would be converted to text each time it is sent.
      const isText = form === 'json' && body.length <= MAX_TEXT_LENGTH && isAscii(body);
      const answer = { body: isText ? body.toString('latin1') : body, tagCore };
      const first = events[0];
      if (first === undefined) return answer;
      if (!pages.wasRequestedBefore(key)) return answer;
      const { sequenceNumber: lastSequenceNumber, version: lastVersion } = events.at(-1)!;
      const validity = { firstVersion: first.version, lastVersion, modules };
      const cached = isText ? answer : { ...answer, body: copiedBytes(body) };
      const page = { answer: cached, count: events.length, lastSequenceNumber, ...validity };
      pages.set(key, page, PAGE_OVERHEAD_BYTES + body.length);
      return cached;
    });
  }

  /** The cached page of a request, if it is valid for this view. */
  #find(request: EventPageRequest, key: string): MaybePromise<EventPageAnswer | undefined> {
    const { start, limit } = request;
    const { source, guard, modules, pages } = this.#sources;
    const page = pages.get(key);
    // All its events must be visible: none above the head, none pruned.
    const isVisible =
      page !== undefined &&
      page.lastVersion <= source.head.version &&
      page.firstVersion >= guard.oldestVersionOf(request.address);
    if (!isVisible) return undefined;
    const answer = (): MaybePromise<EventPageAnswer | undefined> =>
      andThen(areUnchanged(page.modules, modules.lookup), (isUnchanged) =>
        isUnchanged ? page.answer : undefined,
      );
    // A full page never changes, whatever is appended to the stream.
    if (start !== undefined && page.count === limit) return answer();
    return andThen(source.events.eventStream(request).lastSequenceNumber(), (last) => {
      if (last !== page.lastSequenceNumber) return undefined;
      const first = start ?? firstOfNewest(last, limit);
      return last - first === BigInt(page.count - 1) ? answer() : undefined;
    });
  }

  /**
   * Returns no events. If a ledger that began with a snapshot has no row of the stream, all its events may be older,
   * and the stream's handle contains their number. Throws `version_pruned` if `start` is one of them.
   */
  #emptyUnlessPruned(stream: StreamId, start: bigint): MaybePromise<readonly StoredEvent[]> {
    const { source } = this.#sources;
    const { head, isFrozen, state } = source;
    if (isFrozen || oldestTransaction(head) === 0n) return [];
    return andThen(source.events.eventStream(stream).lastSequenceNumber(), async (last) => {
      if (last !== undefined) return [];
      const count = await eventCount(stream, state, head.version);
      if (start < count) throw eventPruned(stream, start, count);
      return [];
    });
  }

  #events(request: EventPageRequest): MaybePromise<readonly StoredEvent[]> {
    const { address, creationNumber, start, limit } = request;
    const { guard } = this.#sources;
    return settle<EventPage, readonly StoredEvent[]>(
      () => guard.eventPage({ address, creationNumber }, { start, limit }),
      ({ events, pruned }) => {
        if (start === undefined) return events;
        if (pruned !== undefined) throw eventPruned(request, start, pruned.firstRetained);
        return events.length > 0 ? events : this.#emptyUnlessPruned(request, start);
      },
      (cause) => {
        if (!(cause instanceof EventGapError)) throw cause;
        const number = encodeBcs((writer) => writer.u64(creationNumber)).toString('hex');
        throw new LedgerError(
          'internal_error',
          `Failed to find events by key ${number}${address}: AptosDB Other Error: ` +
            `DB corruption: Sequence number not continuous. expected: ${cause.expected}, actual: ${cause.actual}`,
          { cause },
        );
      },
    );
  }
}

/** docs/spec/decisions.md D4: never a page that silently begins later than requested. */
function eventPruned(stream: StreamId, sequenceNumber: bigint, firstRetained: bigint): LedgerError {
  const { address, creationNumber } = stream;
  return new LedgerError(
    'version_pruned',
    `Event ${sequenceNumber} of stream ${creationNumber} of ${formatAddress(address)} ` +
      `has been pruned; the first kept one is ${firstRetained}`,
  );
}

function keyOf(request: EventPageRequest, form: EventPageForm): string {
  const { address, creationNumber, start, limit } = request;
  return `${address}${creationNumber}/${start ?? ''}/${limit}/${form}`;
}

/** Variant of handle events in BCS: this operation has no others. */
const HANDLE_EVENT_VARIANT = 0;
/** Bytes of a BCS event before its type tag: version, variant, key, sequence number. */
const BCS_EVENT_OVERHEAD_BYTES = 8 + 1 + 40 + 8;
const MAX_ULEB32_BYTES = 5;

interface JsonPage {
  /** UTF-8. */
  readonly body: Buffer;
  /** The modules that its layouts were resolved with. */
  readonly modules: readonly ModuleStamp[];
}

/** The result of resolving a type. A failure is thrown when the first event of the type is rendered. */
type Resolved = { readonly type: Derived<RenderedType> } | { readonly failure: unknown };

/**
 * A page as JSON: an array of event records, their fields in the interface's order.
 * @throws LedgerError `internal_error` when one event cannot be rendered; or rejects with it
 */
function eventsJson(
  stream: StreamId,
  events: readonly StoredEvent[],
  view: ModuleView,
): MaybePromise<JsonPage> {
  return andThen(resolveTypes(events, view), ({ of, modules }) => ({
    body: renderEvents(stream, events, of),
    modules,
  }));
}

interface ResolvedTypes {
  /** Throws the failure if the type could not be resolved. */
  readonly of: (typeTag: Buffer) => RenderedType;
  readonly modules: readonly ModuleStamp[];
}

function resolveTypes(
  events: readonly StoredEvent[],
  view: ModuleView,
): MaybePromise<ResolvedTypes> {
  const tags: Buffer[] = [];
  for (const { typeTag } of events) {
    // Most events of a stream are of one type.
    if (!tags.some((tag) => tag.equals(typeTag))) tags.push(typeTag);
  }
  const types = mapInOrder(tags, (tag) =>
    settle<Derived<RenderedType>, Resolved>(
      () => view.type(tag),
      (type) => ({ type }),
      (failure) => ({ failure }),
    ),
  );
  return andThen(types, (resolved) => {
    const [first] = resolved;
    // Most pages have one type, and share its list.
    const modules =
      first !== undefined && resolved.length === 1
        ? modulesOf(first)
        : resolved.flatMap((one) => modulesOf(one));
    const of = (typeTag: Buffer): RenderedType => {
      const found = resolved[tags.findIndex((tag) => tag.equals(typeTag))]!;
      if ('failure' in found) throw found.failure;
      return found.type.value;
    };
    return { of, modules };
  });
}

function modulesOf(resolved: Resolved): readonly ModuleStamp[] {
  return 'type' in resolved ? resolved.type.modules : [];
}

const NO_EVENTS = Buffer.from('[]');
const OPEN = Buffer.from('[{"version":');
const NEXT = Buffer.from('},{"version":');
const TYPE = Buffer.from(',"type":');
const DATA = Buffer.from(',"data":');
const CLOSE = Buffer.from('}]');

/** The UTF-8 of a page. */
function renderEvents(
  { address, creationNumber }: StreamId,
  events: readonly StoredEvent[],
  typeOf: (typeTag: Buffer) => RenderedType,
): Buffer {
  if (events.length === 0) return NO_EVENTS;
  const out = new JsonWriter();
  const afterVersion = Buffer.from(
    `,"guid":{"creation_number":"${creationNumber}","account_address":"${formatAddress(address)}"}` +
      ',"sequence_number":',
  );
  let piece = OPEN;
  let typeTag: Buffer | undefined;
  let type: RenderedType | undefined;
  for (const event of events) {
    out.part(piece);
    out.quotedNumber(event.version);
    out.part(afterVersion);
    out.quotedNumber(event.sequenceNumber);
    out.part(TYPE);
    try {
      if (type === undefined || !typeTag!.equals(event.typeTag)) {
        ({ typeTag } = event);
        type = typeOf(typeTag);
      }
      out.part(type.jsonUtf8);
      out.part(DATA);
      writeValue(out, type.layout, new BcsReader(event.data));
    } catch (cause) {
      throw conversionError('Failed to convert events from storage into response', cause);
    }
    piece = NEXT;
  }
  out.part(CLOSE);
  return out.finish();
}

function eventsBcs({ address, creationNumber }: StreamId, events: readonly StoredEvent[]): Buffer {
  const sizeBytes = events.reduce(
    (sum, { encoded }) => sum + BCS_EVENT_OVERHEAD_BYTES + encoded.length,
    MAX_ULEB32_BYTES,
  );
  const writer = new BcsWriter(sizeBytes);
  const account = addressBytes(address);
  writer.vector(events, (_, event) => {
    writer.u64(event.version).uleb32(HANDLE_EVENT_VARIANT);
    writer.u64(creationNumber).fixed(account).u64(event.sequenceNumber);
    writer.fixed(event.encoded);
  });
  return writer.view();
}
