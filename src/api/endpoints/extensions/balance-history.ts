/** `GET /v1/accounts/{address}/balance/{asset_type}/history` (docs/extensions.md). */
import {
  type BalanceChange,
  MAX_CHANGES_PER_PAGE,
} from '../../../ledger/balances/balance-history.ts';
import { andThen } from '../../../maybe-promise.ts';
import { BcsWriter } from '../../../move/bcs/bcs-writer.ts';
import { BalanceHistorySchema } from '../../schemas/extension-schemas.ts';
import { defineRead } from '../endpoint.ts';
import {
  ADDRESS,
  ASSET_TYPE,
  oneOf,
  PAGE_LIMIT,
  pageSize,
  pathParameter,
  queryParameter,
  U64,
  versionParameter,
} from '../parameters.ts';

const DEFAULT_CHANGES_PER_PAGE = 100;
const MAX_LENGTH_BYTES = 5;
/** Version, amount, timestamp. */
const CHANGE_BYTES = 3 * 8;

export const balanceHistoryEndpoint = defineRead({
  operationId: 'get_account_balance_history',
  tag: 'Accounts',
  summary: 'Get account balance history',
  description:
    'Retrieves every change of a balance: the versions after which it differs from what it was before, with the ' +
    'amount then and the timestamp of the block. Before its first change a balance is 0, and a deleted store has 0. ' +
    'On a pruned ledger the first entry is the balance at the oldest version, if it is not 0. An extension of this ' +
    'node.',
  isExtension: true,
  isDecidedByView: true,
  work: 'listing',
  path: '/accounts/{address}/balance/{asset_type}/history',
  parameters: {
    address: pathParameter(ADDRESS, 'Account whose balance is asked.'),
    asset_type: pathParameter(ASSET_TYPE, 'Coin type, or metadata address of a fungible asset.'),
    from_version: versionParameter(
      'First version; absent: the oldest that the ledger has of the account.',
    ),
    to_version: versionParameter('Last version; absent: the latest.'),
    start: queryParameter(U64, 'Cursor of the page before; absent: the first page.', '0'),
    limit: queryParameter(
      PAGE_LIMIT,
      `Most changes to return: ${DEFAULT_CHANGES_PER_PAGE} when absent, ${MAX_CHANGES_PER_PAGE} when above. A page may ` +
        'hold fewer and yet have a next one: the cursor says so.',
    ),
    order: queryParameter(
      oneOf('asc', 'desc'),
      '`asc`, the oldest change first, when absent; or `desc`.',
    ),
  },
  results: {
    description: 'A page of changes.',
    json: BalanceHistorySchema,
    bcs: 'A vector of version, amount and timestamp, a u64 each.',
  },
  hasCursor: true,
  answer({ parameters, view, format, pace }) {
    const { address, asset_type: asset, from_version: from, to_version: to, start } = parameters;
    const limit = pageSize(parameters.limit, DEFAULT_CHANGES_PER_PAGE, MAX_CHANGES_PER_PAGE);
    const isDescending = parameters.order === 'desc';
    const request = { address, asset, from, to, start, limit, isDescending, pace };
    return andThen(view.balanceHistory(request), ({ changes, next, isFinal }) => ({
      body: format === 'json' ? changesJson(changes) : changesBcs(changes),
      cursor: next?.toString(),
      isImmutable: isFinal && from !== undefined && to !== undefined,
    }));
  },
});

function changesJson(changes: readonly BalanceChange[]): string {
  const items = changes.map(
    ({ version, amount, timestampUsecs }) =>
      `{"version":"${version}","amount":"${amount}","timestamp":"${timestampUsecs}"}`,
  );
  return `[${items.join(',')}]`;
}

function changesBcs(changes: readonly BalanceChange[]): Uint8Array {
  const writer = new BcsWriter(MAX_LENGTH_BYTES + changes.length * CHANGE_BYTES);
  writer.vector(changes, (to, { version, amount, timestampUsecs }) =>
    to.u64(version).u64(amount).u64(timestampUsecs),
  );
  return writer.view();
}
