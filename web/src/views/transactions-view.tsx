/** Transactions, newest first; the newest page follows the ledger. */
import { useAnswer } from '../ask.ts';
import { isList } from '../json-fields.ts';
import { transactionsRequest } from '../ledger-requests.ts';
import { useLive } from '../live-ledger.ts';
import { linkTo } from '../navigation.ts';
import { greater, groupDigits, lesser, readU64 } from '../number-text.ts';
import { Failure, Waiting } from '../parts.tsx';
import { RequestPanel } from '../request-panel.tsx';
import { TransactionRows } from '../transaction-rows.tsx';
import type { ViewProps } from '../view.ts';

const PAGE_SIZE = 25n;

export function TransactionsView({ parameter, version }: ViewProps) {
  const { info } = useLive();
  const newest = version === undefined ? info?.version : readU64(version);
  const chosen = readU64(parameter('start'));
  const start = chosen ?? (version === undefined ? undefined : pageBefore((newest ?? 0n) + 1n));
  // Up to the chosen version, or the whole page.
  const end = start === undefined ? undefined : lesser(start + PAGE_SIZE, (newest ?? start) + 1n);
  const limit = start === undefined || end === undefined ? PAGE_SIZE : end - start;
  const page = {
    ...(start === undefined ? {} : { start }),
    limit: Number(limit > 0n ? limit : 1n),
  };
  const isReady = version === undefined || newest !== undefined;
  const asked = useAnswer(
    isReady ? transactionsRequest(page) : undefined,
    start === undefined ? info?.version : undefined,
  );
  const rows = isList(asked.json) ? [...asked.json].reverse() : undefined;
  const first = start ?? (newest === undefined ? 0n : pageBefore(newest + 1n));
  const oldest = info?.oldestVersion ?? 0n;
  const isNewest = start === undefined || newest === undefined || start + PAGE_SIZE > newest;
  return (
    <>
      {asked.failure !== undefined && <Failure title="No transactions" error={asked.failure} />}
      {rows === undefined && asked.failure === undefined && <Waiting />}
      {rows?.length === 0 && <p>No transaction here.</p>}
      {rows !== undefined && rows.length > 0 && (
        <TransactionRows rows={rows} caption="Transactions, newest first" />
      )}
      <nav class="pager" aria-label="Pages">
        {!isNewest && <a href={linkTo('transactions')}>Newest</a>}
        {!isNewest && <a href={linkTo('transactions', { start: first + PAGE_SIZE })}>Newer</a>}
        {first > oldest && (
          <a href={linkTo('transactions', { start: greater(pageBefore(first), oldest) })}>Older</a>
        )}
        {first > oldest && (
          <a href={linkTo('transactions', { start: oldest })}>
            Oldest kept, version {groupDigits(oldest)}
          </a>
        )}
      </nav>
      <RequestPanel asked={asked} also={[[asked.refreshes, 'to follow the ledger']]} />
    </>
  );
}

/** Where the page begins that ends before `version`. */
function pageBefore(version: bigint): bigint {
  return version > PAGE_SIZE ? version - PAGE_SIZE : 0n;
}
