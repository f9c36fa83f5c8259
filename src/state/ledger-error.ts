/** Errors of ledger reads, with the API's messages (docs/spec/http.md §4.2, §5.4–5.7). */
import { BcsError } from '../move/bcs/bcs-reader.ts';
import { LayoutError } from '../move/values/layout.ts';
import { isDamaged, isTransient, type StoreError } from '../store/store-error.ts';

/** Error codes of reads; the API maps them to statuses. */
export type LedgerErrorCode =
  | 'version_not_found'
  | 'version_pruned'
  | 'module_not_found'
  | 'account_not_found'
  | 'resource_not_found'
  | 'struct_field_not_found'
  | 'transaction_not_found'
  | 'table_item_not_found'
  | 'state_value_not_found'
  | 'block_not_found'
  | 'block_pruned'
  | 'transactions_not_kept'
  | 'invalid_input'
  | 'internal_error'
  | 'ledger_unavailable'
  | 'ledger_damaged'
  | 'fork_upstream_failed'
  | 'fork_not_recorded';

/** A read without a result; `message` is the API's exact text. */
export class LedgerError extends Error {
  readonly code: LedgerErrorCode;
  /** Time after which to retry, in seconds, if known. */
  readonly retryAfterSecs: number | undefined;

  constructor(
    code: LedgerErrorCode,
    message: string,
    options: ErrorOptions & { readonly retryAfterSecs?: number | undefined } = {},
  ) {
    super(message, options);
    this.name = 'LedgerError';
    this.code = code;
    this.retryAfterSecs = options.retryAfterSecs;
  }
}

/** Stored data that a read needs is damaged. */
export class DamagedError extends LedgerError {
  /** The column whose rows cannot be read; `unknown` if the engine does not say which. */
  readonly column: string;

  constructor(cause: StoreError & { readonly column?: string }) {
    super('ledger_damaged', 'The stored data of this answer is damaged', { cause });
    this.column = cause.column ?? 'unknown';
  }
}

/**
 * Converts a transient failure of the store to LedgerError `ledger_unavailable`, and damaged data to DamagedError.
 * Returns any other failure unchanged. The messages do not say where the store is.
 */
export function asLedgerFailure(failure: unknown): unknown {
  if (isDamaged(failure)) {
    return new DamagedError(failure);
  }
  if (!isTransient(failure)) return failure;
  const message = 'The ledger cannot be read at the moment';
  return new LedgerError('ledger_unavailable', message, { cause: failure });
}

export function isPruned(failure: unknown): boolean {
  return failure instanceof LedgerError && failure.code === 'version_pruned';
}

/** The error for a version below the oldest. */
export function versionPruned(version: bigint): LedgerError {
  return new LedgerError('version_pruned', `Ledger version(${version}) has been pruned`);
}

/**
 * The error for stored bytes that cannot be rendered: LedgerError `internal_error` with `{failure}: {reason}` if the
 * bytes or their type are the cause; any other cause is returned unchanged.
 */
export function conversionError(failure: string, cause: unknown): unknown {
  const detail =
    cause instanceof LayoutError
      ? cause.message
      : cause instanceof BcsError
        ? cause.detail
        : undefined;
  if (detail === undefined) return cause;
  return new LedgerError('internal_error', `${failure}: ${detail}`, { cause });
}

/** Decodes stored bytes. @throws LedgerError `internal_error` with `{failure}{reason}` for bytes that do not decode */
export function decodeStored<T>(failure: string | (() => string), decode: () => T): T {
  try {
    return decode();
  } catch (cause) {
    if (!(cause instanceof BcsError)) throw cause;
    const what = typeof failure === 'string' ? failure : failure();
    throw new LedgerError('internal_error', what + cause.detail, { cause });
  }
}
