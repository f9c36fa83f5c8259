/**
 * Committed and pending transactions (docs/spec/transactions.md §1.3 to §1.8) and gas prices (§7). The list in BCS, the
 * stored bytes of `TransactionOnChainData`, is the feed that other nodes follow (docs/spec/ledger.md §3.1).
 */
import {
  summariesBcs,
  summariesJson,
  transactionBcs,
  transactionsBcs,
} from '../../ledger/history.ts';
import type { LedgerView } from '../../ledger/ledger-view.ts';
import { pendingBcs } from '../../ledger/transactions/pending.ts';
import { andThen, type MaybePromise, settle } from '../../maybe-promise.ts';
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { writeAuxiliaryInfo } from '../../move/transactions/auxiliary-info.ts';
import { LedgerError } from '../../state/ledger-error.ts';
import type { YieldBudget } from '../../yield-budget.ts';
import type { Format } from '../negotiation.ts';
import { TransactionSummariesSchema } from '../schemas/schemas.ts';
import { AuxiliaryInfosSchema, GasEstimationSchema } from '../schemas/state-schemas.ts';
import { TransactionSchema, TransactionsSchema } from '../schemas/transaction-schemas.ts';
import { type Answer, type Call, defineRead } from './endpoint.ts';
import { joinedAnswer } from './joined-answer.ts';
import {
  ADDRESS,
  FLAG,
  HASH,
  listLimit,
  listSize,
  pathParameter,
  queryParameter,
  requiredVersionParameter,
  U16,
  U64,
  versionParameter,
} from './parameters.ts';

const LIST = 'Get transactions';
/** Usual pages in one page for a follower. With a request for each usual page, these take an eighth of its time. */
const PAGES_OF_FEED = 10;

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
    limit: listLimit('transactions'),
    feed: queryParameter(
      FLAG,
      `For a node that follows: with \`true\`, the maximum in BCS is ${PAGES_OF_FEED} times as high. Any other text is ignored.`,
    ),
  },
  results: {
    description: 'The transactions.',
    json: TransactionsSchema,
    bcs: 'A vector of TransactionOnChainData.',
  },
  failures: [400, 403, 410, 500, 503],
  answer({ parameters, view, format, settings, pace }) {
    const { start, feed = false } = parameters;
    const limit = listSize(
      parameters.limit,
      settings,
      feed && format === 'bcs' ? PAGES_OF_FEED : 1,
    );
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

/** One committed transaction. It is marked as immutable if no later view shows it differently. */
function transactionAnswer(
  item: Buffer,
  view: LedgerView,
  format: Format,
  pace: YieldBudget,
): MaybePromise<Answer> {
  if (format === 'bcs') return { body: transactionBcs(item), isImmutable: true };
  return andThen(view.history.renderer.render(item, pace), ({ json, tagCore, isFinal }) =>
    isFinal ? { body: json, isImmutable: true, tagCore } : { body: json },
  );
}

export const auxiliaryInfoEndpoint = defineRead({
  operationId: 'get_transactions_auxiliary_info',
  tag: 'Transactions',
  summary: 'Get transactions auxiliary info',
  description:
    'Retrieves the index that each transaction has in its block, in ascending order of versions. It is ' +
    'null where the chain did not store it: for genesis, and for old transactions. A first version that ' +
    'was pruned is answered with 410.',
  isDecidedByView: true,
  work: 'listing',
  path: '/transactions/auxiliary_info',
  parameters: {
    start_version: requiredVersionParameter('First version.'),
    limit: listLimit('transactions'),
  },
  results: {
    description: 'What the chain stored with each transaction.',
    json: AuxiliaryInfosSchema,
    bcs: 'A vector of PersistedAuxiliaryInfo: variant 0, or variant 1 and the index, a u32.',
  },
  failures: [400, 403, 410, 500, 503],
  answer({ parameters, view, format, settings, pace }) {
    const limit = listSize(parameters.limit, settings);
    const found = view.transactionIndexes(parameters.start_version, limit, pace);
    return andThen(found, (indexes) => ({
      body:
        format === 'json'
          ? JSON.stringify(indexes.map((index) => ({ transaction_index: index ?? null })))
          : encodeBcs((writer) => writer.vector(indexes, writeAuxiliaryInfo)),
    }));
  },
});

const BY_HASH = 'Get transactions by hash';

/** The transaction at version 39 of the small sample ledger. */
const SAMPLE_HASH = '0xa7544971993fb40b6fe8053d4a9c5711e3fc901e1fd5effa434861e6b0472cb4';

const byHash = {
  tag: 'Transactions',
  parameters: { txn_hash: pathParameter(HASH, 'Hash of the transaction.', SAMPLE_HASH) },
  results: {
    description: 'The transaction.',
    json: TransactionSchema,
    bcs: 'Variant 0 (committed), then TransactionOnChainData.',
  },
  failures: [400, 403, 404, 500, 503],
} as const;

type HashCall = Call<(typeof byHash)['parameters'], undefined>;

/** The transaction with a hash, from this ledger or a pending one. @param canWait whether to wait for this ledger */
function lookUp(
  { parameters: { txn_hash: hash }, view, format, headers, pending, pace }: HashCall,
  canWait: boolean,
): MaybePromise<Answer> {
  return settle(
    () => view.history.transactionByHash(hash, BY_HASH),
    (found) => transactionAnswer(found, view, format, pace),
    async (failure) => {
      if (pending === undefined || !isNotFound(failure)) throw failure;
      const found = await pending.find({
        hash,
        headers,
        findCommitted: findCommitted(hash),
        canWait,
      });
      if (found === undefined) throw failure;
      const { state } = found.view;
      if (found.item !== undefined) {
        return { ...(await transactionAnswer(found.item, found.view, format, pace)), state };
      }
      const { signed } = found;
      if (format === 'bcs') return { body: pendingBcs(signed), state };
      return { body: await found.view.history.renderer.renderPending(signed, hash), state };
    },
  );
}

function findCommitted(hash: Buffer): (view: LedgerView) => MaybePromise<Buffer | undefined> {
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
    'A start that was pruned is answered with 410.',
  work: 'listing',
  path: '/accounts/{address}/transactions',
  parameters: {
    address: pathParameter(ADDRESS, 'Account that has sent them.'),
    start: queryParameter(U64, 'First sequence number; absent: the most recent page.'),
    limit: listLimit('transactions'),
  },
  results: {
    description: 'The transactions.',
    json: TransactionsSchema,
    bcs: 'A vector of TransactionOnChainData.',
  },
  failures: [400, 403, 410, 500, 503],
  answer({ parameters: { address, start, limit: requestedLimit }, view, format, settings, pace }) {
    const limit = listSize(requestedLimit, settings);
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
  results: {
    description: 'The summaries.',
    json: TransactionSummariesSchema,
    bcs: 'A vector of summaries, each as variant 0: sender, version, hash, replay protector.',
  },
  failures: [400, 403, 500, 503],
  answer({ parameters, view, settings, format }) {
    const { address, limit: requestedLimit, start_version: from, end_version: to } = parameters;
    const maximum = settings.maxPageSize;
    const limit = Math.min(requestedLimit ?? maximum, maximum);
    const request = { address, from, to, limit };
    const summaries = view.history.transactionSummaries(request, SUMMARIES);
    return andThen(summaries, (found) => ({
      body: format === 'json' ? summariesJson(address, found) : summariesBcs(address, found),
    }));
  },
});

export const estimateGasPriceEndpoint = defineRead({
  operationId: 'estimate_gas_price',
  tag: 'Transactions',
  summary: 'Estimate gas price',
  description:
    'Estimates the price of a unit of gas from the chain’s minimum and from the lowest prices in recent ' +
    'blocks that were full. Without stored transactions it follows from the minimum alone.',
  isDecidedByView: true,
  path: '/estimate_gas_price',
  parameters: {},
  results: {
    description: 'Three estimates.',
    json: GasEstimationSchema,
    bcs: 'The middle estimate alone, a u64.',
  },
  failures: [400, 403, 500, 503],
  async answer({ view, format }) {
    const { low, market, aggressive } = await view.gasPrices();
    // Numbers above 2^53 are exact only as text.
    const json =
      `{"deprioritized_gas_estimate":${low},"gas_estimate":${market},` +
      `"prioritized_gas_estimate":${aggressive}}`;
    return { body: format === 'json' ? json : encodeBcs((writer) => writer.u64(market)) };
  },
});
