/**
 * What can go wrong in the store. Errors are built from facts and carry a code; callers look at
 * `code` and the facts, never at `message`, which is one line for people: what happened and what to
 * do.
 */

/** Codes of store failures that are not a damaged row or a refused chunk. */
export type StoreErrorCode =
  | 'store_closed'
  | 'store_not_found'
  | 'store_foreign'
  | 'store_damaged'
  | 'store_format_mismatch'
  | 'store_locked'
  | 'store_lock_lost'
  | 'store_read_only'
  | 'store_full'
  | 'store_io'
  | 'batch_too_large'
  | 'ledger_empty'
  | 'too_many_kept_accounts'
  | 'row_damaged'
  | 'event_gap'
  | ChunkErrorCode;

/** Codes of chunks that the writer refuses. */
export type ChunkErrorCode =
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
  | 'chunk_transaction_missing';

/** The base of every error of the store. */
export class StoreError extends Error {
  /** Stable, machine-readable reason, in snake_case. */
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = this.constructor.name;
    this.code = code;
  }
}

/** The store was written in another format than this program reads. */
export class StoreFormatError extends StoreError {
  readonly found: number;
  readonly expected: number;

  constructor(where: string, found: number, expected: number) {
    const remedy =
      found > expected
        ? 'use the newer Daybook that wrote it'
        : 'use the older Daybook that wrote it, or build the store again';
    super(
      'store_format_mismatch',
      `${where} holds store format ${found}, this program reads format ${expected}: ${remedy}`,
    );
    this.found = found;
    this.expected = expected;
  }
}

/** Another process writes this store. */
export class StoreLockedError extends StoreError {
  /** Process id of the other writer. */
  readonly pid: number;

  constructor(where: string, pid: number) {
    super(
      'store_locked',
      `${where} is being written by process ${pid}: stop it first, or open the store for reading`,
    );
    this.pid = pid;
  }
}

/** The device has no room for a commit; nothing of the commit was stored. */
export class StoreFullError extends StoreError {
  readonly freeBytes: number;
  readonly batchBytes: number;

  constructor(where: string, batchBytes: number, freeBytes: number, options?: ErrorOptions) {
    super(
      'store_full',
      `no room for a commit of ${batchBytes} bytes: ${freeBytes} are free where ${where} lies;` +
        ' nothing of it was stored, make room and try again',
      options,
    );
    this.freeBytes = freeBytes;
    this.batchBytes = batchBytes;
  }
}

/** A row that does not decode: the store is damaged, or was written by something else. */
export class RowDamagedError extends StoreError {
  readonly column: string;
  /** The key in hex, `partition/order`. */
  readonly key: string;

  constructor(
    column: string,
    partition: Uint8Array,
    order: Uint8Array,
    detail: string,
    options?: ErrorOptions,
  ) {
    const key = `${hex(partition)}/${hex(order)}`;
    super('row_damaged', `row ${key} of column ${column} is damaged: ${detail}`, options);
    this.column = column;
    this.key = key;
  }
}

/**
 * A stream's rows are not contiguous: the event `expected` is missing although later ones are
 * there.
 */
export class EventGapError extends StoreError {
  readonly expected: bigint;
  readonly actual: bigint;

  constructor(stream: string, expected: bigint, actual: bigint) {
    super('event_gap', `stream ${stream} jumps to ${actual} where ${expected} is expected`);
    this.expected = expected;
    this.actual = actual;
  }
}

/** A chunk that the writer refuses; nothing of it was stored. */
export class ChunkError extends StoreError {
  /** The version at fault, where there is one. */
  readonly version: bigint | undefined;

  constructor(code: ChunkErrorCode, version: bigint | undefined, detail: string) {
    super(code, version === undefined ? detail : `version ${version}: ${detail}`);
    this.version = version;
  }
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}
