/** Errors of making and loading snapshots. */

type SnapshotErrorCode =
  | 'no_checkpoint'
  | 'pruned'
  | 'other_snapshot'
  | 'no_transactions'
  | 'damaged'
  | 'too_large'
  | 'unknown_format'
  | 'root_contradicts'
  | 'trust_contradicts'
  | 'trust_elsewhere';

export class SnapshotError extends Error {
  /** Stable, machine-readable reason, in snake_case. */
  readonly code: SnapshotErrorCode;

  constructor(code: SnapshotErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SnapshotError';
    this.code = code;
  }
}
