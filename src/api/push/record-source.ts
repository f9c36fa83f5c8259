/** What a stream of server-sent events consists of, whatever it is about. */
import type { LedgerView } from '../../ledger/ledger-view.ts';
import type { MaybePromise } from '../../maybe-promise.ts';

export interface PushedRecord {
  /** Ascending within a stream. */
  readonly position: bigint;
  /** The event's `id`, which the source can read back as the position. */
  readonly id: string;
  /** UTF-8 without line breaks: what a page has for the record. */
  readonly json: Uint8Array;
}

export interface RecordBatch {
  readonly records: readonly PushedRecord[];
  /** Where the next batch begins: above the last record. */
  readonly next: bigint;
  /** Whether the view shows no record from `next` on. */
  readonly isEnd: boolean;
}

/** Records that views of the ledger show. Later views show the same ones and more, each above those before. */
export interface RecordSource {
  /**
   * The same for sources with the same records: their listeners share what is read. `touchedKeys` names it for
   * versions that have some.
   */
  readonly key: string;
  /**
   * Records from a position on, about MAX_BATCH_BYTES of them. An empty batch may have more behind it.
   * @throws LedgerError `version_pruned` where the first of them is gone; or rejects with it
   */
  read(view: LedgerView, from: bigint): MaybePromise<RecordBatch>;
  /**
   * Where a reading goes on that has come to a position, if no version up to one has records from there on. What is
   * skipped may be pruned.
   */
  skip(from: bigint, version: bigint): bigint;
  /** The position above all records that a view shows. */
  end(view: LedgerView): MaybePromise<bigint>;
}

/** What a request listens to, and from which position on. It may be above the end: then it waits for it. */
export interface StreamStart {
  readonly source: RecordSource;
  readonly from: bigint;
}

/** Most records of a batch. */
export const MAX_BATCH_RECORDS = 100;
/** A batch ends with the record that reaches this many bytes of JSON. */
export const MAX_BATCH_BYTES = 16 * 1024;
