/** One transaction: a summary line, then tabs with its cost, events, changes, payload and trace. */

import type { EventJson, Transaction } from '../asking/answers.ts';
import { Answered, useAnswer } from '../asking/ask.tsx';
import type { Json } from '../asking/exact-json.ts';
import { useLive } from '../asking/live-ledger.ts';
import { RequestPanel } from '../asking/request-panel.tsx';
import { transactionRequest } from '../asking/requests.ts';
import { Summary } from '../assets/amounts.tsx';
import { JsonView, TypeText } from '../modules/move-text.tsx';
import { groupDigits, readU64 } from '../parts/number-text.ts';
import { Pager, Section, Some, Tabs } from '../parts/parts.tsx';
import { linkTo, parameter } from '../route.ts';
import { TraceView } from '../trace/trace-view.tsx';
import { Changes } from '../transactions/changes.tsx';
import { summaryOf } from '../transactions/summary.ts';
import { TransactionOverview } from '../transactions/transaction-overview.tsx';

/** Events shown before the reader asks for all. */
const EVENTS_AT_FIRST = 20;

export function TransactionView() {
  const asked = useAnswer<Transaction>(transactionRequest(parameter('id')));
  return (
    <>
      <Answered asked={asked} title="No transaction">
        {(transaction) => <Shown key={transaction.hash} transaction={transaction} />}
      </Answered>
      {parameter('show') !== 'trace' && <RequestPanel asked={asked} />}
    </>
  );
}

const TABS = ['overview', 'events', 'changes', 'payload', 'trace'] as const;
type TabName = (typeof TABS)[number];

function Shown({ transaction }: { transaction: Transaction }) {
  const { version, events = [], changes = [] } = transaction;
  const id = parameter('id');
  const at = readU64(version ?? '');
  const isNewest = version === useLive().info?.ledger_version;
  const asked = parameter('show');
  const shown: TabName = TABS.find((name) => name === asked) ?? 'overview';
  const counts: Readonly<Partial<Record<TabName, number>>> = {
    events: events.length,
    changes: changes.length,
  };
  return (
    <>
      <p class={transaction.success === false ? 'headline bad' : 'headline'}>
        <Summary pieces={summaryOf(transaction)} />
      </p>
      {at !== undefined && (
        <Pager
          label="Transactions"
          links={[
            ['Previous version', at > 0n && linkTo('transaction', { id: at - 1n, show: asked })],
            ['Next version', !isNewest && linkTo('transaction', { id: at + 1n, show: asked })],
          ]}
        />
      )}
      <Tabs
        label="Parts of the transaction"
        tabs={TABS.map((name) => ({
          text: `${name[0]!.toUpperCase()}${name.slice(1)}`,
          count: counts[name],
          href: linkTo('transaction', { id, show: name === 'overview' ? undefined : name }),
          isShown: name === shown,
        }))}
      />
      {shown === 'overview' && <TransactionOverview transaction={transaction} />}
      {shown === 'events' && <Events events={events} />}
      {shown === 'changes' && at !== undefined && <Changes changes={changes} version={at} />}
      {shown === 'trace' && <TraceView id={id} />}
      {shown === 'payload' && <Signed transaction={transaction} />}
    </>
  );
}

/** Payload and signature as in the response. */
function Signed({ transaction: { payload, signature } }: { transaction: Transaction }) {
  const parts: readonly (readonly [string, Json | null | undefined])[] = [
    ['Payload', payload],
    ['Signature', signature],
  ];
  return (
    <>
      {parts.map(([title, value]) => (
        <Section key={title} title={title}>
          {value ? <JsonView value={value} /> : <p class="hint">It has none.</p>}
        </Section>
      ))}
    </>
  );
}

function Events({ events }: { events: readonly EventJson[] }) {
  return (
    <Section title="Events" count={events.length}>
      {events.length === 0 && <p class="hint">It emitted no events.</p>}
      <Some items={events} first={EVENTS_AT_FIRST} noun="events">
        {(event, at) => (
          <article key={at} class="item">
            <p class="event-type">
              <code>
                <TypeText type={event.type} />
              </code>{' '}
              <EventPlace event={event} />
            </p>
            <JsonView value={event.data} />
          </article>
        )}
      </Some>
    </Section>
  );
}

/** The event's stream; module events have none. */
function EventPlace({ event: { guid, sequence_number } }: { event: EventJson }) {
  const { account_address: address, creation_number: stream } = guid ?? {};
  if (!address || !stream || (stream === '0' && address === '0x0')) {
    return <span class="hint">module event</span>;
  }
  return (
    <a class="hint" href={linkTo('events', { account: address, stream, start: sequence_number })}>
      number {groupDigits(sequence_number)} of stream {stream}
    </a>
  );
}
