/** `GET /v1/blocks/by_height/{block_height}` and `…/by_version/{version}` (docs/spec/ledger.md §3.2). */
import { type BlockAnswer, blockBcs, blockJson } from '../../ledger/history.ts';
import type { LedgerView } from '../../ledger/ledger-view.ts';
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import { BlockSchema } from '../schemas/transaction-schemas.ts';
import { type AnyEndpoint, defineRead, type Endpoint } from './endpoint.ts';
import { joinedAnswer } from './joined-answer.ts';
import { BOOLEAN, PLAIN_U64, pathParameter, queryParameter } from './parameters.ts';

interface BlockEndpoint extends Pick<Endpoint, 'operationId' | 'summary' | 'description' | 'path'> {
  /** The operation's name in errors. */
  readonly operation: string;
  /** Name and description of the path parameter. */
  readonly parameter: readonly [name: string, description: string];
  find(view: LedgerView, number: bigint): MaybePromise<BlockAnswer>;
}

function blockEndpoint({
  operation: lookupName,
  parameter,
  find,
  ...facts
}: BlockEndpoint): AnyEndpoint {
  const [name, description] = parameter;
  const operation = `${lookupName} with transactions`;
  return defineRead({
    ...facts,
    tag: 'Blocks',
    isDecidedByView: true,
    work: 'listing',
    parameters: {
      [name]: pathParameter(PLAIN_U64, description),
      with_transactions: queryParameter(
        BOOLEAN,
        'Whether to give the transactions of the block, too; no more than the node’s maximum ' +
          '(10,000 by default) from the first version on, and as JSON no more than 64 MiB.',
      ),
    },
    results: {
      description: 'The block.',
      json: BlockSchema,
      bcs:
        'Height u64, hash 32 bytes, time u64 (µs), first and last version u64, option of the vector of ' +
        'TransactionOnChainData.',
    },
    answer({ parameters, view, format, settings, pace }) {
      const withTransactions = parameters.with_transactions === true;
      return andThen(find(view, parameters[name] as bigint), (block) => {
        if (!withTransactions) {
          return joinedAnswer(format === 'json' ? blockJson(block) : blockBcs(block), pace);
        }
        const most = settings.maxBlockTransactionsPageSize;
        const count = Math.min(Number(block.lastVersion - block.firstVersion) + 1, most);
        if (format === 'json') {
          const pieces = view.history.transactionsJson(block.firstVersion, count, operation, pace);
          return andThen(pieces, (found) => joinedAnswer(blockJson(block, found), pace));
        }
        const transactions = view.history.transactions(block.firstVersion, count, operation, pace);
        return andThen(transactions, (items) => joinedAnswer(blockBcs(block, items), pace));
      });
    },
  });
}

export const blockByHeightEndpoint = blockEndpoint({
  operationId: 'get_block_by_height',
  summary: 'Get blocks by height',
  description: 'Retrieves a block by its height: hash, time and versions. A pruned one is a 410.',
  path: '/blocks/by_height/{block_height}',
  parameter: ['block_height', 'Height of the block; genesis has 0.'],
  operation: 'Get block by height',
  find: (view, height) => view.history.blockByHeight(height),
});

export const blockByVersionEndpoint = blockEndpoint({
  operationId: 'get_block_by_version',
  summary: 'Get blocks by version',
  description:
    'Retrieves the block that a version belongs to: hash, time and versions. A pruned one is a 410.',
  path: '/blocks/by_version/{version}',
  parameter: ['version', 'A version in the block.'],
  operation: 'Get block by version',
  find: (view, version) => view.history.blockByVersion(version),
});
