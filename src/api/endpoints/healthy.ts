/** `GET /v1/-/healthy`: whether the node keeps up (docs/spec/http.md §1.4). */
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { ApiError } from '../http/error-table.ts';
import { HealthSchema } from '../schemas/schemas.ts';
import { defineEndpoint } from './endpoint.ts';
import { queryParameter, U32 } from './parameters.ts';

/** The interface's text, the reference's name included (docs/spec/http.md §13). */
const HEALTHY = 'aptos-node:ok';
const USECS_PER_MS = 1000n;
const USECS_PER_SEC = 1_000_000n;

/**
 * A time since 1970 as the reference prints durations: `1700000000.123456s`, `1.5ms`, `7µs`, `0ns`.
 */
function formatDuration(usecs: bigint): string {
  if (usecs === 0n) return '0ns';
  if (usecs < USECS_PER_MS) return `${usecs}µs`;
  const [unit, perUnit, digits] =
    usecs < USECS_PER_SEC ? (['ms', USECS_PER_MS, 3] as const) : (['s', USECS_PER_SEC, 6] as const);
  const fraction = (usecs % perUnit).toString().padStart(digits, '0').replace(/0+$/, '');
  return `${usecs / perUnit}${fraction === '' ? '' : `.${fraction}`}${unit}`;
}

/**
 * @throws ApiError 503 when the ledger is older than the skew allows, 500 when that lies before
 * 1970
 */
function checkSkew(ledgerUsecs: bigint, durationSecs: number): void {
  const nowUsecs = BigInt(Date.now()) * USECS_PER_MS;
  const oldestUsecs = nowUsecs - BigInt(durationSecs) * USECS_PER_SEC;
  if (oldestUsecs < 0n) {
    throw new ApiError(
      500,
      'internal_error',
      'Failed to determine absolute unix time based on given duration: ' +
        'second time provided was later than self',
    );
  }
  if (ledgerUsecs >= oldestUsecs) return;
  throw new ApiError(
    503,
    'health_check_failed',
    `The latest ledger info timestamp is ${formatDuration(ledgerUsecs)}, ` +
      `which is beyond the allowed skew (${durationSecs}s).`,
  );
}

/** The health check of load balancers. */
export const healthyEndpoint = defineEndpoint({
  operationId: 'healthy',
  tag: 'General',
  summary: 'Check basic node health',
  description:
    'Answers 200 when the node can read its ledger and, with `duration_secs`, when the ledger’s ' +
    'newest timestamp is not older than that.',
  method: 'GET',
  work: 'none',
  path: '/-/healthy',
  parameters: {
    duration_secs: queryParameter(U32, 'Greatest age of the newest version, in seconds.'),
  },
  // No `switchName`: A health check must not depend on what clients may ask for.
  results: {
    description: 'The node is healthy.',
    json: HealthSchema,
    bcs: 'A struct with one string.',
  },
  failures: [400, 500, 503],
  answer({ parameters, view, format }) {
    if (parameters.duration_secs !== undefined) {
      checkSkew(view.state.timestampUsecs, parameters.duration_secs);
    }
    const body =
      format === 'json'
        ? JSON.stringify({ message: HEALTHY })
        : encodeBcs((writer) => writer.string(HEALTHY));
    return { body };
  },
});
