/** Transactions, newest first; the newest page follows the ledger. */
import type { Transaction } from '../answers.ts';
import { Answered, useAnswer } from '../ask.tsx';
import { useLive } from '../live-ledger.ts';
import { greater, groupDigits, lesser, readU64 } from '../number-text.ts';
import { Pager } from '../parts.tsx';
import { RequestPanel } from '../request-panel.tsx';
import { transactionsRequest } from '../requests.ts';
import { chosenVersion, linkTo, parameter } from '../route.ts';
import { TransactionRows } from '../transaction-rows.tsx';

const PAGE_SIZE = 25n;

export function TransactionsView() {
  const { info } = useLive();
  const version = chosenVersion();
  const newest = readU64(version ?? info?.ledger_version ?? '');
  const start =
    readU64(parameter('start')) ??
    (version === undefined ? undefined : pageBefore((newest ?? 0n) + 1n));
  // Up to the chosen version, or the whole page.
  const end = start === undefined ? undefined : lesser(start + PAGE_SIZE, (newest ?? start) + 1n);
  const limit = start === undefined || end === undefined ? PAGE_SIZE : greater(end - start, 1n);
  const isReady = version === undefined || newest !== undefined;
  const asked = useAnswer<readonly Transaction[]>(
    isReady ? transactionsRequest({ start, limit }) : undefined,
    start === undefined ? info?.ledger_version : undefined,
  );
  const first = start ?? pageBefore((newest ?? 0n) + 1n);
  const oldest = readU64(info?.oldest_ledger_version ?? '') ?? 0n;
  const isNewest = start === undefined || newest === undefined || start + PAGE_SIZE > newest;
  const pageAt = (at: bigint) => linkTo('transactions', { start: at });
  return (
    <>
      <Answered asked={asked} title="No transactions">
        {(rows) =>
          rows.length === 0 ? (
            <p>No transaction here.</p>
          ) : (
            <TransactionRows rows={[...rows].reverse()} caption="Transactions, newest first" />
          )
        }
      </Answered>
      <Pager
        label="Pages"
        links={[
          ['Newest', !isNewest && linkTo('transactions')],
          ['Newer', !isNewest && pageAt(first + PAGE_SIZE)],
          ['Older', first > oldest && pageAt(greater(pageBefore(first), oldest))],
          [`Oldest kept, version ${groupDigits(oldest)}`, first > oldest && pageAt(oldest)],
        ]}
      />
      <RequestPanel asked={asked} also={[[asked.refreshes, 'to follow the ledger']]} />
    </>
  );
}

/** Where the page begins that ends before `version`. */
function pageBefore(version: bigint): bigint {
  return version > PAGE_SIZE ? version - PAGE_SIZE : 0n;
}
