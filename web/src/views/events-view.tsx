/** Event stream: newest first, following live, with older pages on request. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiFailure } from '../asking/api-client.ts';
import { Answered, type Asked, useWork } from '../asking/ask.tsx';
import { useRetries, useReverts } from '../asking/live-ledger.ts';
import { RequestPanel } from '../asking/request-panel.tsx';
import { ExportButtons } from '../events/event-export.tsx';
import type { EventRecord } from '../events/event-file.ts';
import {
  EVENTS_PAGE_SIZE,
  followEvents,
  readFirstPage,
  readOlderEvents,
  type StreamName,
} from '../events/event-stream.ts';
import { StreamTable, streamsIn, useResources } from '../events/streams.tsx';
import { JsonView, TypeText } from '../modules/move-text.tsx';
import { VersionId } from '../parts/ids.tsx';
import { counted, greater, groupDigits, readU64 } from '../parts/number-text.ts';
import { announce, Failure, LookUp, Table, Waiting } from '../parts/parts.tsx';
import { chosenVersion, linkTo, parameter } from '../route.ts';
import { TypedEvents } from './typed-events.tsx';

/** Maximum number of rows in the table; following drops the oldest beyond it. */
const MAX_ROWS = 500;
/** Minimum time between two spoken announcements of new events. */
const ANNOUNCEMENT_INTERVAL_MS = 10_000;

export function EventsView() {
  return parameter('type') === '' ? <StreamEvents /> : <TypedEvents key={parameter('type')} />;
}

function StreamEvents() {
  const stream = { account: parameter('account'), creationNumber: parameter('stream') };
  const { account, creationNumber } = stream;
  const start = parameter('start');
  const reverts = useReverts();
  return (
    <>
      {account !== '' && <Names key={account} stream={stream} />}
      {account !== '' && creationNumber !== '' && (
        <Events
          key={`${reverts} ${account} ${creationNumber} ${start} ${chosenVersion()}`}
          stream={stream}
        />
      )}
      <LookUp
        view="events"
        label="Event stream"
        submit="Show events"
        fields={[
          { label: 'Account', name: 'account', required: true, wide: true },
          { label: 'Creation number', name: 'stream', required: true, numeric: true },
          { label: 'From sequence number', name: 'start', placeholder: 'newest', numeric: true },
        ]}
      />
    </>
  );
}

/** The name of the stream; all streams of the account until one is chosen. */
function Names({ stream: { account, creationNumber } }: { stream: StreamName }) {
  const { items, asked } = useResources(account);
  const streams = items.flatMap(streamsIn);
  if (creationNumber === '') {
    return (
      <Answered asked={asked} title="No streams">
        {() =>
          streams.length === 0 ? (
            <p class="note">No resource of this account has an event handle.</p>
          ) : (
            <StreamTable streams={streams} />
          )
        }
      </Answered>
    );
  }
  const named = streams.find((one) => one.stream === creationNumber);
  return (
    <p class="stream-name">
      {named && (
        <>
          <b>{named.name}</b> of{' '}
          <code>
            <TypeText type={named.type} />
          </code>
          {'. '}
        </>
      )}
      <a href={linkTo('account', { address: account, show: 'events' })}>
        All streams of the account
      </a>
    </p>
  );
}

/** The rows, newest first, and their range. */
interface Rows {
  readonly events: readonly EventRecord[];
  /** Sequence numbers of the oldest and the newest row; they may be known before the first row. */
  readonly first: bigint | undefined;
  readonly last: bigint | undefined;
  /** Events above this sequence number arrived by following. */
  readonly seen: bigint;
}

/** Adds events, which are ascending, above or below the rows. */
function withEvents(rows: Rows, added: readonly EventRecord[], isNewer: boolean): Rows {
  const events = [...added].reverse();
  const all = isNewer
    ? [...events, ...rows.events].slice(0, MAX_ROWS)
    : [...rows.events, ...events];
  const first = all.at(-1)?.sequenceNumber ?? rows.first;
  return { ...rows, events: all, first, last: all[0]?.sequenceNumber ?? rows.last };
}

function Events({ stream }: { stream: StreamName }) {
  const start = parameter('start');
  const version = chosenVersion();
  const [rows, setRows] = useState<Rows>({
    events: [],
    first: undefined,
    last: undefined,
    seen: -1n,
  });
  const [asked, setAsked] = useState<Asked>();
  const retries = useRetries(asked?.failure);
  const [isFollowing, setFollowing] = useState(start === '' && version === undefined);
  useWork(
    async (signal) => {
      try {
        const first = readU64(start);
        if (start !== '' && first === undefined) {
          throw new RangeError('A sequence number is a whole number below 2^64.');
        }
        const page = await readFirstPage(stream, first, readU64(version ?? ''), signal);
        const before = first !== undefined && first > 0n ? first - 1n : undefined;
        const seen = page.events.at(-1)?.sequenceNumber ?? -1n;
        setRows(withEvents({ events: [], first, last: before, seen }, page.events, false));
        setAsked({ request: page.answer.request, answer: page.answer, refreshes: 0 });
        announce(`${counted(page.events.length, 'event')} shown, newest first`);
      } catch (failure) {
        signal.throwIfAborted();
        const request = failure instanceof ApiFailure ? failure.request : undefined;
        setAsked({ request, failure, refreshes: 0 });
      }
    },
    [retries],
  );
  const newest = useRef(rows.last);
  newest.current = rows.last;
  const followFailure = useFollowing(
    stream,
    asked?.answer !== undefined && isFollowing,
    // Without a row, all events of the stream may have been pruned, and starting at 0 would be refused.
    () => (newest.current === undefined ? readU64(start) : newest.current + 1n),
    (events) => {
      newest.current = events.at(-1)!.sequenceNumber;
      setRows((before) => withEvents(before, events, true));
    },
  );
  if (asked === undefined) return <Waiting />;
  return (
    <>
      {asked.failure !== undefined ? (
        <Failure title="No events" error={asked.failure} />
      ) : (
        <section aria-label="Events">
          <div class="section-head">
            <p class="figure-note">{rangeText(rows)}</p>
            {version === undefined && (
              <label class="switch">
                <input
                  type="checkbox"
                  checked={isFollowing}
                  onChange={(event) => setFollowing(event.currentTarget.checked)}
                />{' '}
                Follow live
              </label>
            )}
            <ExportButtons stream={stream} last={rows.last} />
          </div>
          {followFailure !== undefined && (
            <Failure
              title="Following is interrupted; the next try comes by itself"
              error={followFailure}
            />
          )}
          <EventTable {...rows} />
          <Foot
            stream={stream}
            rows={rows}
            onOlder={(events) => setRows((before) => withEvents(before, events, false))}
          />
        </section>
      )}
      <RequestPanel asked={asked} also={[[isFollowing ? 1 : 0, 'to follow the stream']]} />
    </>
  );
}

function rangeText({ events, first, last }: Rows): string {
  if (events.length === 0) return 'This stream has no events here.';
  const range = `${groupDigits(first!)} to ${groupDigits(last!)}`;
  return `${counted(events.length, 'event')}, sequence numbers ${range}`;
}

/** Follows the stream while `isOn` and the page is visible; announces how many events arrived. */
function useFollowing(
  stream: StreamName,
  isOn: boolean,
  next: () => bigint | undefined,
  take: (events: readonly EventRecord[]) => void,
): unknown {
  const [failure, setFailure] = useState<unknown>();
  useEffect(() => {
    setFailure(undefined);
    if (!isOn) return;
    const run = new AbortController();
    let announcedMs = Number.NEGATIVE_INFINITY;
    let unannounced = 0;
    const events = (added: readonly EventRecord[]): void => {
      take(added);
      unannounced += added.length;
      const nowMs = performance.now();
      if (nowMs - announcedMs < ANNOUNCEMENT_INTERVAL_MS) return;
      announce(counted(unannounced, 'new event'));
      announcedMs = nowMs;
      unannounced = 0;
    };
    followEvents(stream, { next, events, failed: setFailure }, run.signal);
    return () => run.abort();
  }, [isOn]);
  return failure;
}

function EventTable({ events, seen }: Rows) {
  return (
    <Table
      style="events cards"
      caption="Events of the stream, newest first"
      columns={['#No.', '#Version', 'Event']}
    >
      {events.map(({ sequenceNumber, version, type, data }) => (
        <tr key={sequenceNumber} class={sequenceNumber > seen ? 'fresh' : undefined}>
          <td class="number">{groupDigits(sequenceNumber)}</td>
          <td class="number">
            <VersionId version={String(version)} />
          </td>
          <td>
            <code class="event-type">
              <TypeText type={type} />
            </code>
            <JsonView value={data} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

interface FootProps {
  readonly stream: StreamName;
  readonly rows: Rows;
  readonly onOlder: (events: readonly EventRecord[]) => void;
}

/** What follows the last row: a button, a link, or the beginning of the stream. */
function Foot({ stream, rows: { first, events: shown }, onOlder }: FootProps) {
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<{ readonly title: string; readonly error: unknown }>();
  const run = useRef(new AbortController());
  useEffect(() => () => run.current.abort(), []);
  const load = async (): Promise<void> => {
    setBusy(true);
    setFailure(undefined);
    try {
      const { events, pruned } = await readOlderEvents(stream, first!, run.current.signal);
      onOlder(events);
      if (pruned !== undefined) setFailure({ title: 'Older events are gone', error: pruned });
      announce(`${counted(events.length, 'older event')} added below`);
    } catch (error) {
      if (!run.current.signal.aborted) setFailure({ title: 'No older events', error });
    } finally {
      setBusy(false);
    }
  };
  if (first === undefined) return null;
  if (first === 0n) return <p class="table-foot">The stream begins here.</p>;
  if (shown.length >= MAX_ROWS) {
    const start = greater(first - BigInt(EVENTS_PAGE_SIZE), 0n);
    const { account, creationNumber } = stream;
    return (
      <p class="table-foot">
        The table holds {MAX_ROWS} events at most.{' '}
        <a href={linkTo('events', { account, stream: creationNumber, start })}>
          Go on from sequence number {groupDigits(start)}
        </a>
      </p>
    );
  }
  return (
    <div class="table-foot">
      {failure?.title !== 'Older events are gone' && (
        <button type="button" disabled={isBusy} onClick={load}>
          Older events
        </button>
      )}
      {failure !== undefined && <Failure {...failure} />}
    </div>
  );
}
