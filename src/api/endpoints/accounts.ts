/** `GET /v1/accounts/{address}` and `…/resource/{resource_type}` (docs/spec/http.md §1.5, §1.6). */
import { andThen } from '../../maybe-promise.ts';
import { formatHex } from '../../move/bcs/hex.ts';
import { AccountSchema, ResourceSchema } from '../schemas/schemas.ts';
import { type Answer, defineRead } from './endpoint.ts';
import {
  ADDRESS,
  LEDGER_VERSION,
  pathParameter,
  requireShallow,
  STRUCT_TAG,
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
  switchName: 'Get account',
  results: {
    description: 'The account.',
    json: AccountSchema,
    bcs: 'The stored bytes of 0x1::account::Account, or those of the default account.',
  },
  answer({ parameters: { address, ledger_version: asked }, view, format }) {
    const version = view.resolveVersion(asked, address);
    return andThen(view.accounts.account(address, version), (account) => {
      const json = (): string =>
        JSON.stringify({
          sequence_number: String(account.sequenceNumber),
          authentication_key: formatHex(account.authenticationKey),
        });
      return { body: format === 'json' ? json() : account.bytes, pinned: asked !== undefined };
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
  switchName: 'Get account resource',
  results: {
    description: 'The resource.',
    json: ResourceSchema,
    bcs: 'The stored bytes of the resource as they are, without a length.',
  },
  answer({ parameters: { address, resource_type: tag, ledger_version: asked }, view, format }) {
    requireShallow('resource_type', tag);
    const version = view.resolveVersion(asked, address);
    return andThen(view.accounts.resource(address, tag, version), (resource) =>
      andThen<Answer['body'], Answer>(
        format === 'json' ? resource.json() : resource.bytes,
        (body) => ({ body, pinned: asked !== undefined }),
      ),
    );
  },
});
