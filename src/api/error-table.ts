/**
 * Failures as clients see them: the error body, its codes and the status of each failure
 * (docs/spec/http.md §4, §5; docs/spec/decisions.md D5–D7). This table chooses the status of every failure of the
 * ledger and of submissions. Failures of the API itself are ApiErrors, with the status given where they are thrown.
 */

import { SubmitError, type SubmitErrorCode } from '../chain/submit-error.ts';
import { ViewError } from '../execution/view-error.ts';
import { asLedgerFailure, LedgerError, type LedgerErrorCode } from '../state/ledger-error.ts';
import { DecodeError } from '../submission/decode/message.ts';
import { EncodeError } from '../submission/encode/encode-error.ts';

/** Every value of `error_code` (docs/spec/http.md §4.2). */
export const ERROR_CODES = [
  'account_not_found',
  'resource_not_found',
  'module_not_found',
  'struct_field_not_found',
  'version_not_found',
  'transaction_not_found',
  'table_item_not_found',
  'block_not_found',
  'state_value_not_found',
  'version_pruned',
  'block_pruned',
  'invalid_input',
  'invalid_transaction_update',
  'sequence_number_too_old',
  'vm_error',
  'rejected_by_filter',
  'health_check_failed',
  'mempool_is_full',
  'rate_limited',
  'internal_error',
  'web_framework_error',
  'bcs_not_supported',
  'api_disabled',
] as const;
type ErrorCode = (typeof ERROR_CODES)[number];

/** A failure with its status and code; `message` is the interface's text. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: ErrorCode;
  /** When to retry, in seconds: the `Retry-After` header; absent if retrying does not help. */
  readonly retryAfterSecs: number | undefined;
  /** The status code of the virtual machine, for errors of view functions and of submissions. */
  readonly vmErrorCode: number | undefined;
  /** The methods that a path allows, if the request's is not one of them: the `Allow` header. */
  readonly allowedMethods: string | undefined;

  constructor(
    status: number,
    code: ErrorCode,
    message: string,
    options: ErrorOptions & {
      readonly retryAfterSecs?: number | undefined;
      readonly vmErrorCode?: number | undefined;
      readonly allowedMethods?: string;
    } = {},
  ) {
    super(message, options);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.retryAfterSecs = options.retryAfterSecs;
    this.vmErrorCode = options.vmErrorCode;
    this.allowedMethods = options.allowedMethods;
  }
}

/** Errors of the reference's web framework: bad parameters and bodies, routes, methods, sizes. */
export function frameworkError(status: number, message: string, options?: ErrorOptions): ApiError {
  return new ApiError(status, 'web_framework_error', message, options);
}

interface Refusal {
  readonly status: number;
  readonly code: ErrorCode;
  readonly retryAfterSecs?: number;
}

const LEDGER_REFUSALS: Readonly<Record<LedgerErrorCode, Refusal>> = {
  version_not_found: { status: 404, code: 'version_not_found' },
  version_pruned: { status: 410, code: 'version_pruned' },
  module_not_found: { status: 404, code: 'module_not_found' },
  account_not_found: { status: 404, code: 'account_not_found' },
  resource_not_found: { status: 404, code: 'resource_not_found' },
  struct_field_not_found: { status: 404, code: 'struct_field_not_found' },
  transaction_not_found: { status: 404, code: 'transaction_not_found' },
  table_item_not_found: { status: 404, code: 'table_item_not_found' },
  state_value_not_found: { status: 404, code: 'state_value_not_found' },
  block_not_found: { status: 404, code: 'block_not_found' },
  block_pruned: { status: 410, code: 'block_pruned' },
  transactions_not_kept: { status: 403, code: 'api_disabled' },
  invalid_input: { status: 400, code: 'invalid_input' },
  internal_error: { status: 500, code: 'internal_error' },
  ledger_unavailable: { status: 503, code: 'internal_error', retryAfterSecs: 1 },
  ledger_damaged: { status: 500, code: 'internal_error' },
  fork_upstream_failed: { status: 503, code: 'internal_error', retryAfterSecs: 1 },
  fork_not_recorded: { status: 503, code: 'internal_error' },
};

const SUBMIT_STATUSES: Readonly<Record<SubmitErrorCode, number>> = {
  vm_error: 400,
  sequence_number_too_old: 400,
  invalid_transaction_update: 400,
  mempool_is_full: 507,
};

/** The error that a client gets for a failure; undefined for an unexpected one. */
export function knownFailure(failure: unknown): ApiError | undefined {
  if (failure instanceof ApiError) return failure;
  const error = asLedgerFailure(failure);
  if (error instanceof LedgerError) {
    const { status, code, retryAfterSecs } = LEDGER_REFUSALS[error.code];
    const retry = { retryAfterSecs: error.retryAfterSecs ?? retryAfterSecs };
    return new ApiError(status, code, error.message, { cause: error, ...retry });
  }
  if (error instanceof EncodeError) {
    // docs/spec/encode.md §A0.
    const code = error.stage === 'parse' ? 'web_framework_error' : 'invalid_input';
    return new ApiError(400, code, error.message, { cause: error });
  }
  if (error instanceof ViewError) {
    const { vmStatus: vmErrorCode } = error;
    return new ApiError(400, 'invalid_input', error.message, { cause: error, vmErrorCode });
  }
  if (error instanceof SubmitError) {
    const { code, vmStatus: vmErrorCode } = error;
    return new ApiError(SUBMIT_STATUSES[code], code, error.message, { cause: error, vmErrorCode });
  }
  if (error instanceof DecodeError) {
    return new ApiError(400, 'invalid_input', error.message, { cause: error });
  }
  return undefined;
}

/**
 * The error body. `vm_error_code` is null in every error except those of view functions and submissions
 * (docs/spec/http.md §4.1).
 */
export function errorBody(error: ApiError): string {
  const message = JSON.stringify(error.message);
  const vmErrorCode = error.vmErrorCode ?? null;
  return `{"message":${message},"error_code":"${error.code}","vm_error_code":${vmErrorCode}}`;
}

/** The content type of an error (docs/spec/http.md §2.2). */
export function errorContentType(error: ApiError): string {
  return error.code === 'web_framework_error'
    ? 'application/json'
    : 'application/json; charset=utf-8';
}
