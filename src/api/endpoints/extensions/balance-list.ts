/** `GET /v1/accounts/{address}/balances` (docs/extensions.md). */
import { type HeldBalance, MAX_BALANCES_PER_PAGE } from '../../../ledger/balances/balance-list.ts';
import { andThen } from '../../../maybe-promise.ts';
import { encodeBcs } from '../../../move/bcs/bcs-writer.ts';
import { formatAddress } from '../../../move/types/address.ts';
import { formatStructTag, writeStructTag } from '../../../move/types/type-tag.ts';
import { HeldBalancesSchema } from '../../schemas/extension-schemas.ts';
import { defineRead } from '../endpoint.ts';
import {
  ADDRESS,
  LEDGER_VERSION,
  PAGE_LIMIT,
  pageSize,
  pathParameter,
  queryParameter,
} from '../parameters.ts';

export const balancesEndpoint = defineRead({
  operationId: 'get_account_balances',
  tag: 'Accounts',
  summary: 'Get account balances',
  description:
    'Retrieves everything that an account holds in coin stores and primary stores, with the name, symbol and ' +
    'decimals of each asset, in the order of the addresses of their metadata. Assets of which the account has 0 ' +
    'are left out. An extension of this node.',
  isExtension: true,
  isDecidedByView: true,
  work: 'listing',
  path: '/accounts/{address}/balances',
  parameters: {
    address: pathParameter(ADDRESS, 'Account that holds the assets.'),
    ledger_version: LEDGER_VERSION,
    start: queryParameter(ADDRESS, 'Cursor of the page before; absent: the first page.', '0xa'),
    limit: queryParameter(
      PAGE_LIMIT,
      `Most assets to return: ${MAX_BALANCES_PER_PAGE} when absent or above. A page may hold fewer and yet have a ` +
        'next one: the cursor says so.',
    ),
  },
  results: {
    description: 'A page of balances.',
    json: HeldBalancesSchema,
    bcs:
      'A vector of the metadata’s address, an optional struct tag of the coin, the amount as a u64, and an optional ' +
      'name (string), symbol (string) and number of decimals (u8).',
  },
  hasCursor: true,
  answer({ parameters, view, format, pace }) {
    const { address, start, ledger_version: requestedVersion } = parameters;
    const version = view.resolveVersion(requestedVersion, address);
    const limit = pageSize(parameters.limit, MAX_BALANCES_PER_PAGE, MAX_BALANCES_PER_PAGE);
    const page = view.balances({ address, version, start, limit, pace });
    return andThen(page, ({ balances, next }) => ({
      body: format === 'json' ? JSON.stringify(balances.map(heldJson)) : heldBcs(balances),
      cursor: next && formatAddress(next),
      isImmutable: requestedVersion !== undefined,
    }));
  },
});

function heldJson({ metadata, coin, amount, unit }: HeldBalance) {
  return {
    asset_type: coin === undefined ? formatAddress(metadata) : formatStructTag(coin),
    metadata: formatAddress(metadata),
    amount: String(amount),
    ...unit,
  };
}

function heldBcs(balances: readonly HeldBalance[]): Buffer {
  return encodeBcs((writer) =>
    writer.vector(balances, (to, { metadata, coin, amount, unit }) =>
      to
        .address(metadata)
        .option(coin, writeStructTag)
        .u64(amount)
        .option(unit, (inner, { name, symbol, decimals }) =>
          inner.string(name).string(symbol).u8(decimals),
        ),
    ),
  );
}
