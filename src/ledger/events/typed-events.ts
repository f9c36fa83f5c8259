/** Pages of the module events of one type (docs/extensions.md). */
import { type MaybePromise, mapInOrder } from '../../maybe-promise.ts';
import { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import { type StructTag, TypeTag } from '../../move/types/type-tag.ts';
import { versionPruned } from '../../state/ledger-error.ts';
import type { PruningGuard } from '../../state/pruning-guard.ts';
import type { LedgerSource } from '../../state/source.ts';
import type { EventPlace, StoredModuleEvent } from '../../store/columns/event-column.ts';
import { oldestTransaction } from '../../store/columns/head.ts';
import type { TypedEventPart } from '../../store/read/typed-events.ts';
import { YieldBudget } from '../../yield-budget.ts';
import type { RenderedEvent, TransactionRenderer } from '../transactions/renderer.ts';

/** Maximum number of rows read for a page: tens of milliseconds, in turns. Versions may have many other events. */
const MAX_ROWS_PER_PAGE = 10_000;
/** No event is added to a page that has reached this many bytes of types and values. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;

const MODULE_EVENT_VARIANT = 1;
/** Bytes of an event as BCS before its type tag: version, index, variant. */
const BCS_EVENT_OVERHEAD_BYTES = 8 + 4 + 1;
const MAX_ULEB32_BYTES = 5;

interface TypedEventRequest {
  readonly type: StructTag;
  /** The first place; absent: the oldest version. */
  readonly start: EventPlace | undefined;
  /** The last version, at or below that of the view. */
  readonly version: bigint;
  /** 1 or more. */
  readonly limit: number;
  /** No event is added once the types and values reach this many bytes; absent: MAX_PAGE_BYTES. */
  readonly maxBytes?: number;
}

interface TypedEventPage {
  readonly events: readonly StoredModuleEvent[];
  /** Where the next page begins; `undefined` if there are no more events. */
  readonly next: EventPlace | undefined;
}

export class TypedEvents {
  readonly #source: LedgerSource;
  readonly #guard: PruningGuard;
  readonly #renderer: TransactionRenderer;

  constructor(source: LedgerSource, guard: PruningGuard, renderer: TransactionRenderer) {
    this.#source = source;
    this.#guard = guard;
    this.#renderer = renderer;
  }

  get firstPlace(): EventPlace {
    return { version: oldestTransaction(this.#source.head), index: 0 };
  }

  /**
   * A page, in the order of the ledger. It may have fewer events than the limit, even none, without being the last.
   * Rejects with LedgerError `version_pruned`.
   */
  async page(request: TypedEventRequest, pace = new YieldBudget()): Promise<TypedEventPage> {
    const { type, start: first = this.firstPlace, version: end } = request;
    if (first.version < this.firstPlace.version) throw versionPruned(first.version);
    const typeTag = TypeTag.encode({ kind: 'struct', struct: type });
    const page = new Page(request);
    let next: EventPlace | undefined = first;
    while (next !== undefined && !page.isFull) {
      if (next !== first) await pace.nextTurn();
      const query = { typeTag, start: next, end, limit: page.nextLimit };
      next = page.add(await this.#source.history.typedEvents(query));
    }
    if (first.version <= end) await this.#guard.assertRetained(first.version);
    return { events: page.events, next };
  }

  render(
    events: readonly StoredModuleEvent[],
    pace = YieldBudget.ofPage(),
  ): MaybePromise<readonly RenderedEvent[]> {
    return mapInOrder(events, (event) => this.#renderer.renderModuleEvent(event, pace));
  }
}

const COMMA = Buffer.from(',');

/** A JSON array of events, in pieces of UTF-8. */
export function typedEventsJson(events: readonly RenderedEvent[]): readonly Buffer[] {
  const items = events.flatMap(({ json }, at) => (at === 0 ? [json] : [COMMA, json]));
  return [Buffer.from('['), ...items, Buffer.from(']')];
}

/** The BCS of events: a vector of version, index and ContractEvent. */
export function typedEventsBcs(events: readonly StoredModuleEvent[]): Buffer {
  const sizeBytes = events.reduce(
    (sum, { encoded }) => sum + BCS_EVENT_OVERHEAD_BYTES + encoded.length,
    MAX_ULEB32_BYTES,
  );
  const writer = new BcsWriter(sizeBytes);
  writer.vector(events, (to, { version, index, encoded }) =>
    to.u64(version).u32(index).uleb32(MODULE_EVENT_VARIANT).fixed(encoded),
  );
  return writer.view();
}

class Page {
  readonly events: StoredModuleEvent[] = [];
  readonly #limit: number;
  readonly #maxBytes: number;
  #rows = 0;
  #sizeBytes = 0;
  #isFull = false;

  constructor({ limit, maxBytes = MAX_PAGE_BYTES }: TypedEventRequest) {
    this.#limit = limit;
    this.#maxBytes = maxBytes;
  }

  get isFull(): boolean {
    return this.#isFull || this.#rows >= MAX_ROWS_PER_PAGE;
  }

  /** One event more than fits, because the next page begins with that event. */
  get nextLimit(): number {
    return this.#limit + 1 - this.events.length;
  }

  /** Adds the events of a part that fit. @returns where the next events are */
  add({ events, next, rows }: TypedEventPart): EventPlace | undefined {
    this.#rows += rows;
    for (const event of events) {
      if (this.events.length === this.#limit || this.#sizeBytes >= this.#maxBytes) {
        this.#isFull = true;
        return event;
      }
      this.events.push(event);
      this.#sizeBytes += event.encoded.length;
    }
    return next;
  }
}
