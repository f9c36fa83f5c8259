/** `GET /v1/accounts/{address}/balance/{asset_type}` (docs/spec/http.md §5.6, §9). */
import { andThen } from '../../maybe-promise.ts';
import type { Format } from '../http/negotiation.ts';
import { BalanceSchema } from '../schemas/schemas.ts';
import { type Answer, defineRead } from './endpoint.ts';
import { ADDRESS, ASSET_TYPE, LEDGER_VERSION, pathParameter } from './parameters.ts';

const U64_BYTES = 8;

function littleEndian(value: bigint): Buffer {
  const bytes = Buffer.alloc(U64_BYTES);
  bytes.writeBigUInt64LE(value);
  return bytes;
}

/** An account's balance of a coin or fungible asset at a version. */
export const balanceEndpoint = defineRead({
  operationId: 'get_account_balance',
  tag: 'Accounts',
  summary: 'Get account balance',
  description:
    'Retrieves the balance of a coin, its paired fungible asset included, or of a fungible asset ' +
    'in the primary store of an account. Unknown accounts and assets have 0.',
  isDecidedByView: 'pinned',
  path: '/accounts/{address}/balance/{asset_type}',
  parameters: {
    address: pathParameter(ADDRESS, 'Account whose balance is asked.'),
    asset_type: pathParameter(ASSET_TYPE, 'Coin type, or metadata address of a fungible asset.'),
    ledger_version: LEDGER_VERSION,
  },
  switchName: 'Get account balance',
  results: {
    description: 'The balance, a bare number.',
    json: BalanceSchema,
    bcs: 'The balance as a u64, 8 bytes little-endian.',
  },
  answer({ parameters, view, format }) {
    const version = view.resolveVersion(parameters.ledger_version, parameters.address);
    const pinned = parameters.ledger_version !== undefined;
    const balance = view.balance(parameters.address, parameters.asset_type, version);
    return andThen(balance, (found) => answerOf(found, format, pinned));
  },
});

function answerOf(balance: bigint, format: Format, pinned: boolean): Answer {
  const text = balance.toString();
  // The number itself is the tag; hashing it would cost more than everything else.
  return format === 'json'
    ? { body: text, tagCore: text, pinned }
    : { body: littleEndian(balance), tagCore: `${text}-bcs`, pinned };
}
