/** `GET /v1/accounts/{address}/resources` and `…/modules`, with a cursor (docs/spec/ledger.md §5.4). */
import type { Listing } from '../../ledger/accounts/accounts.ts';
import type { ListingRequest } from '../../ledger/accounts/listing.ts';
import type { Address } from '../../move/types/address.ts';
import { ModulesSchema, ResourcesSchema } from '../schemas/schemas.ts';
import { type Answer, type Call, defineEndpoint, READ_FAILURES } from './endpoint.ts';
import {
  ADDRESS,
  CURSOR,
  type Parameter,
  pageSize,
  pathParameter,
  queryParameter,
  U16,
  U64,
} from './parameters.ts';

interface ListingParameters {
  readonly [name: string]: Parameter<unknown>;
  readonly address: Parameter<Address>;
  readonly ledger_version: Parameter<bigint | undefined>;
  readonly start: Parameter<Buffer | undefined>;
  readonly limit: Parameter<number | undefined>;
}

function listingParameters(items: string): ListingParameters {
  return {
    address: pathParameter(ADDRESS, `Account that holds the ${items}.`),
    ledger_version: queryParameter(
      U64,
      'Version to read at; the latest when absent. Pages of one walk should name the same.',
    ),
    start: queryParameter(CURSOR, 'Cursor of the page before; absent: the first page.'),
    limit: queryParameter(
      U16,
      `Most state keys of ${items} to return: 9999 when absent or above, unless the node’s maximum ` +
        'is another. A page may hold fewer and yet have a next one: the cursor says so.',
    ),
  };
}

async function answerPage(
  { parameters, view, format }: Call<ListingParameters, undefined>,
  maximum: number,
  list: (request: ListingRequest) => Promise<Listing>,
): Promise<Answer> {
  const { address, start } = parameters;
  const version = view.resolveVersion(parameters.ledger_version, address);
  const limit = pageSize(parameters.limit, maximum, maximum);
  const page = await list({ address, version, start, limit });
  return {
    body: format === 'json' ? await page.json() : page.bcs(),
    cursor: page.cursor,
    pinned: parameters.ledger_version !== undefined,
  };
}

/** The resources of an account. */
export const resourcesEndpoint = defineEndpoint({
  operationId: 'get_account_resources',
  tag: 'Accounts',
  summary: 'Get account resources',
  description:
    'Retrieves the resources of an account at a ledger version, page by page. Resources in groups are ' +
    'shown like others; a group counts once. An account without resources has an empty page.',
  method: 'GET',
  isDecidedByView: true,
  work: 'listing',
  path: '/accounts/{address}/resources',
  parameters: listingParameters('resources'),
  switchName: 'Get account resources',
  results: {
    description: 'A page of resources.',
    json: ResourcesSchema,
    bcs: 'A map from struct tag to the bytes of the resource.',
  },
  hasCursor: true,
  failures: READ_FAILURES,
  answer: (call) =>
    answerPage(call, call.settings.maxAccountResourcesPageSize, (request) =>
      call.view.accounts.resources(request),
    ),
});

/** The modules of an account. */
export const modulesEndpoint = defineEndpoint({
  operationId: 'get_account_modules',
  tag: 'Accounts',
  summary: 'Get account modules',
  description:
    'Retrieves the modules of an account at a ledger version, page by page: bytecode and interface. An ' +
    'account without modules has an empty page.',
  method: 'GET',
  isDecidedByView: true,
  work: 'listing',
  path: '/accounts/{address}/modules',
  parameters: listingParameters('modules'),
  switchName: 'Get account modules',
  results: {
    description: 'A page of modules.',
    json: ModulesSchema,
    bcs: 'A map from `{address}::{name}`, a string, to the bytes of the module.',
  },
  hasCursor: true,
  failures: READ_FAILURES,
  answer: (call) =>
    answerPage(call, call.settings.maxAccountModulesPageSize, (request) =>
      call.view.accounts.modules(request),
    ),
});
