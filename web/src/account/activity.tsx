/** An account's transactions in both directions, with counterparties and their changes, and as a file. */
import { useState } from 'preact/hooks';
import { ApiFailure } from '../asking/api-client.ts';
import { type Asked, useWork } from '../asking/ask.tsx';
import { headAbove, useLive, useRecoveries } from '../asking/live-ledger.ts';
import { RequestPanel } from '../asking/request-panel.tsx';
import { greater, groupDigits, lesser, readU64 } from '../parts/number-text.ts';
import { Failure, Pager, Section, Waiting } from '../parts/parts.tsx';
import { chosenVersion, linkTo, parameter } from '../route.ts';
import { TransactionRows } from '../transactions/transaction-rows.tsx';
import { type ActivityPage, readActivity } from './account-activity.ts';
import { ActivityExport } from './activity-export.tsx';

const PAGE_ROWS = 25;
/** Minimum time between two reads of the newest page. */
const FOLLOW_INTERVAL_MS = 3_000;

const SOURCES = {
  indexer: undefined,
  balances:
    'What the account sent, and what changed its balances of the assets that it holds. This node has no indexer: what ' +
    'else others did to the account is not known here.',
  sent: 'What the account sent. This node has neither an indexer nor a history of balances.',
} as const;

/** Upper end of the shown versions, exclusive: set by the previous page or by the time machine. */
export function activityEnd(): bigint | undefined {
  const before = readU64(parameter('before'));
  const version = readU64(chosenVersion() ?? '');
  if (version === undefined) return before;
  return before === undefined ? version + 1n : lesser(before, version + 1n);
}

export function Activity({ address }: { address: string }) {
  const before = activityEnd();
  const { page, asked } = useActivity(address, before);
  const note = page && SOURCES[page.source];
  return (
    <>
      <Section title="Transactions">
        <div class="section-head">
          <p class="hint">{note ?? 'All transactions that the account had to do with.'}</p>
          <ActivityExport address={address} before={before} />
        </div>
        {asked.failure !== undefined && <Failure title="No transactions" error={asked.failure} />}
        {page === undefined && asked.failure === undefined && <Waiting />}
        {page?.versions.length === 0 && <p class="hint">There are no transactions of it here.</p>}
        {page !== undefined && page.versions.length > 0 && (
          <TransactionRows
            rows={page.versions}
            caption="Transactions of the account, newest first"
            account={address}
          />
        )}
        {page && <Pages address={address} page={page} />}
      </Section>
      <RequestPanel asked={asked} />
    </>
  );
}

function Pages({ address, page }: { address: string; page: ActivityPage }) {
  const oldest = useLive().info?.oldest_ledger_version ?? '0';
  const place = { address, show: 'transactions' };
  return (
    <>
      <Pager
        label="Pages"
        links={[
          ['Newest', parameter('before') !== '' && linkTo('account', place)],
          ['Older', page.next !== undefined && linkTo('account', { ...place, before: page.next })],
        ]}
      />
      {page.next === undefined && oldest !== '0' && (
        <p class="hint">This node has no transactions before version {groupDigits(oldest)}.</p>
      )}
    </>
  );
}

/** Reads a page. The newest one follows the ledger. */
function useActivity(address: string, before: bigint | undefined) {
  const [known, setKnown] = useState<{ page?: ActivityPage; asked: Asked<unknown> }>();
  const recoveries = useRecoveries();
  useWork(
    async (signal) => {
      let version = -1n;
      for (;;) {
        const head = await headAbove(version, signal);
        const oldest = greater(BigInt(head.oldest_ledger_version), 0n);
        version = BigInt(head.ledger_version);
        try {
          const page = await readActivity({ address, before, limit: PAGE_ROWS, oldest }, signal);
          setKnown({ page, asked: { request: page.request, refreshes: 0 } });
        } catch (failure) {
          signal.throwIfAborted();
          const request = failure instanceof ApiFailure ? failure.request : undefined;
          setKnown({ asked: { request, failure, refreshes: 0 } });
        }
        if (before !== undefined) return;
        await new Promise((resolve) => setTimeout(resolve, FOLLOW_INTERVAL_MS));
      }
    },
    [address, before, recoveries],
  );
  return known ?? { asked: { request: undefined, refreshes: 0 } };
}
