/** Errors of replication, and the reaction to each: wait and retry, request the page again, or stop. */

/**
 * What to do next: `retry` for a temporary fault, `refetch` for a wrong page (it may have been damaged in transit; a
 * page that stays wrong is the upstream's fault), `stop` when a retry cannot help.
 */
type Remedy = 'retry' | 'refetch' | 'stop';

const REMEDIES = {
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
  other_chain: 'stop',
  history_contradicts: 'refetch',
  trust_contradicts: 'stop',
  waypoint_mismatch: 'stop',
} as const satisfies Readonly<Record<string, Remedy>>;

/** Why replication fails, temporarily or permanently. */
export type FeedErrorCode = keyof typeof REMEDIES;

/** Replication cannot continue. */
export class FeedError extends Error {
  /** Stable, machine-readable reason, in snake_case. */
  readonly code: FeedErrorCode;
  readonly remedy: Remedy;
  /** The wait that the upstream requested, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: FeedErrorCode,
    message: string,
    {
      retryAfterMs,
      ...options
    }: ErrorOptions & { readonly retryAfterMs?: number | undefined } = {},
  ) {
    super(message, options);
    this.name = this.constructor.name;
    this.code = code;
    this.remedy = REMEDIES[code];
    this.retryAfterMs = retryAfterMs;
  }
}

/** The parts of an item of a page that can be wrong. */
export type PageField =
  | 'page'
  | 'version'
  | 'transaction'
  | 'info'
  | 'events'
  | 'accumulator_root_hash'
  | 'changes';

/** The error of a page, as plain data that can be sent between threads. */
export interface PageFault {
  readonly code: 'page_malformed' | 'page_unproved' | 'trust_contradicts' | 'waypoint_mismatch';
  readonly version: bigint;
  readonly field: PageField;
  /** What is wrong, without the place. */
  readonly detail: string;
}

/** A page that does not match its hashes: nothing of it is stored. */
export class PageError extends FeedError {
  readonly fault: PageFault;
  readonly version: bigint;
  readonly field: PageField;

  constructor(fault: PageFault) {
    const { code, version, field, detail } = fault;
    super(code, `version ${version}, ${field}: ${detail}`);
    this.fault = fault;
    this.version = version;
    this.field = field;
  }
}
