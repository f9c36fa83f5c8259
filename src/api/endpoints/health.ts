/**
 * `GET /v1/-/healthy` (docs/spec/http.md §1.4): whether the node is up to date, and facts of the node.
 */

import type { LedgerState } from '../../ledger/ledger-view.ts';
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { ApiError } from '../error-table.ts';
import { HealthSchema, IndexSchema } from '../schemas/schemas.ts';
import { NodeInfoSchema } from '../schemas/state-schemas.ts';
import type { ApiSettings } from '../settings.ts';
import { defineRead } from './endpoint.ts';
import { queryParameter, U32 } from './parameters.ts';

/** The interface's text, the reference's name included (docs/spec/http.md §13). */
const HEALTHY = 'aptos-node:ok';
const USECS_PER_MS = 1000n;
const USECS_PER_SEC = 1_000_000n;

/** A time since 1970 as the reference prints durations: `1700000000.123456s`, `1.5ms`, `7µs`, `0ns`. */
function formatDuration(usecs: bigint): string {
  if (usecs === 0n) return '0ns';
  if (usecs < USECS_PER_MS) return `${usecs}µs`;
  const [unit, perUnit, digits] =
    usecs < USECS_PER_SEC ? (['ms', USECS_PER_MS, 3] as const) : (['s', USECS_PER_SEC, 6] as const);
  const fraction = (usecs % perUnit).toString().padStart(digits, '0').replace(/0+$/, '');
  return `${usecs / perUnit}${fraction === '' ? '' : `.${fraction}`}${unit}`;
}

/** @throws ApiError 503 if the ledger is older than the skew allows, 500 if the skew reaches back before 1970 */
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

export const healthyEndpoint = defineRead({
  operationId: 'healthy',
  isNeverBatched: true,
  tag: 'General',
  summary: 'Check basic node health',
  description:
    'Answers 200 when the node can read its ledger and, with `duration_secs`, when the ledger’s ' +
    'newest timestamp is not older than that.',
  work: 'none',
  path: '/-/healthy',
  parameters: {
    duration_secs: queryParameter(
      U32,
      'Greatest age of the newest version, in seconds.',
      1_000_000_000,
    ),
  },
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

/** Variant indices of `node_role` in BCS. */
const NODE_ROLES: readonly ApiSettings['nodeRole'][] = ['validator', 'full_node'];

export function indexJson(state: LedgerState, settings: ApiSettings): string {
  return JSON.stringify({
    chain_id: state.chainId,
    epoch: String(state.epoch),
    ledger_version: String(state.version),
    oldest_ledger_version: String(state.oldestVersion),
    ledger_timestamp: String(state.timestampUsecs),
    node_role: settings.nodeRole,
    oldest_block_height: String(state.oldestBlockHeight),
    block_height: String(state.blockHeight),
    git_hash: settings.gitHash,
    encryption_key: null,
  });
}

/** The first eight members; every u64 is a string of digits in BCS too. */
function indexBcs(state: LedgerState, settings: ApiSettings): Buffer {
  return encodeBcs((writer) =>
    writer
      .u8(state.chainId)
      .string(String(state.epoch))
      .string(String(state.version))
      .string(String(state.oldestVersion))
      .string(String(state.timestampUsecs))
      .uleb32(NODE_ROLES.indexOf(settings.nodeRole))
      .string(String(state.oldestBlockHeight))
      .string(String(state.blockHeight)),
  );
}

export const ledgerInfoEndpoint = defineRead({
  operationId: 'get_ledger_info',
  tag: 'General',
  summary: 'Get ledger info',
  description: 'Chain id, latest and oldest version, block and epoch of the ledger.',
  path: '/',
  parameters: {},
  results: {
    description: 'The state of the ledger.',
    json: IndexSchema,
    bcs: 'The first eight members in order: a byte, strings of digits, the variant of node_role.',
  },
  failures: [400, 403, 500, 503],
  answer({ view, format, settings }) {
    const form = format === 'json' ? indexJson : indexBcs;
    return { body: form(view.state, settings) };
  },
});

/** Names of chains by their ids; others are named by the id. */
const CHAIN_NAMES: ReadonlyMap<number, string> = new Map([
  [1, 'mainnet'],
  [2, 'testnet'],
  [3, 'devnet'],
  [4, 'testing'],
  [5, 'premainnet'],
]);
const NODE_TYPES = { validator: 'Validator', full_node: 'PublicFullnode' } as const;
/** The value of the reference: this node indexes each transaction in the commit that stores it. */
const INDEXER_BATCH_SIZE = 10_000;

export const infoEndpoint = defineRead({
  operationId: 'info',
  tag: 'General',
  summary: 'Show some basic info of the node',
  description: 'How the node gets and stores its ledger. Always JSON.',
  path: '/info',
  parameters: {},
  results: { description: 'Facts of the node.', json: NodeInfoSchema },
  failures: [400, 500, 503],
  answer({ view, settings }) {
    const { chainId } = view.state;
    const body = JSON.stringify({
      chain_id: CHAIN_NAMES.get(chainId) ?? String(chainId),
      node_type: NODE_TYPES[settings.nodeRole],
      bootstrapping_mode: 'ApplyTransactionOutputsFromGenesis',
      continuous_syncing_mode: 'ApplyTransactionOutputs',
      new_storage_format: true,
      internal_indexer_config: {
        enable_transaction: true,
        enable_event: true,
        enable_event_v2_translation: true,
        event_v2_translation_ignores_below_version: 0,
        enable_statekeys: true,
        batch_size: INDEXER_BATCH_SIZE,
        runtime_threads: null,
      },
    });
    return { body };
  },
});
