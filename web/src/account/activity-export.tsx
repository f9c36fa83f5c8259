/** An account's activity as a file: one line per change of a balance, and one per transaction without any. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Transaction } from '../asking/answers.ts';
import { send } from '../asking/api-client.ts';
import { parseJson } from '../asking/exact-json.ts';
import { headAbove } from '../asking/live-ledger.ts';
import { transactionRequest } from '../asking/requests.ts';
import { unitOf } from '../assets/assets.ts';
import { csvLines } from '../events/event-file.ts';
import { amountText, counted, timeText } from '../parts/number-text.ts';
import { announce, Failure } from '../parts/parts.tsx';
import { saveFile } from '../parts/save-file.ts';
import { feeOf, netChangesOf, shortAddress } from '../transactions/movements.ts';
import { calledFunction } from '../transactions/summary.ts';
import { readActivity } from './account-activity.ts';

/** Maximum number of transactions in a file. */
const MAX_EXPORTED = 1_000;
/** Transactions requested at once. */
const AT_ONCE = 25;

const COLUMNS = ['version', 'time', 'hash', 'success', 'function', 'sender', 'fee_octas'];
const CHANGE_COLUMNS = ['asset', 'symbol', 'change', 'change_in_smallest_unit', 'counterparties'];

interface ExportProps {
  readonly address: string;
  readonly before: bigint | undefined;
}

export function ActivityExport({ address, before }: ExportProps) {
  const [said, setSaid] = useState('');
  const [failure, setFailure] = useState<unknown>();
  const run = useRef(new AbortController());
  useEffect(() => () => run.current.abort(), []);
  const save = async (): Promise<void> => {
    setFailure(undefined);
    const { signal } = run.current;
    try {
      const { lines, count, isCut } = await collect({ address, before }, signal, setSaid);
      const name = `account-${address.slice(0, 18)}.csv`;
      saveFile(csvLines([[...COLUMNS, ...CHANGE_COLUMNS], ...lines]), 'text/csv', name);
      const newest = isCut ? 'the newest ' : '';
      setSaid(`${newest}${counted(count, 'transaction')} saved as ${name}`);
      announce(`${counted(count, 'transaction')} saved`);
    } catch (error) {
      if (signal.aborted) return;
      setSaid('');
      setFailure(error);
    }
  };
  return (
    <span class="export">
      <button type="button" class="quiet" onClick={() => void save()}>
        Export CSV
      </button>
      {said !== '' && <span class="hint">{said}</span>}
      {failure !== undefined && <Failure title="Nothing was exported" error={failure} />}
    </span>
  );
}

async function collect(
  { address, before }: ExportProps,
  signal: AbortSignal,
  onProgress: (text: string) => void,
) {
  const { oldest_ledger_version } = await headAbove(-1n, signal);
  const oldest = BigInt(oldest_ledger_version);
  const lines: string[][] = [];
  let count = 0;
  let next: bigint | undefined = before;
  do {
    const options = { address, before: next, limit: AT_ONCE, oldest };
    const page = await readActivity(options, signal);
    const found = await Promise.all(
      page.versions.map(async (version) => {
        const { text } = await send(transactionRequest(version), signal);
        return await linesOf(parseJson<Transaction>(text), shortAddress(address));
      }),
    );
    lines.push(...found.flat());
    count += page.versions.length;
    onProgress(`${counted(count, 'transaction')} so far…`);
    next = page.next;
  } while (next !== undefined && count < MAX_EXPORTED);
  return { lines, count, isCut: next !== undefined };
}

async function linesOf(transaction: Transaction, account: string): Promise<string[][]> {
  const { version = '', timestamp = '0', hash, success, sender = '' } = transaction;
  const fee = feeOf(transaction);
  const paid = fee?.payer === account ? String(fee.octas) : '';
  const time = timeText(BigInt(timestamp));
  const called = calledFunction(transaction) ?? '';
  const facts = [version, time, hash, String(success), called, sender, paid];
  const net = netChangesOf(transaction);
  const own = net.filter(({ owner }) => owner === account);
  if (own.length === 0) return [[...facts, '', '', '', '', '']];
  return await Promise.all(
    own.map(async ({ asset, amount }) => {
      const unit = await unitOf(asset);
      const digits = amount < 0n ? -amount : amount;
      const text = `${amount < 0n ? '-' : ''}${amountText(digits, unit?.decimals ?? 0)}`;
      const others = net.filter((one) => one.asset === asset && one.owner !== account);
      const owners = others.map(({ owner }) => owner).join(' ');
      const change = [text.replaceAll(',', ''), String(amount)];
      return [...facts, asset, unit?.symbol ?? '', ...change, owners];
    }),
  );
}
