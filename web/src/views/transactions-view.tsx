/**
 * Transactions, newest first; the newest page follows the ledger. Shows only user transactions unless all are
 * requested.
 */
import { useState } from 'preact/hooks';
import type { Transaction } from '../asking/answers.ts';
import { useLive } from '../asking/live-ledger.ts';
import { RequestPanel } from '../asking/request-panel.tsx';
import { go } from '../navigation.ts';
import { groupDigits, readU64 } from '../parts/number-text.ts';
import { Failure, Pager, PauseButton, QueryForm, TextField, Waiting } from '../parts/parts.tsx';
import { readVersion, VERSION_HINT } from '../parts/version-text.ts';
import { chosenVersion, linkTo, parameter } from '../route.ts';
import { shortAddress } from '../transactions/movements.ts';
import { calledFunction } from '../transactions/summary.ts';
import { TransactionRows } from '../transactions/transaction-rows.tsx';
import { type ScanOptions, useScan } from '../transactions/transaction-scan.ts';

const PAGE_ROWS = 25;
/** On narrow screens the list comes before the form. */
const IS_WIDE = matchMedia('(min-width: 40rem)').matches;
/** Filter parameters; they stay from page to page. */
const FILTERS = ['kind', 'function', 'sender', 'outcome'] as const;

/** Whether a transaction matches the filters in the address bar. */
function wantedOf(filters: Readonly<Record<string, string>>): (one: Transaction) => boolean {
  const { kind, function: name = '', outcome, sender = '' } = filters;
  const isName = name.toLowerCase();
  const from = sender && shortAddress(sender.toLowerCase());
  return (one) => {
    if (kind !== 'all' && one.type !== 'user_transaction') return false;
    if (isName && !calledFunction(one)?.toLowerCase().includes(isName)) return false;
    if (from && shortAddress(one.sender ?? '') !== from) return false;
    return outcome !== 'failed' || one.success === false;
  };
}

function givenFilters(): Record<string, string> {
  return Object.fromEntries(FILTERS.map((name) => [name, parameter(name)]));
}

export function TransactionsView() {
  const filters = givenFilters();
  const version = readU64(chosenVersion() ?? '');
  const before = readU64(parameter('before')) ?? (version === undefined ? undefined : version + 1n);
  const [isPaused, setPaused] = useState(false);
  const options: ScanOptions = {
    ...{ before, isPaused, wanted: PAGE_ROWS },
    isWanted: wantedOf(filters),
    filter: JSON.stringify(filters),
  };
  const scan = useScan(options);
  const { rows, asked, isWorking, lowest, isAll } = scan;
  const isLive = before === undefined;
  return (
    <>
      <div class="list-head">
        <details class="filter-fold" open={IS_WIDE || Object.values(filters).some(Boolean)}>
          <summary>Filter, or go to a version</summary>
          <FilterForm filters={filters} />
        </details>
        {isLive && <PauseButton isPaused={isPaused} onChange={setPaused} />}
      </div>
      {asked.failure !== undefined && <Failure title="No transactions" error={asked.failure} />}
      {rows.length > 0 && <TransactionRows rows={rows} caption="Transactions, newest first" />}
      {isWorking && <Waiting />}
      {!isWorking && rows.length === 0 && asked.failure === undefined && (
        <p class="hint">
          No such transaction {lowest !== undefined && `from version ${groupDigits(lowest)} on`}.
        </p>
      )}
      <Pages {...{ filters, lowest, isAll, isLive }} isFull={rows.length >= PAGE_ROWS} />
      <RequestPanel asked={asked} also={[[asked.refreshes, 'to follow the ledger']]} />
    </>
  );
}

interface PagesProps {
  readonly filters: Record<string, string>;
  readonly lowest: bigint | undefined;
  readonly isAll: boolean;
  readonly isLive: boolean;
  readonly isFull: boolean;
}

function Pages({ filters, lowest, isAll, isLive, isFull }: PagesProps) {
  const oldest = useLive().info?.oldest_ledger_version ?? '0';
  const older =
    !isAll && lowest !== undefined && linkTo('transactions', { ...filters, before: lowest });
  return (
    <>
      <Pager
        label="Pages"
        links={[
          ['Newest', !isLive && linkTo('transactions', { ...filters, version: undefined })],
          [isFull ? 'Older' : 'Look further back', older],
        ]}
      />
      {isAll && oldest !== '0' && (
        <p class="hint">This node has no transactions before version {groupDigits(oldest)}.</p>
      )}
    </>
  );
}

function FilterForm({ filters }: { filters: Record<string, string> }) {
  const [problem, setProblem] = useState<string>();
  const apply = async ({ at = '', ...chosen }: Record<string, string>): Promise<void> => {
    setProblem(undefined);
    try {
      const version = at === '' ? undefined : await readVersion(at, new AbortController().signal);
      const before = version === undefined ? undefined : BigInt(version) + 1n;
      go(linkTo('transactions', { ...chosen, before }));
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  const chosen = (name: string, value: string) => filters[name] === value;
  return (
    <QueryForm
      label="Filter"
      submit="Show"
      style="filters"
      onSubmit={(fields) => void apply(fields)}
    >
      <label class="field">
        Kind
        <select name="kind">
          <option value="">of users</option>
          <option value="all" selected={chosen('kind', 'all')}>
            all kinds
          </option>
        </select>
      </label>
      <label class="field">
        Outcome
        <select name="outcome">
          <option value="">any</option>
          <option value="failed" selected={chosen('outcome', 'failed')}>
            failed
          </option>
        </select>
      </label>
      <TextField
        label="Function"
        name="function"
        value={filters['function']}
        placeholder="coin::transfer"
      />
      <TextField label="Sender" name="sender" value={filters['sender']} placeholder="0x…" />
      <TextField
        label="Up to version or time"
        name="at"
        placeholder="newest"
        hint={problem ?? undefined}
        title={VERSION_HINT}
      />
    </QueryForm>
  );
}
