/** What can go wrong when a ledger is asked, in the interface's words (docs/spec/http.md §4.2, §5.4–5.7). */

/** Codes of failures that a question can end in; the API maps them to statuses. */
export type LedgerErrorCode =
  | 'version_not_found'
  | 'version_pruned'
  | 'module_not_found'
  | 'account_not_found'
  | 'resource_not_found'
  | 'struct_field_not_found'
  | 'transaction_not_found'
  | 'block_not_found'
  | 'block_pruned'
  | 'transactions_not_kept'
  | 'invalid_input'
  | 'internal_error'
  | 'ledger_unavailable';

/** A question that has no answer; `message` is the interface's exact text. */
export class LedgerError extends Error {
  readonly code: LedgerErrorCode;

  constructor(code: LedgerErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'LedgerError';
    this.code = code;
  }
}
