/**
 * `GET /v1/accounts/{address}` and the paths below it: resources, modules and balances
 * (docs/spec/http.md §1.5, §1.6, §5.5, §5.6, §8, §9), and their listings with a cursor
 * (docs/spec/ledger.md §5.4).
 */

import { type Cache, copiedBytes } from '../../cache.ts';
import type { Accounts, Listing } from '../../ledger/accounts/accounts.ts';
import type { ListingRequest } from '../../ledger/accounts/listing.ts';
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { formatHex } from '../../move/bcs/hex.ts';
import { contentDigest } from '../../move/crypto/hash.ts';
import type { StoredModule } from '../../state/stored-module.ts';
import type { Format } from '../negotiation.ts';
import {
  AccountSchema,
  BalanceSchema,
  ModuleSchema,
  ModulesSchema,
  ResourceSchema,
  ResourcesSchema,
} from '../schemas/schemas.ts';
import {
  type Answer,
  type AnyEndpoint,
  bytesOfAnswer,
  defineRead,
  type Endpoint,
} from './endpoint.ts';
import {
  ADDRESS,
  ASSET_TYPE,
  CURSOR,
  IDENTIFIER,
  LEDGER_VERSION,
  PAGE_LIMIT,
  pageSize,
  pathParameter,
  queryParameter,
  requireShallow,
  STRUCT_TAG,
  versionParameter,
} from './parameters.ts';

export const accountEndpoint = defineRead({
  operationId: 'get_account',
  tag: 'Accounts',
  summary: 'Get account',
  description:
    'Retrieves the sequence number and the authentication key of an account at a ledger version. Where ' +
    'the chain allows it, an account that was never created has sequence number 0 and its own address ' +
    'as key.',
  isDecidedByView: true,
  path: '/accounts/{address}',
  parameters: {
    address: pathParameter(ADDRESS, 'Account that is asked for.'),
    ledger_version: LEDGER_VERSION,
  },
  results: {
    description: 'The account.',
    json: AccountSchema,
    bcs: 'The stored bytes of 0x1::account::Account, or those of the default account.',
  },
  answer({ parameters: { address, ledger_version: requestedVersion }, view, format }) {
    const version = view.resolveVersion(requestedVersion, address);
    return andThen(view.accounts.account(address, version), (account) => {
      const json = (): string =>
        JSON.stringify({
          sequence_number: String(account.sequenceNumber),
          authentication_key: formatHex(account.authenticationKey),
        });
      return {
        body: format === 'json' ? json() : account.bytes,
        isImmutable: requestedVersion !== undefined,
      };
    });
  },
});

export const resourceEndpoint = defineRead({
  operationId: 'get_account_resource',
  tag: 'Accounts',
  summary: 'Get account resource',
  description:
    'Retrieves one resource of an account at a ledger version, whether it is stored by itself or in a ' +
    'resource group. A version below the oldest kept one is answered with 410.',
  isDecidedByView: true,
  path: '/accounts/{address}/resource/{resource_type}',
  parameters: {
    address: pathParameter(ADDRESS, 'Account that holds the resource.'),
    resource_type: pathParameter(STRUCT_TAG, 'Type of the resource.'),
    ledger_version: LEDGER_VERSION,
  },
  results: {
    description: 'The resource.',
    json: ResourceSchema,
    bcs: 'The stored bytes of the resource as they are, without a length.',
  },
  answer({
    parameters: { address, resource_type: tag, ledger_version: requestedVersion },
    view,
    format,
  }) {
    requireShallow('resource_type', tag);
    const version = view.resolveVersion(requestedVersion, address);
    return andThen(view.accounts.resource(address, tag, version), (resource) =>
      andThen<Answer['body'], Answer>(
        format === 'json' ? resource.json() : resource.bytes,
        (body) => ({ body, isImmutable: requestedVersion !== undefined }),
      ),
    );
  },
});

/** An account's balance of a coin or fungible asset at a version. */
export const balanceEndpoint = defineRead({
  operationId: 'get_account_balance',
  tag: 'Accounts',
  summary: 'Get account balance',
  description:
    'Retrieves the balance of a coin, its paired fungible asset included, or of a fungible asset ' +
    'in the primary store of an account. Unknown accounts and assets have 0.',
  isDecidedByView: 'whereFrozen',
  path: '/accounts/{address}/balance/{asset_type}',
  parameters: {
    address: pathParameter(ADDRESS, 'Account whose balance is asked.'),
    asset_type: pathParameter(ASSET_TYPE, 'Coin type, or metadata address of a fungible asset.'),
    ledger_version: LEDGER_VERSION,
  },
  results: {
    description: 'The balance, a bare number.',
    json: BalanceSchema,
    bcs: 'The balance as a u64, 8 bytes little-endian.',
  },
  answer({ parameters, view, format }) {
    const version = view.resolveVersion(parameters.ledger_version, parameters.address);
    const isImmutable = parameters.ledger_version !== undefined;
    const balance = view.balance(parameters.address, parameters.asset_type, version);
    return andThen(balance, (found) => answerOf(found, format, isImmutable));
  },
});

function answerOf(balance: bigint, format: Format, isImmutable: boolean): Answer {
  const text = balance.toString();
  // The number itself is the tag; hashing it would cost more than everything else.
  return format === 'json'
    ? { body: text, tagCore: text, isImmutable }
    : { body: encodeBcs((writer) => writer.u64(balance)), tagCore: `${text}-bcs`, isImmutable };
}

export const moduleEndpoint = defineRead({
  operationId: 'get_account_module',
  tag: 'Accounts',
  summary: 'Get account module',
  description:
    'Retrieves one module of an account at a ledger version: its bytecode and its interface. ' +
    'A version below the oldest kept one is answered with 410.',
  isDecidedByView: true,
  path: '/accounts/{address}/module/{module_name}',
  parameters: {
    address: pathParameter(ADDRESS, 'Account that holds the module.'),
    module_name: pathParameter(IDENTIFIER, 'Name of the module; case-sensitive.'),
    ledger_version: LEDGER_VERSION,
  },
  results: {
    description: 'The module.',
    json: ModuleSchema,
    bcs: 'The stored bytes of the module as they are, without a length.',
  },
  answer({ parameters, view, format, bodies }) {
    const { address, module_name: name, ledger_version: requestedVersion } = parameters;
    const version = view.resolveVersion(requestedVersion, address);
    return andThen(view.module(address, name, version), (module) => {
      const found = bodyOf(module, `${address}::${name}`, format, bodies);
      return requestedVersion === undefined
        ? found
        : andThen(found, (answer) => ({ ...answer, isImmutable: true }));
    });
  },
});

/** The module in a format. It is cached, because it does not change until the module is published again. */
function bodyOf(
  module: StoredModule,
  id: string,
  format: Format,
  bodies: Cache<Answer>,
): MaybePromise<Answer> {
  const make = (): Answer => {
    const body = format === 'json' ? copiedBytes(Buffer.from(module.json())) : module.bytes;
    return { body, tagCore: contentDigest(body), isReused: true };
  };
  return bodies.getOrMake(`${id}@${module.writtenAtVersion} ${format}`, make, bytesOfAnswer);
}

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
  extends Pick<Endpoint, 'operationId' | 'summary' | 'description' | 'results'> {
  readonly items: 'resources' | 'modules';
  list(accounts: Accounts, request: ListingRequest): MaybePromise<Listing>;
}

function listingEndpoint({ items, list, ...facts }: ListingEndpoint): AnyEndpoint {
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
      const { address, start, ledger_version: requestedVersion } = parameters;
      const version = view.resolveVersion(requestedVersion, address);
      const maximum = settings.maxAccountPageSize;
      const limit = pageSize(parameters.limit, maximum, maximum);
      return andThen(list(view.accounts, { address, version, start, limit, pace }), (page) =>
        andThen<Answer['body'], Answer>(format === 'json' ? page.json() : page.bcs(), (body) => ({
          body,
          cursor: page.cursor,
          isImmutable: requestedVersion !== undefined,
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
  results: {
    description: 'A page of resources.',
    json: ResourcesSchema,
    bcs: 'A map from struct tag to the bytes of the resource.',
  },
  list: (accounts, request) => accounts.resources(request),
});

export const modulesEndpoint = listingEndpoint({
  items: 'modules',
  operationId: 'get_account_modules',
  summary: 'Get account modules',
  description:
    'Retrieves the modules of an account at a ledger version, page by page: bytecode and interface. An ' +
    'account without modules has an empty page.',
  results: {
    description: 'A page of modules.',
    json: ModulesSchema,
    bcs: 'A map from `{address}::{name}`, a string, to the bytes of the module.',
  },
  list: (accounts, request) => accounts.modules(request),
});
