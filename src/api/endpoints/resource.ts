/** `GET /v1/accounts/{address}/resource/{resource_type}` (docs/spec/http.md §1.6). */

import { ResourceSchema } from '../schemas/schemas.ts';
import { defineEndpoint, READ_FAILURES } from './endpoint.ts';
import {
  ADDRESS,
  pathParameter,
  queryParameter,
  requireShallow,
  STRUCT_TAG,
  U64,
} from './parameters.ts';

/** One resource of an account. */
export const resourceEndpoint = defineEndpoint({
  operationId: 'get_account_resource',
  tag: 'Accounts',
  summary: 'Get account resource',
  description:
    'Retrieves one resource of an account at a ledger version, whether it is stored by itself or in a ' +
    'resource group. A version below the oldest kept one is answered with 410.',
  method: 'GET',
  isDecidedByView: true,
  path: '/accounts/{address}/resource/{resource_type}',
  parameters: {
    address: pathParameter(ADDRESS, 'Account that holds the resource.'),
    resource_type: pathParameter(STRUCT_TAG, 'Type of the resource.'),
    ledger_version: queryParameter(U64, 'Version to read at; the latest when absent.'),
  },
  switchName: 'Get account resource',
  results: {
    description: 'The resource.',
    json: ResourceSchema,
    bcs: 'The stored bytes of the resource as they are, without a length.',
  },
  failures: READ_FAILURES,
  async answer({ parameters, view, format }) {
    const { address, resource_type: tag } = parameters;
    requireShallow('resource_type', tag);
    const version = view.resolveVersion(parameters.ledger_version, address);
    const resource = await view.accounts.resource(address, tag, version);
    const body = format === 'json' ? await resource.json() : resource.bytes;
    return { body, pinned: parameters.ledger_version !== undefined };
  },
});
