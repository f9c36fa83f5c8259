/** `GET /v1` and `GET /v1/`: the ledger's state (docs/spec/http.md §1.3). */
import type { LedgerState } from '../../ledger/ledger-view.ts';
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { IndexSchema } from '../schemas/schemas.ts';
import type { ApiSettings } from '../settings.ts';
import { defineRead } from './endpoint.ts';

/** Variant indices of `node_role` in BCS. */
const NODE_ROLES: readonly ApiSettings['nodeRole'][] = ['validator', 'full_node'];

function indexJson(state: LedgerState, settings: ApiSettings): string {
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

/** The first eight members; every u64 is a string of digits in BCS, too. */
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
  switchName: 'Get ledger info',
  results: {
    description: 'The state of the ledger.',
    json: IndexSchema,
    bcs: 'The first eight members in order: a byte, strings of digits, the variant of node_role.',
  },
  failures: [403, 500, 503],
  answer({ view, format, settings }) {
    const form = format === 'json' ? indexJson : indexBcs;
    return { body: form(view.state, settings) };
  },
});
