/** `daybook statement`: what many accounts held at a time. */
import { type Command, InvalidArgumentError } from 'commander';
import { parseTimeText } from '../../api/endpoints/time-text.ts';
import { MAX_BALANCES_PER_PAGE } from '../../ledger/balances/balance-list.ts';
import type { LedgerView } from '../../ledger/ledger-view.ts';
import { type Address, formatAddress } from '../../move/types/address.ts';
import { formatStructTag } from '../../move/types/type-tag.ts';
import { NodeError } from '../node-error.ts';
import { countText, withProgress } from '../progress.ts';
import { accountsOfFile } from '../settings/account-list.ts';
import { addReport, addSettingOption, describe, u64 } from './command-line.ts';
import { withLedgerView } from './ledger-question.ts';

/** Largest file of accounts, in bytes: about a million. */
const MAX_ACCOUNTS_FILE_BYTES = 72 * 1024 * 1024;
/** Most lines of a statement: they become one text, of about 200 MB. */
const MAX_STATEMENT_LINES = 1_000_000;
const COLUMNS = ['account', 'asset_type', 'amount', 'symbol', 'decimals'] as const;

interface StatementFlags {
  readonly accounts?: string;
  /** Microseconds since 1970. */
  readonly at?: bigint;
  readonly version?: bigint;
}

type Row = Readonly<Record<(typeof COLUMNS)[number], string | number | undefined>>;

export function define(command: Command): void {
  describe(command, {
    about:
      'A line for each asset that an account held, in its smallest unit; an account without a line ' +
      'held nothing. A time is that of the last block at or before it. It works while a node serves ' +
      'the ledger.',
    examples: [
      'statement --accounts customers.txt --at 2026-01-01T00:00:00Z > statement.csv',
      'statement --accounts customers.txt --version 1000000 --json',
    ],
  });
  addSettingOption(command, 'data')
    .option('--accounts <file>', 'file of addresses, one per line; # starts a comment')
    .option('--at <time>', 'as 2026-01-01T00:00:00Z; default: the newest version', usecs)
    .option('--version <number>', 'version of the state, in place of a time', u64('a version'));
  addReport<StatementFlags>(command, async ({ accounts: file, at, version }, { data }) => {
    if (file === undefined) throw wrongUsage('say whose: --accounts FILE');
    if (at !== undefined && version !== undefined) {
      throw wrongUsage('the state is that of a time or of a version: give --at or --version');
    }
    const accounts = new Set(accountsOfFile(file, MAX_ACCOUNTS_FILE_BYTES));
    return await withLedgerView(data, async (view) => {
      const state = at === undefined ? undefined : await view.versionAtTime(at);
      const shown = view.resolveVersion(state?.version ?? version);
      const rows = await statementOf(view, accounts, shown);
      const time = state && new Date(Number(state.timestampUsecs / 1_000n)).toISOString();
      return {
        facts: { ledger_version: shown, ...(time && { block_time: time }), balances: rows },
        text: csvText(rows),
      };
    });
  });
}

function usecs(text: string): bigint {
  const found = parseTimeText(text);
  if (found === undefined) throw new InvalidArgumentError('expected 2026-01-01T00:00:00Z');
  return found;
}

function wrongUsage(message: string): NodeError {
  return new NodeError('bad_setting', message, { exitCode: 2 });
}

async function statementOf(
  view: LedgerView,
  accounts: ReadonlySet<Address>,
  version: bigint,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const startedMs = performance.now();
  let done = 0;
  await withProgress(async (show) => {
    for (const address of accounts) {
      await addRows(rows, view, address, version);
      done += 1;
      show(() => countText('accounts', done, accounts.size, startedMs));
    }
  });
  return rows;
}

/** @throws NodeError `bad_input` for more than MAX_STATEMENT_LINES */
async function addRows(
  rows: Row[],
  view: LedgerView,
  address: Address,
  version: bigint,
): Promise<void> {
  for (let start: Address | undefined; ; ) {
    const request = { address, version, start, limit: MAX_BALANCES_PER_PAGE };
    const { balances, next } = await view.balances(request);
    for (const { metadata, coin, amount, unit } of balances) {
      rows.push({
        account: formatAddress(address),
        asset_type: coin === undefined ? formatAddress(metadata) : formatStructTag(coin),
        amount: String(amount),
        symbol: unit?.symbol,
        decimals: unit?.decimals,
      });
    }
    if (rows.length > MAX_STATEMENT_LINES) {
      const message = `more than ${MAX_STATEMENT_LINES} lines: give fewer accounts at a time`;
      throw new NodeError('bad_input', message);
    }
    if (next === undefined) return;
    start = next;
  }
}

/** RFC 4180. A text that a spreadsheet would read as a formula gets an apostrophe: anyone can name an asset. */
function csvText(rows: readonly Row[]): string {
  const cell = (value: string | number | undefined) => {
    const text = String(value ?? '').replace(/^(?=[=+\-@\t\r])/, "'");
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = rows.map((row) => COLUMNS.map((column) => cell(row[column])).join(','));
  return [COLUMNS.join(','), ...lines, ''].join('\r\n');
}
