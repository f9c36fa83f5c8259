/** `GET /v1/accounts/{address}` (docs/spec/http.md §1.5). */
import { formatHex } from '../../move/bcs/hex.ts';
import { AccountSchema } from '../schemas/schemas.ts';
import { defineEndpoint, READ_FAILURES } from './endpoint.ts';
import { ADDRESS, pathParameter, queryParameter, U64 } from './parameters.ts';

/** An account's sequence number and authentication key. */
export const accountEndpoint = defineEndpoint({
  operationId: 'get_account',
  tag: 'Accounts',
  summary: 'Get account',
  description:
    'Retrieves the sequence number and the authentication key of an account at a ledger version. Where ' +
    'the chain allows it, an account that was never created has sequence number 0 and its own address ' +
    'as key.',
  method: 'GET',
  isDecidedByView: true,
  path: '/accounts/{address}',
  parameters: {
    address: pathParameter(ADDRESS, 'Account that is asked for.'),
    ledger_version: queryParameter(U64, 'Version to read at; the latest when absent.'),
  },
  switchName: 'Get account',
  results: {
    description: 'The account.',
    json: AccountSchema,
    bcs: 'The stored bytes of 0x1::account::Account, or those of the default account.',
  },
  failures: READ_FAILURES,
  async answer({ parameters, view, format }) {
    const version = view.resolveVersion(parameters.ledger_version, parameters.address);
    const account = await view.accounts.account(parameters.address, version);
    const pinned = parameters.ledger_version !== undefined;
    if (format === 'bcs') return { body: account.bytes, pinned };
    const body = JSON.stringify({
      sequence_number: String(account.sequenceNumber),
      authentication_key: formatHex(account.authenticationKey),
    });
    return { body, pinned };
  },
});
