/** Failures of a fork's upstream. */
import type { RemoteErrorCode } from '../../remote/remote-error.ts';
import { LedgerError } from '../ledger-error.ts';

type UpstreamFailureCode =
  | RemoteErrorCode
  | 'busy'
  | 'closed'
  | 'upstream_not_a_node'
  | 'bad_answer'
  | 'other_history'
  | 'hidden'
  | 'too_large';

/** The upstream gave no usable answer; nothing was recorded. */
export class UpstreamFailure extends LedgerError {
  readonly reason: UpstreamFailureCode;

  constructor(
    reason: UpstreamFailureCode,
    detail: string,
    { retryAfterMs, ...options }: ErrorOptions & { readonly retryAfterMs?: number } = {},
  ) {
    super('fork_upstream_failed', `The upstream of this fork failed (${reason}): ${detail}`, {
      ...options,
      retryAfterSecs: retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs / 1_000),
    });
    this.name = 'UpstreamFailure';
    this.reason = reason;
  }
}

/** The failure for an answer that does not decode or does not match the request. */
export function badAnswer(what: string, detail: string, options?: ErrorOptions): UpstreamFailure {
  return new UpstreamFailure('bad_answer', `${what}: ${detail}`, options);
}
