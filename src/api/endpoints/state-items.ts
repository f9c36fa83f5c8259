/**
 * `POST /v1/tables/{table_handle}/item` and `…/raw_item`, `POST /v1/experimental/state_values/raw`
 * (docs/spec/transactions.md §6).
 */

import {
  itemTypes,
  readKeyRequest,
  readTableItemRequest,
  verifyTableItemRequest,
} from '../../ledger/state/item-request.ts';
import { parseRequestText } from '../../submission/encode/index.ts';
import { requireJsonBody } from '../negotiation.ts';
import type { Schema } from '../schemas/json-schema.ts';
import { AnyValueSchema } from '../schemas/schemas.ts';
import {
  RawStateValueRequestSchema,
  RawTableItemRequestSchema,
  TableItemRequestSchema,
} from '../schemas/state-schemas.ts';
import { type BodyReader, defineSubmission, type FailureStatus } from './endpoint.ts';
import { ADDRESS, LEDGER_VERSION, pathParameter } from './parameters.ts';

const FAILURES: readonly FailureStatus[] = [400, 403, 404, 410, 413, 415, 500, 503];
/** The table that has the supply of the native coin, on every chain (docs/spec/ledger.md §5.9). */
const SUPPLY_TABLE = '0x1b854694ae746cdbd8d44186ca4929b2b337df21d1c74633be19b2710552fdca';
const HANDLE = {
  table_handle: pathParameter(ADDRESS, 'Handle of the table, an address.', SUPPLY_TABLE),
};
const VERSION = { ledger_version: LEDGER_VERSION };

export const tableItemEndpoint = defineSubmission({
  operationId: 'get_table_item',
  tag: 'Tables',
  summary: 'Get table item',
  description:
    'Retrieves an item of a table at a ledger version. The key is given as JSON with its type; the ' +
    'value is shown by the type that the request gives. A table does not say which types it has: a ' +
    'wrong key type finds nothing.',
  path: '/tables/{table_handle}/item',
  parameters: HANDLE,
  laterParameters: VERSION,
  body: {
    schema: TableItemRequestSchema,
    read(bytes, headers) {
      requireJsonBody(headers['content-type']);
      return readTableItemRequest(parseRequestText(bytes));
    },
    check: verifyTableItemRequest,
  },
  results: {
    description: 'The value of the item.',
    json: AnyValueSchema,
    bcs: 'The stored bytes of the value as they are, without a length.',
  },
  failures: FAILURES,
  async answer({
    parameters: { table_handle: handle, ledger_version: requestedVersion },
    body,
    view,
    format,
  }) {
    verifyTableItemRequest(body);
    const types = itemTypes(body);
    const version = view.resolveVersion(requestedVersion);
    const item = await view.stateItems.tableItem(handle, types, body.key, version);
    return { body: format === 'json' ? await item.json() : item.bytes };
  },
});

export const rawTableItemEndpoint = defineSubmission({
  operationId: 'get_raw_table_item',
  tag: 'Tables',
  summary: 'Get raw table item',
  description:
    'Retrieves an item of a table at a ledger version, as BCS. The key is given as the hex of its BCS.',
  path: '/tables/{table_handle}/raw_item',
  parameters: HANDLE,
  laterParameters: VERSION,
  body: keyBody('RawTableItemRequest', RawTableItemRequestSchema),
  operation: 'Get raw table item',
  results: {
    description: 'The value of the item.',
    bcs: 'The stored bytes of the value as they are, without a length.',
  },
  failures: FAILURES,
  async answer({
    parameters: { table_handle: handle, ledger_version: requestedVersion },
    body,
    view,
  }) {
    const version = view.resolveVersion(requestedVersion);
    return { body: await view.stateItems.rawTableItem(handle, body, version) };
  },
});

export const rawStateValueEndpoint = defineSubmission({
  operationId: 'get_raw_state_value',
  tag: 'General',
  summary: 'Get raw state value',
  description:
    'Retrieves the value of any state key at a ledger version, as BCS with its metadata. The key is ' +
    'given as the hex of the BCS of a StateKey.',
  path: '/experimental/state_values/raw',
  parameters: {},
  laterParameters: VERSION,
  body: keyBody('RawStateValueRequest', RawStateValueRequestSchema),
  operation: 'Get raw state value',
  results: {
    description: 'The value.',
    bcs: 'A StateValue: variant, byte vector, and in variant 1 the metadata.',
  },
  failures: FAILURES,
  async answer({ parameters: { ledger_version: requestedVersion }, body, view }) {
    return { body: await view.stateItems.rawStateValue(body, requestedVersion) };
  },
});

/** A body whose only member is a key in hex. @param name its name in error messages */
function keyBody(name: string, schema: Schema): BodyReader<Buffer> {
  return {
    schema,
    read(bytes, headers) {
      requireJsonBody(headers['content-type']);
      return readKeyRequest(name, parseRequestText(bytes));
    },
  };
}
