/** `GET /v1/transactions/auxiliary_info` (docs/spec/transactions.md §1.8). */
import { andThen } from '../../maybe-promise.ts';
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { writeAuxiliaryInfo } from '../../move/transactions/auxiliary-info.ts';
import { AuxiliaryInfosSchema } from '../schemas/state-schemas.ts';
import { DEFAULT_PAGE_SIZE } from '../settings.ts';
import { defineRead } from './endpoint.ts';
import { PAGE_LIMIT, pageSize, queryParameter, requiredVersionParameter } from './parameters.ts';

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
    limit: queryParameter(
      PAGE_LIMIT,
      'Most transactions to return: 25 when absent; above the node’s maximum (100 by default) it is ' +
        'reduced to that.',
    ),
  },
  switchName: 'Get transactions auxiliary info',
  results: {
    description: 'What the chain stored with each transaction.',
    json: AuxiliaryInfosSchema,
    bcs: 'A vector of PersistedAuxiliaryInfo: variant 0, or variant 1 and the index, a u32.',
  },
  failures: [400, 403, 410, 500, 503],
  answer({ parameters, view, format, settings, pace }) {
    const limit = pageSize(parameters.limit, DEFAULT_PAGE_SIZE, settings.maxTransactionsPageSize);
    const found = view.transactionIndexes(parameters.start_version, limit, pace);
    return andThen(found, (indexes) => ({
      body:
        format === 'json'
          ? JSON.stringify(indexes.map((index) => ({ transaction_index: index ?? null })))
          : encodeBcs((writer) => writer.vector(indexes, writeAuxiliaryInfo)),
    }));
  },
});
