/** `GET /v1/blocks/by_height/{block_height}` and `…/by_version/{version}` (docs/spec/ledger.md §3.2). */
import type { BlockAnswer } from '../../ledger/history.ts';
import { blockBcs, blockJson } from '../../ledger/history.ts';
import type { LedgerView } from '../../ledger/ledger-view.ts';
import type { Format } from '../http/negotiation.ts';
import { BlockSchema } from '../schemas/schemas.ts';
import type { ApiSettings } from '../settings.ts';
import { type Answer, defineEndpoint, onlyAccepts, READ_FAILURES } from './endpoint.ts';
import { BOOLEAN, PLAIN_U64, pathParameter, queryParameter } from './parameters.ts';

const WITH_TRANSACTIONS = queryParameter(
  BOOLEAN,
  'Whether to give the transactions of the block, too; only as BCS, and no more than the node’s ' +
    'maximum (10,000 by default) from the first version on.',
);
const BCS_FORM =
  'Height u64, hash 32 bytes, time u64 (µs), first and last version u64, option of the vector of ' +
  'TransactionOnChainData.';

/** What a block endpoint knows besides the block. */
interface BlockCall {
  readonly view: LedgerView;
  readonly format: Format;
  readonly settings: ApiSettings;
  readonly withTransactions: boolean;
  readonly operation: string;
}

/** JSON of transactions is refused before the ledger is looked at, like an output that is switched off. */
function refuseJson(withTransactions: boolean, format: Format, operation: string): void {
  if (withTransactions && format === 'json')
    throw onlyAccepts(`${operation} with transactions`, 'BCS');
}

async function answerBlock(block: BlockAnswer, call: BlockCall): Promise<Answer> {
  if (call.format === 'json') return { body: blockJson(block) };
  if (!call.withTransactions) return { body: blockBcs(block) };
  const most = BigInt(call.settings.maxBlockTransactionsPageSize);
  const count = block.lastVersion - block.firstVersion + 1n;
  const transactions = await call.view.history.transactions(
    block.firstVersion,
    Number(count < most ? count : most),
    `${call.operation} with transactions`,
  );
  return { body: blockBcs(block, transactions) };
}

const BY_HEIGHT = 'Get block by height';

/** A block by its height. */
export const blockByHeightEndpoint = defineEndpoint({
  operationId: 'get_block_by_height',
  tag: 'Blocks',
  summary: 'Get blocks by height',
  description: 'Retrieves a block by its height: hash, time and versions. A pruned one is a 410.',
  method: 'GET',
  isDecidedByView: true,
  work: 'listing',
  path: '/blocks/by_height/{block_height}',
  parameters: {
    block_height: pathParameter(PLAIN_U64, 'Height of the block; genesis has 0.'),
    with_transactions: WITH_TRANSACTIONS,
  },
  switchName: BY_HEIGHT,
  results: { description: 'The block.', json: BlockSchema, bcs: BCS_FORM },
  failures: READ_FAILURES,
  async answer({ parameters, ...call }) {
    const withTransactions = parameters.with_transactions === true;
    refuseJson(withTransactions, call.format, BY_HEIGHT);
    const block = await call.view.history.blockByHeight(parameters.block_height);
    return answerBlock(block, { ...call, withTransactions, operation: BY_HEIGHT });
  },
});

const BY_VERSION = 'Get block by version';

/** The block that a version belongs to. */
export const blockByVersionEndpoint = defineEndpoint({
  operationId: 'get_block_by_version',
  tag: 'Blocks',
  summary: 'Get blocks by version',
  description:
    'Retrieves the block that a version belongs to: hash, time and versions. A pruned one is a 410.',
  method: 'GET',
  isDecidedByView: true,
  work: 'listing',
  path: '/blocks/by_version/{version}',
  parameters: {
    version: pathParameter(PLAIN_U64, 'A version in the block.'),
    with_transactions: WITH_TRANSACTIONS,
  },
  switchName: BY_VERSION,
  results: { description: 'The block.', json: BlockSchema, bcs: BCS_FORM },
  failures: READ_FAILURES,
  async answer({ parameters, ...call }) {
    const withTransactions = parameters.with_transactions === true;
    refuseJson(withTransactions, call.format, BY_VERSION);
    const block = await call.view.history.blockByVersion(parameters.version);
    return answerBlock(block, { ...call, withTransactions, operation: BY_VERSION });
  },
});
