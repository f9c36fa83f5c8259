/** Errors for transactions that a chain does not accept (docs/spec/transactions.md §9.5). */
import { STATUS, type StatusName } from '../vm/status/status.ts';

export type SubmitErrorCode =
  | 'vm_error'
  | 'sequence_number_too_old'
  | 'invalid_transaction_update'
  | 'mempool_is_full';

/** The message is the API's text. */
export class SubmitError extends Error {
  readonly code: SubmitErrorCode;
  /** The VM status of a `vm_error`. */
  readonly vmStatus: number | undefined;

  constructor(code: SubmitErrorCode, message: string, vmStatus?: number) {
    super(message);
    this.name = 'SubmitError';
    this.code = code;
    this.vmStatus = vmStatus;
  }
}

/** Types of VM statuses, by the thousands of their codes. */
const STATUS_TYPES = [
  'Validation',
  'Verification',
  'InvariantViolation',
  'Deserialization',
  'Execution',
] as const;

export function vmRejection(status: StatusName): SubmitError {
  const code = STATUS[status];
  const type = STATUS_TYPES[Math.floor(code / 1_000)] ?? 'Unknown';
  return new SubmitError('vm_error', `Invalid transaction: Type: ${type} Code: ${status}`, code);
}
