/** Transactions in a table: what each did, in one line. */
import type { JsonValue } from '../../src/move/json/json-text.ts';
import { useAnswer } from './ask.ts';
import { AccountId, FunctionName, Time, VersionId } from './ids.tsx';
import { field, textField } from './json-fields.ts';
import { transactionRequest } from './ledger-requests.ts';
import { groupDigits } from './number-text.ts';

/** A transaction's JSON, or its version when the row has to ask for it. */
export type RowSource = JsonValue;

/** `block metadata transaction` for what is not a user's. */
export function kindText(transaction: JsonValue): string {
  return (textField(transaction, 'type') ?? '').replaceAll('_', ' ').replace(' transaction', '');
}

/** The function that a transaction calls, also through a multisig account. */
export function calledFunction(transaction: JsonValue): string | undefined {
  const payload = field(transaction, 'payload');
  const inner = field(payload, 'transaction_payload');
  return textField(payload, 'function') ?? textField(inner, 'function');
}

export function TransactionRows({
  rows,
  caption,
}: {
  rows: readonly RowSource[];
  caption: string;
}) {
  return (
    <table class="transactions cards">
      <caption class="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          <th scope="col" class="number">
            Version
          </th>
          <th scope="col">What</th>
          <th scope="col">Sender</th>
          <th scope="col">Time</th>
          <th scope="col">Status</th>
          <th scope="col" class="number">
            Gas used
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) =>
          typeof row === 'string' ? (
            <AskedRow key={row} version={row} />
          ) : (
            <Row key={textField(row, 'version')} transaction={row} />
          ),
        )}
      </tbody>
    </table>
  );
}

function AskedRow({ version }: { version: string }) {
  const { json } = useAnswer(transactionRequest(version));
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

function Row({ transaction }: { transaction: JsonValue }) {
  const called = calledFunction(transaction);
  const sender = textField(transaction, 'sender') ?? textField(transaction, 'proposer');
  return (
    <tr>
      <td class="number">
        <VersionId version={textField(transaction, 'version') ?? ''} />
      </td>
      <td>{called === undefined ? payloadText(transaction) : <FunctionName name={called} />}</td>
      <td>{sender && <AccountId hex={sender} />}</td>
      <td class="when">
        <Time usecs={textField(transaction, 'timestamp')} />
      </td>
      <td>
        <Status transaction={transaction} />
      </td>
      <td class="number">{groupDigits(textField(transaction, 'gas_used') ?? '')}</td>
    </tr>
  );
}

function payloadText(transaction: JsonValue): string {
  const kind = textField(field(transaction, 'payload'), 'type');
  if (textField(transaction, 'type') !== 'user_transaction') return kindText(transaction);
  return kind?.replace('_payload', '').replaceAll('_', ' ') ?? 'user';
}

/** In a table one word; in full what the machine said. */
export function Status({ transaction, full }: { transaction: JsonValue; full?: boolean }) {
  const isSuccess = field(transaction, 'success') === true;
  const said = textField(transaction, 'vm_status') ?? '';
  return (
    <span class={isSuccess ? 'outcome good' : 'outcome bad'} title={said}>
      {isSuccess ? 'success' : 'failed'}
      {full && `: ${said}`}
    </span>
  );
}
