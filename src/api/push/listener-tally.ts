/** What the event streams of a process come to, for metrics. */

/**
 * Why a stream ended: the client closed it; the client did not read in time; pruning has overtaken it; the node could
 * not read on; the node stopped.
 */
export const END_REASONS = ['closed', 'slow', 'pruned', 'failed', 'shutdown'] as const;
export type EndReason = (typeof END_REASONS)[number];

export class ListenerTally {
  /** Streams that are open now, or being opened. */
  open = 0;
  /** Records sent, counted for each listener. */
  sent = 0;
  readonly ended: Record<EndReason, number> = {
    ...{ closed: 0, slow: 0, pruned: 0, failed: 0, shutdown: 0 },
  };
}
