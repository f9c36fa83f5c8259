/** Sources of server-sent events: events of a stream, module events of a type, or heads of the ledger. */
import type { EventStream } from '../../ledger/events/stream-pages.ts';
import type { LedgerView } from '../../ledger/ledger-view.ts';
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import { byteTools } from '../../move/bcs/bytes.ts';
import { type StructTag, TypeTag } from '../../move/types/type-tag.ts';
import type { TimeShare } from './time-share.ts';

const MAX_BATCH_RECORDS = 100;
/** A batch ends with the record that reaches this many bytes of JSON. */
export const MAX_BATCH_BYTES = 16 * 1024;
/** Maximum versions that `changedKeys` reads, which takes tens of milliseconds, in slices. */
export const MAX_SCANNED_VERSIONS = 1_000n;

export interface PushedRecord {
  /** Positions ascend within a stream. */
  readonly position: bigint;
  /** The event's `id`, from which the position can be parsed. */
  readonly id: string;
  /** UTF-8 without line breaks, as on a page. */
  readonly json: Uint8Array;
}

export interface RecordBatch {
  readonly records: readonly PushedRecord[];
  /** Where the next batch begins: above the last record. */
  readonly next: bigint;
  /** Whether the view has no record from `next` on. */
  readonly isEnd: boolean;
}

/** Records that views of the ledger show. Later views show the same records, and more above them. */
export interface RecordSource {
  /** Sources with the same records have the same key, so their listeners share what is read. */
  readonly key: string;
  /**
   * Reads records from a position on, about MAX_BATCH_BYTES of them. More may follow an empty batch.
   * @throws LedgerError `version_pruned` if the first of them was pruned; or rejects with it
   */
  read(view: LedgerView, from: bigint): MaybePromise<RecordBatch>;
  /**
   * Where to resume reading after `from`, if no version up to `version` has records from there on. The skipped range
   * may have been pruned.
   */
  skip(from: bigint, version: bigint): bigint;
  end(view: LedgerView): MaybePromise<bigint>;
}

/** The source that a request listens to, and the first position. A position above the end is not reached yet. */
export interface StreamStart {
  readonly source: RecordSource;
  readonly from: bigint;
}

export class EventSource implements RecordSource {
  readonly key: string;
  readonly #stream: EventStream;

  constructor(stream: EventStream) {
    this.#stream = stream;
    this.key = eventsKey(stream);
  }

  read(view: LedgerView, from: bigint): MaybePromise<RecordBatch> {
    const query = { start: from, limit: MAX_BATCH_RECORDS, maxBytes: MAX_BATCH_BYTES };
    return andThen(view.pages.records(this.#stream, query), ({ events, isEnd }) => ({
      records: events.map(({ sequenceNumber, json }) => ({
        position: sequenceNumber,
        id: String(sequenceNumber),
        json,
      })),
      next: from + BigInt(events.length),
      isEnd,
    }));
  }

  /** A version does not determine a sequence number. */
  skip(from: bigint): bigint {
    return from;
  }

  end(view: LedgerView): MaybePromise<bigint> {
    return view.pages.end(this.#stream);
  }
}

export function eventsKey({ address, creationNumber }: EventStream): string {
  return `events/${address}/${creationNumber}`;
}

/** A position is a version and, in the low 32 bits, the index of an event in its transaction. */
export class TypedEventSource implements RecordSource {
  readonly key: string;
  readonly #type: StructTag;

  constructor(type: StructTag) {
    this.#type = type;
    this.key = typeKey(TypeTag.encode({ kind: 'struct', struct: type }));
  }

  async read(view: LedgerView, from: bigint): Promise<RecordBatch> {
    const { events, next } = await view.typedEvents.page({
      type: this.#type,
      start: {
        version: from >> INDEX_BITS,
        index: Number(BigInt.asUintN(Number(INDEX_BITS), from)),
      },
      version: view.state.version,
      limit: MAX_BATCH_RECORDS,
      maxBytes: MAX_BATCH_BYTES,
    });
    const rendered = await view.typedEvents.render(events);
    return {
      records: events.map(({ version, index }, at) => ({
        position: positionOf({ version, index }),
        id: `${version}:${index}`,
        json: rendered[at]!.json,
      })),
      next: next === undefined ? later(from, this.end(view)) : positionOf(next),
      isEnd: next === undefined,
    };
  }

  skip(from: bigint, version: bigint): bigint {
    return later(from, positionOf({ version: version + 1n, index: 0 }));
  }

  end({ state }: LedgerView): bigint {
    return positionOf({ version: state.version + 1n, index: 0 });
  }
}

const INDEX_BITS = 32n;

export function positionOf({ version, index }: { version: bigint; index: number }): bigint {
  return (version << INDEX_BITS) | BigInt(index);
}

function later(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}

/** @param typeTag BCS */
export function typeKey(typeTag: Uint8Array): string {
  return `types/${byteTools.asBuffer(typeTag).toString('hex')}`;
}

export const HEADS_KEY = 'heads';

/** Positions are versions. Older heads are not stored, so only the newest is sent. */
export class HeadSource implements RecordSource {
  readonly key = HEADS_KEY;
  readonly #jsonOf: (view: LedgerView) => string;

  constructor(jsonOf: (view: LedgerView) => string) {
    this.#jsonOf = jsonOf;
  }

  read(view: LedgerView, from: bigint): RecordBatch {
    const { version } = view.state;
    if (version < from) return { records: [], next: from, isEnd: true };
    const json = Buffer.from(this.#jsonOf(view));
    const record = { position: version, id: String(version), json };
    return { records: [record], next: version + 1n, isEnd: true };
  }

  skip(from: bigint): bigint {
    return from;
  }

  end({ state }: LedgerView): bigint {
    return state.version + 1n;
  }
}

/**
 * Keys of the sources with records of the versions after `above`, up to the view's; other keys may be among them. These
 * versions are read once, so that the other sources need not be read.
 * @returns undefined if the keys are not known; then any source may have new records
 */
export async function changedKeys(
  view: LedgerView,
  above: bigint,
  share: TimeShare,
): Promise<ReadonlySet<string> | undefined> {
  const { version } = view.state;
  if (version - above > MAX_SCANNED_VERSIONS) return undefined;
  const keys = new Set([HEADS_KEY]);
  let first = above + 1n;
  while (first <= version) {
    const startedMs = performance.now();
    const part = await view.emittedEvents(first);
    if (part === undefined) return undefined;
    for (const stream of part.streams) keys.add(eventsKey(stream));
    for (const typeTag of part.typeTags) keys.add(typeKey(typeTag));
    first = part.next;
    await share.spend(performance.now() - startedMs);
  }
  return keys;
}
