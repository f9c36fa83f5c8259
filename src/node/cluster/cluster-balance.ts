/**
 * Evening out connections among workers. The system gives a new connection to whichever worker is awake first, so a
 * few connections that are kept for long can all end up with one worker while another has nothing to do. The busy one
 * then closes some of them after their next answer; who comes again is taken by the one that waits.
 */

/** How busy a worker is. */
export interface WorkerLoad {
  /** Share of the time since the last report that its event loop worked, 0 to 1. */
  readonly utilization: number;
  readonly connections: number;
}

/** How often workers report, in milliseconds. */
export const LOAD_INTERVAL_MS = 1_000;
/** A worker below this utilization is in no need of help. */
const BUSY_UTILIZATION = 0.8;
/** Loads this close to each other are even. */
const EVEN_DIFFERENCE = 0.3;

/**
 * How many connections a worker is to close, so that the least busy of the others comes to have as much to do.
 * @returns 0 when it is not busy, or none of the others is much less so
 */
export function connectionsToClose(busy: WorkerLoad, others: readonly WorkerLoad[]): number {
  if (busy.utilization < BUSY_UTILIZATION || others.length === 0) return 0;
  const least = Math.min(...others.map(({ utilization }) => utilization));
  const difference = busy.utilization - least;
  if (difference < EVEN_DIFFERENCE) return 0;
  return Math.floor((busy.connections * difference) / (2 * busy.utilization));
}
