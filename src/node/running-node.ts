/** A node that answers, in one process or in several. */
import type { Logger } from 'pino';

/** The line on stdout that says that a node answers. */
export interface ReadyLine {
  readonly event: 'ready';
  /** Of the interface, ending in `/v1`. */
  readonly url: string;
  readonly pid: number;
  readonly chain_id: number;
  readonly ledger_version: string;
}

/** A node that answers. */
export interface RunningNode {
  readonly ready: ReadyLine;
  readonly logger: Logger;
  /** Rejects when the node can not go on; it is to be stopped then. Never resolves. */
  readonly failed: Promise<never>;
  /** Finishes requests under way, up to the configured time, and gives everything back. Calls after the first wait. */
  stop(): Promise<void>;
}

/** The ready line of this process. */
export function readyLine(url: string, chainId: number, version: bigint): ReadyLine {
  return {
    event: 'ready',
    url,
    pid: process.pid,
    chain_id: chainId,
    ledger_version: String(version),
  };
}
