/** Stored bytes that cannot be shown: a type that has no layout, or a value that is none of its type. */
import { BcsError } from '../move/bcs/bcs-reader.ts';
import { LayoutError } from '../move/values/layout.ts';
import { ValueDecodeError } from '../move/values/value-error.ts';
import { LedgerError } from './ledger-error.ts';

/**
 * What to throw for a failed conversion: LedgerError `internal_error` with `{failure}: {reason}` for what the bytes
 * or types are to blame for; anything else stays what it is.
 */
export function conversionError(failure: string, cause: unknown): unknown {
  const detail =
    cause instanceof LayoutError
      ? cause.message
      : cause instanceof ValueDecodeError || cause instanceof BcsError
        ? cause.detail
        : undefined;
  if (detail === undefined) return cause;
  return new LedgerError('internal_error', `${failure}: ${detail}`, { cause });
}
