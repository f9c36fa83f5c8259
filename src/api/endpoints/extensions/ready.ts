/**
 * `GET /v1/-/ready` (docs/extensions.md): whether the node is ready for requests, whatever clients may ask for: no
 * `switchName`.
 */
import { encodeBcs } from '../../../move/bcs/bcs-writer.ts';
import { ApiError } from '../../http/error-table.ts';
import { ReadinessSchema } from '../../schemas/extension-schemas.ts';
import { defineRead } from '../endpoint.ts';

const USECS_PER_MS = 1000n;
const USECS_PER_SEC = 1_000_000n;
const READY = 'daybook:ready';
/** A balancer should look again soon, whatever lag is allowed, in seconds. */
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
