/** What a follower has done, and where its time went. Times are in milliseconds, and overlap. */

/** Counts of one follower since it began. */
export interface FollowCounters {
  pages: number;
  /** Bytes of pages. */
  pageBytes: number;
  /** Durable transactions. */
  transactions: number;
  commits: number;
  /** Times that the upstream, or the way to it, made the follower begin again. */
  faults: number;
  /** From questions to their last bytes, added up over pages that may be under way together. */
  networkMs: number;
  /** Decoding pages, in the proving thread. */
  decodeMs: number;
  /** Recomputing and comparing hashes, in the proving thread. */
  hashMs: number;
  /** Making chunks of pages and translating events. */
  buildMs: number;
  /** From handing a chunk to the writer until it is on disk, added up over two that may be under way together. */
  commitMs: number;
}

/** Counters at nought. */
export function newFollowCounters(): FollowCounters {
  return {
    pages: 0,
    pageBytes: 0,
    transactions: 0,
    commits: 0,
    faults: 0,
    networkMs: 0,
    decodeMs: 0,
    hashMs: 0,
    buildMs: 0,
    commitMs: 0,
  };
}
