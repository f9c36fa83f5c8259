/** An override that no ledger could have: `message` says why. */
export class OverrideError extends Error {
  readonly code = 'bad_override';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'OverrideError';
  }
}
