/**
 * Extensions that describe a node (docs/extensions.md): whether it is ready, its newest heads, and the snapshots that
 * it offers.
 */
import { encodeBcs } from '../../../move/bcs/bcs-writer.ts';
import { ApiError } from '../../error-table.ts';
import { HeadSource } from '../../push/sources.ts';
import { ReadinessSchema, SnapshotListSchema } from '../../schemas/extension-schemas.ts';
import { IndexSchema } from '../../schemas/schemas.ts';
import { defineRead } from '../endpoint.ts';
import { indexJson } from '../health.ts';
import { U64 } from '../parameters.ts';
import { lastPosition } from '../resumed-stream.ts';

const USECS_PER_MS = 1000n;
const USECS_PER_SEC = 1_000_000n;
const READY = 'daybook:ready';
/** Maximum `Retry-After`, in seconds: a load balancer should check again soon, whatever lag is allowed. */
const MAX_RETRY_AFTER_SECS = 10;

/** Seconds since the ledger's newest timestamp, rounded down; 0 for a ledger ahead of the clock. */
function lagSecs(ledgerUsecs: bigint, nowMs: number): bigint {
  const lagUsecs = BigInt(Math.floor(nowMs)) * USECS_PER_MS - ledgerUsecs;
  return lagUsecs < 0n ? 0n : lagUsecs / USECS_PER_SEC;
}

export const readyEndpoint = defineRead({
  operationId: 'ready',
  isNeverBatched: true,
  tag: 'General',
  summary: 'Check whether the node is ready',
  description:
    'Answers 200 when the node can read its ledger and is not further behind than its setting ' +
    '`max_lag_seconds` allows (0: however far), with the lag; otherwise 503.',
  isExtension: true,
  work: 'none',
  path: '/-/ready',
  parameters: {},
  results: {
    description: 'The node is ready.',
    json: ReadinessSchema,
    bcs: 'A struct of the message, a string, and the lag in seconds, a u64.',
  },
  failures: [400, 500, 503],
  answer({ view, format, settings }) {
    const lag = lagSecs(view.state.timestampUsecs, Date.now());
    const { maxLagSeconds } = settings;
    if (maxLagSeconds !== 0 && lag > BigInt(maxLagSeconds)) {
      throw new ApiError(
        503,
        'health_check_failed',
        `The ledger is ${lag} seconds behind, which is more than the allowed ${maxLagSeconds}`,
        { retryAfterSecs: Math.min(maxLagSeconds, MAX_RETRY_AFTER_SECS) },
      );
    }
    const body =
      format === 'json'
        ? JSON.stringify({ message: READY, lag_seconds: String(lag) })
        : encodeBcs((writer) => writer.string(READY).u64(lag));
    return { body };
  },
});

export const headsEndpoint = defineRead({
  operationId: 'get_heads',
  isNeverBatched: true,
  tag: 'General',
  summary: 'Listen to new heads of the ledger',
  description:
    'With `Accept: text/event-stream` an event for the newest state of the ledger, and for each newer one. ' +
    'States that follow each other quickly may come as one. Otherwise the newest state alone.',
  isExtension: true,
  path: '/-/heads',
  parameters: {},
  results: { description: 'The state of the ledger.', json: IndexSchema },
  failures: [400, 403, 500, 503],
  answer: ({ view, settings }) => ({ body: indexJson(view.state, settings) }),
  stream({ headers, settings }) {
    const source = new HeadSource(({ state }) => indexJson(state, settings));
    // A client that reconnects gets the state again even if it missed nothing, because it cannot know that.
    return { source, from: lastPosition(headers, U64) ?? 0n };
  },
});

export const SNAPSHOTS_PATH = '/-/snapshots';

export const snapshotsEndpoint = defineRead({
  operationId: 'get_snapshots',
  isNeverBatched: true,
  tag: 'General',
  summary: 'List the snapshots that the node offers',
  description:
    'Snapshots from which another node can begin, the newest first; none unless the node’s operator ' +
    'offers some. Below `/-/snapshots/NAME/` each has the files of a public backup; ' +
    '`/-/snapshots/NAME/metadata/` links to those that name the others. Always JSON.',
  isExtension: true,
  work: 'listing',
  path: SNAPSHOTS_PATH,
  parameters: {},
  results: { description: 'The snapshots.', json: SnapshotListSchema },
  failures: [400, 500, 503],
  async answer({ snapshots }) {
    const offered = (await snapshots?.list()) ?? [];
    const items = offered.map(({ name, chainId, version, newestVersion, timestampUsecs }) => ({
      name,
      chain_id: chainId,
      version: String(version),
      newest_version: String(newestVersion),
      timestamp_usecs: String(timestampUsecs),
    }));
    return { body: JSON.stringify(items) };
  },
});
