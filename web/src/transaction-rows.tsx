/** Transactions in a table: what each did, in one line. */
import type { Transaction } from './answers.ts';
import { useAnswer } from './ask.tsx';
import { AccountId, DeclaredName, Time, VersionId } from './ids.tsx';
import { groupDigits } from './number-text.ts';
import { Table } from './parts.tsx';
import { transactionRequest } from './requests.ts';

/** `block metadata` for what is not a user's. */
export function kindText({ type }: Transaction): string {
  return type.replaceAll('_', ' ').replace(' transaction', '');
}

/** The function that a transaction calls, also through a multisig account. */
export function calledFunction({ payload }: Transaction): string | undefined {
  const inner = payload?.['transaction_payload'] as typeof payload;
  return payload?.function ?? inner?.function;
}

const COLUMNS = ['#Version', 'What', 'Sender', 'Time', 'Status', '#Gas used'];

interface RowsProps {
  /** A version is asked for by its row. */
  readonly rows: readonly (Transaction | string)[];
  readonly caption: string;
}

export function TransactionRows({ rows, caption }: RowsProps) {
  return (
    <Table style="transactions cards" caption={caption} columns={COLUMNS}>
      {rows.map((row) =>
        typeof row === 'string' ? (
          <AskedRow key={row} version={row} />
        ) : (
          <Row key={row.version} transaction={row} />
        ),
      )}
    </Table>
  );
}

function AskedRow({ version }: { version: string }) {
  const { json } = useAnswer<Transaction>(transactionRequest(version));
  if (json !== undefined) return <Row transaction={json} />;
  return (
    <tr>
      <td class="number">
        <VersionId version={version} />
      </td>
      <td colSpan={5} aria-busy="true" />
    </tr>
  );
}

function Row({ transaction }: { transaction: Transaction }) {
  const { version = '', timestamp, gas_used = '', payload, type, sender, proposer } = transaction;
  const called = calledFunction(transaction);
  const kind = payload?.type.replace('_payload', '').replaceAll('_', ' ');
  const account = sender ?? proposer;
  return (
    <tr>
      <td class="number">
        <VersionId version={version} />
      </td>
      <td>
        {called && <DeclaredName name={called} />}
        {!called && (type === 'user_transaction' ? (kind ?? 'user') : kindText(transaction))}
      </td>
      <td>{account && <AccountId hex={account} />}</td>
      <td class="when">
        <Time usecs={timestamp} />
      </td>
      <td>
        <Status transaction={transaction} />
      </td>
      <td class="number">{groupDigits(gas_used)}</td>
    </tr>
  );
}

/** In a table one word; in full what the machine said. */
export function Status({ transaction, full }: { transaction: Transaction; full?: boolean }) {
  const { success, vm_status = '' } = transaction;
  return (
    <span class={success ? 'outcome good' : 'outcome bad'} title={vm_status}>
      {success ? 'success' : 'failed'}
      {full && `: ${vm_status}`}
    </span>
  );
}
