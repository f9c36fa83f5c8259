/** Transactions in a table: action, senders, recipients and amounts. */

import type { Transaction } from '../asking/answers.ts';
import { useAnswer } from '../asking/ask.tsx';
import { transactionRequest } from '../asking/requests.ts';
import { Amount, Summary } from '../assets/amounts.tsx';
import { AccountId, DeclaredName, Time, VersionId } from '../parts/ids.tsx';
import { counted, shortHex } from '../parts/number-text.ts';
import { Table } from '../parts/parts.tsx';
import { feeOf, NATIVE_ASSET, netChangesOf, shortAddress } from './movements.ts';
import { calledFunction, kindText, summaryOf, type Transfer, transfersOf } from './summary.ts';

const COLUMNS = ['#Version', 'When (UTC)', 'What', 'From', 'To', '#Amount', '#Fee'];

interface RowsProps {
  /** A row requests its transaction if it only has the version. */
  readonly rows: readonly (Transaction | string)[];
  readonly caption: string;
  /** The account whose changes are shown as amounts; absent: all movements. */
  readonly account?: string;
}

export function TransactionRows({ rows, caption, account }: RowsProps) {
  const of = account === undefined ? {} : { account: shortAddress(account) };
  return (
    <Table style="transactions cards" caption={caption} columns={COLUMNS}>
      {rows.map((row) =>
        typeof row === 'string' ? (
          <AskedRow key={row} version={row} {...of} />
        ) : (
          <Row key={row.version} transaction={row} {...of} />
        ),
      )}
    </Table>
  );
}

function AskedRow({ version, ...of }: { version: string; account?: string }) {
  const { json, failure } = useAnswer<Transaction>(transactionRequest(version));
  if (json !== undefined) return <Row transaction={json} {...of} />;
  return (
    <tr>
      <td class="number">
        <VersionId version={version} />
      </td>
      <td colSpan={COLUMNS.length - 1} aria-busy={failure === undefined}>
        {failure instanceof Error && failure.message}
      </td>
    </tr>
  );
}

interface RowProps {
  readonly transaction: Transaction;
  readonly account?: string;
}

function Row({ transaction, account }: RowProps) {
  const { version = '', timestamp, sender, proposer } = transaction;
  const from = sender ?? proposer;
  const fee = feeOf(transaction);
  const transfers = transfersOf(transaction);
  return (
    <tr>
      <td class="number">
        <VersionId version={version} />
      </td>
      <td class="when">
        <Time usecs={timestamp} isRelative />
      </td>
      <td class="what">
        <What transaction={transaction} isTransfer={transfers.length > 0} />
      </td>
      <td class="from">{from && <AccountId hex={from} isBrief />}</td>
      <td class="to">
        <Recipients transfers={transfers} sender={shortAddress(from ?? '')} />
      </td>
      <td class="number sums">
        {account === undefined ? (
          <Moved transfers={transfers} />
        ) : (
          <Changed {...{ transaction, account }} />
        )}
      </td>
      <td class="number fee">{fee && <Amount asset={NATIVE_ASSET} amount={fee.octas} />}</td>
    </tr>
  );
}

/** The called function, and a summary unless the other cells already say it. */
function What({ transaction, isTransfer }: { transaction: Transaction; isTransfer: boolean }) {
  const called = calledFunction(transaction);
  const { type, success, payload } = transaction;
  const pieces = summaryOf(transaction);
  const isSaid =
    success !== false &&
    (isTransfer || pieces.some((one) => typeof one === 'object' && 'call' in one));
  const kind = payload?.type.replace('_payload', '').replaceAll('_', ' ');
  return (
    <>
      {called ? (
        <DeclaredName name={called} isBrief />
      ) : (
        <span>{type === 'user_transaction' ? (kind ?? 'user') : kindText(transaction)}</span>
      )}
      {!isSaid && (
        <span class={success === false ? 'outcome bad' : 'hint'}>
          <Summary pieces={pieces} />
        </span>
      )}
    </>
  );
}

function Recipients({ transfers, sender }: { transfers: readonly Transfer[]; sender: string }) {
  const all = new Set(transfers.flatMap(({ to }) => to));
  const others = [...all].filter((owner) => owner !== sender);
  const [first = [...all][0]] = others;
  if (first === undefined) return null;
  if (others.length > 1) {
    return <span title={others.map(shortHex).join(', ')}>{counted(others.length, 'account')}</span>;
  }
  return <AccountId hex={first} isBrief />;
}

/** The first asset that moved. */
function Moved({ transfers }: { transfers: readonly Transfer[] }) {
  const [first] = transfers;
  if (first === undefined) return null;
  return (
    <>
      <Amount asset={first.asset} amount={first.amount} />
      {transfers.length > 1 && <span class="hint"> +{transfers.length - 1}</span>}
    </>
  );
}

/** The account's balance changes, including the fee. */
function Changed({ transaction, account }: Required<RowProps>) {
  const changes = netChangesOf(transaction).filter(({ owner }) => owner === account);
  return (
    <>
      {changes.map(({ asset, amount }) => (
        <span key={asset} class="line-of-sum">
          <Amount asset={asset} amount={amount} isChange />
        </span>
      ))}
    </>
  );
}

/** One word in a table; the complete VM status in full mode. */
export function Status({ transaction, full }: { transaction: Transaction; full?: boolean }) {
  const { success, vm_status = '' } = transaction;
  return (
    <span class={success ? 'outcome good' : 'outcome bad'} title={vm_status}>
      {success ? 'success' : 'failed'}
      {full && `: ${vm_status}`}
    </span>
  );
}
