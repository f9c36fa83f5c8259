/** Reasons why another node or server gave no usable answer. */
import type { Answer } from './answer.ts';

/**
 * What to do next: `retry` for a temporary fault, `refetch` for a wrong page (it may have been damaged in transit; a
 * page that stays wrong is the upstream's fault), `stop` when a retry cannot help.
 */
type Remedy = 'retry' | 'refetch' | 'stop';

const REMEDIES = {
  closed: 'stop',
  bad_upstream_url: 'stop',
  upstream_unreachable: 'retry',
  upstream_timeout: 'retry',
  upstream_cut: 'retry',
  upstream_busy: 'retry',
  upstream_failed: 'retry',
  upstream_refused: 'stop',
  upstream_not_a_feed: 'retry',
  upstream_pruned: 'stop',
  upstream_behind: 'retry',
  page_too_large: 'refetch',
  page_malformed: 'refetch',
  page_unproved: 'refetch',
  verifier_failed: 'refetch',
  other_chain: 'stop',
  history_contradicts: 'refetch',
  trust_contradicts: 'stop',
  waypoint_mismatch: 'stop',
} as const satisfies Readonly<Record<string, Remedy>>;

export type RemoteErrorCode = keyof typeof REMEDIES;

interface RemoteErrorOptions extends ErrorOptions {
  readonly retryAfterMs?: number | undefined;
  readonly received?: Answer | undefined;
}

export class RemoteError extends Error {
  /** Stable, machine-readable reason, in snake_case. */
  readonly code: RemoteErrorCode;
  readonly remedy: Remedy;
  /** The wait that the server requested, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** Private, so that a log line does not show a body. */
  readonly #received: Answer | undefined;

  constructor(
    code: RemoteErrorCode,
    message: string,
    { retryAfterMs, received, ...options }: RemoteErrorOptions = {},
  ) {
    super(message, options);
    this.name = this.constructor.name;
    this.code = code;
    this.remedy = REMEDIES[code];
    this.retryAfterMs = retryAfterMs;
    this.#received = received;
  }

  /** The received part of an answer that was cut off. */
  get received(): Answer | undefined {
    return this.#received;
  }
}
