/** The events of an account's stream; their positions are their sequence numbers. */
import type { EventStream } from '../../ledger/events/stream-pages.ts';
import type { LedgerView } from '../../ledger/ledger-view.ts';
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import {
  MAX_BATCH_BYTES,
  MAX_BATCH_RECORDS,
  type RecordBatch,
  type RecordSource,
} from './record-source.ts';

export function eventsKey({ address, creationNumber }: EventStream): string {
  return `events/${address}/${creationNumber}`;
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
    return andThen(view.eventRecords(this.#stream, query), ({ events, isEnd }) => ({
      records: events.map(({ sequenceNumber, json }) => ({
        position: sequenceNumber,
        id: String(sequenceNumber),
        json,
      })),
      next: from + BigInt(events.length),
      isEnd,
    }));
  }

  /** Positions do not tell versions. */
  skip(from: bigint): bigint {
    return from;
  }

  end(view: LedgerView): MaybePromise<bigint> {
    return view.endOfEvents(this.#stream);
  }
}
