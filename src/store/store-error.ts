/**
 * Failures of the store. Callers use `code` and the fields, never `message`, which is one line for people: what
 * happened and what to do.
 */
import { type Column, EVENTS, type RowKey } from './columns/columns.ts';

/** Codes of store failures. Those that begin with `chunk_` are chunks that the writer refuses: nothing was stored. */
type StoreErrorCode =
  | 'store_closed'
  | 'store_not_found'
  | 'store_foreign'
  | 'store_damaged'
  | 'store_format_mismatch'
  | 'store_is_fork'
  | 'store_not_fork'
  | 'store_not_distributable'
  | 'store_locked'
  | 'store_exists'
  | 'store_lock_lost'
  | 'store_full'
  | 'store_io'
  | 'store_location_invalid'
  | 'store_unreachable'
  | 'store_behind'
  | 'store_commits_lost'
  | 'store_refused'
  | 'store_read_only'
  | 'store_timeout'
  | 'store_interrupted'
  | 'store_busy'
  | 'batch_too_large'
  | 'ledger_empty'
  | 'import_of_other'
  | 'too_many_kept_accounts'
  | 'row_damaged'
  | 'event_gap'
  | 'chunk_empty'
  | 'chunk_too_large'
  | 'chunk_not_continuous'
  | 'chunk_contradicts'
  | 'chunk_pruned'
  | 'chunk_identity'
  | 'chunk_state_key'
  | 'chunk_blocks'
  | 'chunk_epochs'
  | 'chunk_accumulator'
  | 'chunk_transaction'
  | 'chunk_transaction_missing';

export class StoreError extends Error {
  readonly code: StoreErrorCode;

  /** @param facts the cause, and properties of the error such as the `version` of a refused chunk */
  constructor(
    code: StoreErrorCode,
    message: string,
    { cause, ...facts }: Readonly<Record<string, unknown>> = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = this.constructor.name;
    this.code = code;
    Object.assign(this, facts);
  }
}

export function isStoreError<Code extends StoreErrorCode>(
  error: unknown,
  code: Code,
): error is StoreError & { readonly code: Code } {
  return error instanceof StoreError && error.code === code;
}

const TRANSIENT: readonly StoreErrorCode[] = [
  'store_unreachable',
  'store_behind',
  'store_timeout',
  'store_interrupted',
  'store_busy',
];

/** Whether access to the store failed, and not the store itself: the same read may succeed a moment later. */
export function isTransient(error: unknown): boolean {
  return error instanceof StoreError && TRANSIENT.includes(error.code);
}

const DAMAGE: readonly StoreErrorCode[] = ['store_damaged', 'row_damaged', 'event_gap'];

/** Whether an error means that stored data is damaged where it was read. Other reads may succeed. */
export function isDamaged(error: unknown): error is StoreError {
  return error instanceof StoreError && DAMAGE.includes(error.code);
}

/** Whether this process can no longer write the store until it is restarted. */
export function isWritingLost(error: unknown): boolean {
  return isStoreError(error, 'store_lock_lost') || isStoreError(error, 'store_commits_lost');
}

export function chunkError(code: StoreErrorCode, version: bigint, detail: string): StoreError {
  return new StoreError(code, `version ${version}: ${detail}`, { version });
}

/** The rows of a stream have a gap: the event `expected` is missing although `actual` exists. */
export class EventGapError extends StoreError {
  readonly column = EVENTS.name;
  readonly expected: bigint;
  readonly actual: bigint;

  constructor(stream: string, expected: bigint, actual: bigint) {
    super('event_gap', `stream ${stream} jumps to ${actual} where ${expected} is expected`);
    this.expected = expected;
    this.actual = actual;
  }
}

/** A row that does not decode: the store is damaged, or something else wrote it. */
export class RowDamagedError extends StoreError {
  readonly column: string;
  /** The key in hex, `partition/order`. */
  readonly key: string;
  /** The key. If a scan failed, it can continue after this key. With an empty partition, the key is unknown. */
  readonly row: RowKey;

  constructor(column: Column, key: RowKey, detail: string, facts?: { readonly cause: unknown }) {
    const text = keyText(key);
    super('row_damaged', `row ${text} of column ${column.name} is damaged: ${detail}`, facts);
    this.column = column.name;
    this.key = text;
    this.row = key;
  }
}

export function keyText({ partition, order }: RowKey): string {
  return `${hex(partition)}/${hex(order)}`;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}
