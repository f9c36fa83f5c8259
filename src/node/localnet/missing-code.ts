/** What the log of a local network says where a transaction needs code that the default framework lacks. */
import type { Logger } from 'pino';
import { functionOf } from '../../chain/gas-report.ts';
import type { TransactionOutput } from '../../execution/execute.ts';
import type { SignedTransaction } from '../../move/transactions/user-transaction.ts';
import { STATUS } from '../../vm/status/status.ts';

const MISSING = [STATUS.LINKER_ERROR, STATUS.FUNCTION_RESOLUTION_FAILURE].map(BigInt);
const REMEDY = {
  remedy: 'begin with another framework: --genesis FILE or URL, or --fork with the URL of a node',
};

export function warnOfMissingCode(
  logger: Logger,
  { raw }: SignedTransaction,
  { status }: TransactionOutput,
): void {
  if (status.kind !== 'miscellaneousError' || !MISSING.includes(status.statusCode ?? 0n)) return;
  const facts = { function: functionOf(raw), ...REMEDY };
  logger.warn(facts, 'a transaction has failed: it needs code that is not in this ledger');
}
