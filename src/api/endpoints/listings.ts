/** `GET /v1/accounts/{address}/resources` and `…/modules`, with a cursor (docs/spec/ledger.md §5.4). */
import type { Accounts, Listing } from '../../ledger/accounts/accounts.ts';
import type { ListingRequest } from '../../ledger/accounts/listing.ts';
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import { ModulesSchema, ResourcesSchema } from '../schemas/schemas.ts';
import type { ApiSettings } from '../settings.ts';
import { type Answer, type AnyEndpoint, defineRead, type Endpoint } from './endpoint.ts';
import {
  ADDRESS,
  CURSOR,
  PAGE_LIMIT,
  pageSize,
  pathParameter,
  queryParameter,
  versionParameter,
} from './parameters.ts';

/** Cursors of `0x1::block::BlockResource` and `0x1::coin`. */
const CURSORS = {
  resources:
    '000000000000000000000000000000000000000000000000000000000000000001' +
    '3601000000000000000000000000000000000000000000000000000000000000000105626c6f636b0d426c6f636b5265736f7572636500',
  modules:
    '000000000000000000000000000000000000000000000000000000000000000001' +
    '2600000000000000000000000000000000000000000000000000000000000000000104636f696e',
};

interface ListingEndpoint
  extends Pick<Endpoint, 'operationId' | 'summary' | 'description' | 'switchName' | 'results'> {
  readonly items: 'resources' | 'modules';
  maximum(settings: ApiSettings): number;
  list(accounts: Accounts, request: ListingRequest): MaybePromise<Listing>;
}

function listingEndpoint({ items, maximum, list, ...facts }: ListingEndpoint): AnyEndpoint {
  return defineRead({
    ...facts,
    tag: 'Accounts',
    isDecidedByView: true,
    work: 'listing',
    path: `/accounts/{address}/${items}`,
    parameters: {
      address: pathParameter(ADDRESS, `Account that holds the ${items}.`),
      ledger_version: versionParameter(
        'Version to read at; the latest when absent. Pages of one walk should name the same.',
      ),
      start: queryParameter(
        CURSOR,
        'Cursor of the page before; absent: the first page.',
        CURSORS[items],
      ),
      limit: queryParameter(
        PAGE_LIMIT,
        `Most state keys of ${items} to return: 9999 when absent or above, unless the node’s maximum ` +
          'is another. A page may hold fewer and yet have a next one: the cursor says so.',
      ),
    },
    hasCursor: true,
    answer({ parameters, view, format, settings, pace }) {
      const { address, start, ledger_version: asked } = parameters;
      const version = view.resolveVersion(asked, address);
      const limit = pageSize(parameters.limit, maximum(settings), maximum(settings));
      return andThen(list(view.accounts, { address, version, start, limit, pace }), (page) =>
        andThen<Answer['body'], Answer>(format === 'json' ? page.json() : page.bcs(), (body) => ({
          body,
          cursor: page.cursor,
          pinned: asked !== undefined,
        })),
      );
    },
  });
}

export const resourcesEndpoint = listingEndpoint({
  items: 'resources',
  operationId: 'get_account_resources',
  summary: 'Get account resources',
  description:
    'Retrieves the resources of an account at a ledger version, page by page. Resources in groups are ' +
    'shown like others; a group counts once. An account without resources has an empty page.',
  switchName: 'Get account resources',
  results: {
    description: 'A page of resources.',
    json: ResourcesSchema,
    bcs: 'A map from struct tag to the bytes of the resource.',
  },
  maximum: (settings) => settings.maxAccountResourcesPageSize,
  list: (accounts, request) => accounts.resources(request),
});

export const modulesEndpoint = listingEndpoint({
  items: 'modules',
  operationId: 'get_account_modules',
  summary: 'Get account modules',
  description:
    'Retrieves the modules of an account at a ledger version, page by page: bytecode and interface. An ' +
    'account without modules has an empty page.',
  switchName: 'Get account modules',
  results: {
    description: 'A page of modules.',
    json: ModulesSchema,
    bcs: 'A map from `{address}::{name}`, a string, to the bytes of the module.',
  },
  maximum: (settings) => settings.maxAccountModulesPageSize,
  list: (accounts, request) => accounts.modules(request),
});
