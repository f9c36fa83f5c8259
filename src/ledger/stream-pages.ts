/**
 * Pages of event streams as one view answers them, in two ways that give the same: the plain one reads the events and
 * renders them, the quick one finds the page that was made of them before (test/api/kept-pages.test.ts compares them).
 */

import type { ModuleLookup } from '../move/modules/lookup.ts';
import { type Address, formatAddress } from '../move/types/address.ts';
import type { StoredEvent } from '../store/columns/event-column.ts';
import { firstOfNewest } from '../store/event-pages.ts';
import { EventGapError } from '../store/store-error.ts';
import type { StoreView } from '../store/view.ts';
import type { EventPageAnswer, EventPageForm, EventPageRequest } from './api-contract.ts';
import { eventsBcs, eventsJson } from './event-page.ts';
import type { FoundPage, KeptPages, PageName } from './kept-pages.ts';
import type { LayoutCache, LayoutStamp } from './layout-cache.ts';
import { LedgerError } from './ledger-error.ts';
import type { PruningGuard } from './pruning-guard.ts';

/** What pages of a view are made from. */
export interface PageSources {
  readonly store: StoreView;
  readonly guard: PruningGuard;
  readonly layouts: LayoutCache;
  /** Modules at the view's version. */
  readonly lookup: ModuleLookup;
  /** Absent: every page is made anew. */
  readonly kept: KeptPages | undefined;
}

const NO_LAYOUTS: readonly LayoutStamp[] = [];

/** The event pages of one view. */
export class StreamPages {
  readonly #sources: PageSources;

  constructor(sources: PageSources) {
    this.#sources = sources;
  }

  /**
   * A page in a form.
   * @throws LedgerError `version_pruned`; `internal_error` for a gap, or an event that cannot be rendered
   */
  async page(request: EventPageRequest, form: EventPageForm): Promise<EventPageAnswer> {
    const { kept } = this.#sources;
    return (kept && (await this.#find(kept, request, form))) ?? this.#make(request, form);
  }

  async #make(request: EventPageRequest, form: EventPageForm): Promise<EventPageAnswer> {
    const { layouts, lookup, kept } = this.#sources;
    const events = await this.#events(request);
    const { address, creationNumber } = request;
    const stream = { address, creationNumber };
    const { body, stamps } =
      form === 'json'
        ? await eventsJson(stream, events, layouts, lookup)
        : { body: eventsBcs(stream, events), stamps: NO_LAYOUTS };
    const first = events[0];
    if (kept === undefined || first === undefined) return { body };
    const name = { stream, first: first.sequenceNumber, count: events.length, form };
    const source = {
      firstVersion: first.version,
      lastVersion: events[events.length - 1]!.version,
      layouts: stamps,
    };
    return kept.keep(name, source, body);
  }

  /** The page that was made before; what fails here is for the plain way to say. */
  async #find(
    kept: KeptPages,
    request: EventPageRequest,
    form: EventPageForm,
  ): Promise<EventPageAnswer | undefined> {
    const { address, creationNumber, start, limit } = request;
    const stream = { address, creationNumber };
    try {
      if (start !== undefined) {
        // A full page: whatever comes after it, it stays as it is.
        const full = await this.#right(kept, { stream, first: start, count: limit, form });
        if (full !== undefined) return full;
      }
      const last = await this.#sources.store.eventStream(stream).lastSequenceNumber();
      if (last === undefined || (start !== undefined && start > last)) return undefined;
      const first = start ?? firstOfNewest(last, limit);
      const available = last - first + 1n;
      if (start !== undefined && available >= BigInt(limit)) return undefined;
      return await this.#right(kept, { stream, first, count: Number(available), form });
    } catch {
      return undefined;
    }
  }

  /** The kept page of a name, if it is what this view shows of these events. */
  async #right(kept: KeptPages, name: PageName): Promise<EventPageAnswer | undefined> {
    const page = kept.find(name);
    if (page === undefined || !this.#shows(page, name.stream.address)) return undefined;
    const { layouts, lookup } = this.#sources;
    for (const stamp of page.source.layouts) {
      if (!(await layouts.isCurrent(stamp, lookup))) return undefined;
    }
    return page.answer();
  }

  /** Whether all events of a page are there: none above the head, none pruned. */
  #shows({ source }: FoundPage, account: Address): boolean {
    const { store, guard } = this.#sources;
    return (
      source.lastVersion <= store.head.version &&
      source.firstVersion >= guard.oldestVersionOf(account)
    );
  }

  async #events(request: EventPageRequest): Promise<readonly StoredEvent[]> {
    const { address, creationNumber, start, limit } = request;
    const { guard } = this.#sources;
    try {
      const page = await guard.eventPage({ address, creationNumber }, { start, limit });
      if (start !== undefined && page.pruned !== undefined) {
        // Design D4: never a page that begins later than asked without saying so.
        throw new LedgerError(
          'version_pruned',
          `Event ${page.pruned.wanted} of stream ${creationNumber} of ${formatAddress(address)} ` +
            `has been pruned; the first kept one is ${page.pruned.firstKept}`,
        );
      }
      return page.events;
    } catch (cause) {
      if (!(cause instanceof EventGapError)) throw cause;
      throw new LedgerError(
        'internal_error',
        `Failed to find events by key ${eventKeyText(address, creationNumber)}: AptosDB Other Error: ` +
          `DB corruption: Sequence number not continuous. expected: ${cause.expected}, actual: ${cause.actual}`,
        { cause },
      );
    }
  }
}

/** 80 hex digits: creation number little-endian, then the address (docs/spec/http.md §5.7). */
function eventKeyText(address: Address, creationNumber: bigint): string {
  const number = Buffer.allocUnsafe(8);
  number.writeBigUInt64LE(creationNumber);
  return number.toString('hex') + address;
}
