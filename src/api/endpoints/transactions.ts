/**
 * `GET /v1/transactions` and `…/by_version/{txn_version}` (docs/spec/transactions.md §1.3, §1.4). As BCS, stored bytes
 * of `TransactionOnChainData`, the list is the feed that other nodes follow (docs/spec/ledger.md §3.1).
 */
import { transactionBcs, transactionsBcs } from '../../ledger/history.ts';
import type { LedgerView } from '../../ledger/ledger-view.ts';
import type { Pace } from '../../ledger/pace.ts';
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import type { Format } from '../http/negotiation.ts';
import { TransactionSchema, TransactionsSchema } from '../schemas/transaction-schemas.ts';
import { DEFAULT_PAGE_SIZE } from '../settings.ts';
import { type Answer, defineRead } from './endpoint.ts';
import { joinedAnswer } from './joined-answer.ts';
import {
  PAGE_LIMIT,
  pageSize,
  pathParameter,
  queryParameter,
  U64,
  versionParameter,
} from './parameters.ts';

const LIST = 'Get transactions';

export const transactionsEndpoint = defineRead({
  operationId: 'get_transactions',
  tag: 'Transactions',
  summary: 'Get transactions',
  description:
    'Retrieves transactions with their infos, events and writes, in ascending order of their versions. ' +
    'A first version that was pruned is answered with 410; a ledger that was made without its ' +
    'transactions answers 403.',
  work: 'listing',
  path: '/transactions',
  parameters: {
    start: versionParameter('First version; absent: the most recent page.'),
    limit: queryParameter(
      PAGE_LIMIT,
      'Most transactions to return: 25 when absent; above the node’s maximum (100 by default) it is ' +
        'reduced to that.',
    ),
  },
  switchName: LIST,
  results: {
    description: 'The transactions.',
    json: TransactionsSchema,
    bcs: 'A vector of TransactionOnChainData.',
  },
  failures: [400, 403, 410, 500, 503],
  answer({ parameters, view, format, settings, pace }) {
    const { start } = parameters;
    const limit = pageSize(parameters.limit, DEFAULT_PAGE_SIZE, settings.maxTransactionsPageSize);
    if (format === 'json') {
      const pieces = view.history.transactionsJson(start, limit, LIST, pace);
      return andThen(pieces, (found) => joinedAnswer(found, pace));
    }
    const items = view.history.transactions(start, limit, LIST, pace);
    return andThen(items, (found) => joinedAnswer(transactionsBcs(found), pace));
  },
});

const BY_VERSION = 'Get transactions by version';

export const transactionByVersionEndpoint = defineRead({
  operationId: 'get_transaction_by_version',
  tag: 'Transactions',
  summary: 'Get transaction by version',
  description:
    'Retrieves the transaction of one version with its info, events and writes. A pruned one is ' +
    'answered with 410; a ledger that was made without its transactions answers 403.',
  isDecidedByView: true,
  path: '/transactions/by_version/{txn_version}',
  parameters: { txn_version: pathParameter(U64, 'Version of the transaction.') },
  switchName: BY_VERSION,
  results: {
    description: 'The transaction.',
    json: TransactionSchema,
    bcs: 'Variant 0 (committed), then TransactionOnChainData.',
  },
  answer({ parameters, view, format, pace }) {
    const item = view.history.transaction(parameters.txn_version, BY_VERSION);
    return andThen(item, (found) => transactionAnswer(found, view, format, pace));
  },
});

/** One committed transaction. What no later view shows differently is marked as final. */
export function transactionAnswer(
  item: Buffer,
  view: LedgerView,
  format: Format,
  pace: Pace,
): MaybePromise<Answer> {
  if (format === 'bcs') return { body: transactionBcs(item), pinned: true };
  return andThen(view.history.rendered(item, pace), ({ json, tagCore, isFinal }) =>
    isFinal ? { body: json, pinned: true, tagCore } : { body: json },
  );
}
