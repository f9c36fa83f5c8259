/** Transactions by hash, and those that an account has sent (docs/spec/transactions.md §1.5 to §1.7). */
import { summariesBcs, summariesJson, transactionsBcs } from '../../ledger/history.ts';
import { LedgerError } from '../../ledger/ledger-error.ts';
import type { LedgerView } from '../../ledger/ledger-view.ts';
import { pendingBcs } from '../../ledger/transactions/pending.ts';
import { andThen, type MaybePromise, settle } from '../../maybe-promise.ts';
import { TransactionSummariesSchema } from '../schemas/schemas.ts';
import { TransactionSchema, TransactionsSchema } from '../schemas/transaction-schemas.ts';
import { DEFAULT_PAGE_SIZE } from '../settings.ts';
import { type Answer, type Call, defineRead } from './endpoint.ts';
import { joinedAnswer } from './joined-answer.ts';
import {
  ADDRESS,
  HASH,
  PAGE_LIMIT,
  pageSize,
  pathParameter,
  queryParameter,
  U16,
  U64,
  versionParameter,
} from './parameters.ts';
import { transactionAnswer } from './transactions.ts';

const BY_HASH = 'Get transactions by hash';

/** Of version 3 of the small sample ledger. */
const SAMPLE_HASH = '0xb3619b08ac12a51abcbf4408ada324ac71e61c7cf00374ed5cad3413f10f826f';

const byHash = {
  tag: 'Transactions',
  parameters: { txn_hash: pathParameter(HASH, 'Hash of the transaction.', SAMPLE_HASH) },
  switchName: BY_HASH,
  results: {
    description: 'The transaction.',
    json: TransactionSchema,
    bcs: 'Variant 0 (committed), then TransactionOnChainData.',
  },
  failures: [400, 403, 404, 500, 503],
} as const;

type LookUp = Call<(typeof byHash)['parameters'], undefined>;

/** The transaction with a hash, of this ledger or else of the upstream. @param waits for this ledger to have it */
function lookUp(
  { parameters: { txn_hash: hash }, view, format, headers, pending, pace }: LookUp,
  waits: boolean,
): MaybePromise<Answer> {
  return settle(
    () => view.history.transactionByHash(hash, BY_HASH),
    (found) => transactionAnswer(found, view, format, pace),
    async (failure) => {
      if (pending === undefined || !isNotFound(failure)) throw failure;
      const found = await pending.find({ hash, headers, own: ownedBy(hash), waits });
      if (found === undefined) throw failure;
      const { state } = found.view;
      if (found.item !== undefined) {
        return { ...(await transactionAnswer(found.item, found.view, format, pace)), state };
      }
      const { signed } = found;
      if (format === 'bcs') return { body: pendingBcs(signed), state };
      return { body: await found.view.history.renderedPending(signed, hash), state };
    },
  );
}

/** Looks for a transaction in a view; undefined where it is not. */
function ownedBy(hash: Buffer): (view: LedgerView) => MaybePromise<Buffer | undefined> {
  return (view) =>
    settle<Buffer, Buffer | undefined>(
      () => view.history.transactionByHash(hash, BY_HASH),
      (item) => item,
      (failure) => {
        if (!isNotFound(failure)) throw failure;
        return undefined;
      },
    );
}

function isNotFound(failure: unknown): boolean {
  return failure instanceof LedgerError && failure.code === 'transaction_not_found';
}

export const transactionByHashEndpoint = defineRead({
  ...byHash,
  operationId: 'get_transaction_by_hash',
  summary: 'Get transaction by hash',
  description:
    'Retrieves the transaction with a hash: the answer for its version. An unknown hash and that of a ' +
    'pruned transaction are answered with 404. A node with an upstream asks it for what it does not have; ' +
    'the answer is then a pending transaction until this node has it too.',
  path: '/transactions/by_hash/{txn_hash}',
  answer: (call) => lookUp(call, false),
});

export const waitTransactionByHashEndpoint = defineRead({
  ...byHash,
  operationId: 'wait_transaction_by_hash',
  isNeverBatched: true,
  summary: 'Wait for transaction by hash',
  description:
    'The same answer as by hash, but for a pending transaction it comes when this node has it, or after a ' +
    'second. Only a node with an upstream knows of pending ones.',
  path: '/transactions/wait_by_hash/{txn_hash}',
  answer: (call) => lookUp(call, true),
});

const ACCOUNT_TRANSACTIONS = 'Get account transactions';

export const accountTransactionsEndpoint = defineRead({
  operationId: 'get_account_transactions',
  tag: 'Transactions',
  summary: 'Get account transactions',
  description:
    'Retrieves the transactions that an account has sent with sequence numbers, in ascending order. ' +
    'Transactions without one are not among them, nor those that the account only signed or paid for. ' +
    'Pruned ones are left out.',
  work: 'listing',
  path: '/accounts/{address}/transactions',
  parameters: {
    address: pathParameter(ADDRESS, 'Account that has sent them.'),
    start: queryParameter(U64, 'First sequence number; absent: the most recent page.'),
    limit: queryParameter(
      PAGE_LIMIT,
      'Most transactions to return: 25 when absent; above the node’s maximum (100 by default) it is ' +
        'reduced to that.',
    ),
  },
  switchName: ACCOUNT_TRANSACTIONS,
  results: {
    description: 'The transactions.',
    json: TransactionsSchema,
    bcs: 'A vector of TransactionOnChainData.',
  },
  failures: [400, 403, 500, 503],
  answer({ parameters: { address, start, limit: asked }, view, format, settings, pace }) {
    const limit = pageSize(asked, DEFAULT_PAGE_SIZE, settings.maxTransactionsPageSize);
    const request = { address, start, limit };
    const items = view.history.accountTransactions(request, ACCOUNT_TRANSACTIONS, pace);
    return andThen(items, (found) => {
      if (format === 'bcs') return joinedAnswer(transactionsBcs(found), pace);
      return andThen(view.history.renderedArray(found, pace), (json) => joinedAnswer(json, pace));
    });
  },
});

const SUMMARIES = 'Get account transaction summaries';

export const transactionSummariesEndpoint = defineRead({
  operationId: 'get_account_transaction_summaries',
  tag: 'Transactions',
  summary: 'Get account transaction summaries',
  description:
    'Retrieves version, hash and replay protector of the transactions that an account has sent, in ' +
    'ascending order of their versions: from a first version on, or the last ones up to a version. ' +
    'Pruned ones are left out.',
  work: 'listing',
  path: '/accounts/{address}/transaction_summaries',
  parameters: {
    address: pathParameter(ADDRESS, 'Account that has sent them.'),
    start_version: versionParameter('First version; the end is then ignored.'),
    end_version: versionParameter('Last version; absent: the latest.'),
    limit: queryParameter(
      U16,
      'Most summaries to return: the node’s maximum (100 by default) when absent or larger.',
    ),
  },
  switchName: SUMMARIES,
  results: {
    description: 'The summaries.',
    json: TransactionSummariesSchema,
    bcs: 'A vector of summaries, each as variant 0: sender, version, hash, replay protector.',
  },
  failures: [400, 403, 500, 503],
  answer({ parameters, view, settings, format }) {
    const { address, limit: asked, start_version: from, end_version: to } = parameters;
    const maximum = settings.maxTransactionsPageSize;
    const limit = Math.min(asked ?? maximum, maximum);
    const request = { address, from, to, limit };
    const summaries = view.history.transactionSummaries(request, SUMMARIES);
    return andThen(summaries, (found) => ({
      body: format === 'json' ? summariesJson(address, found) : summariesBcs(address, found),
    }));
  },
});
