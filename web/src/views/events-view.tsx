/** Event stream: newest first, following live, with older pages on request. */
import { useEffect, useReducer, useRef, useState } from 'preact/hooks';
import { ApiFailure } from '../api-client.ts';
import { type Asked, useWork } from '../ask.ts';
import { ExportButtons } from '../event-export.tsx';
import type { EventRecord } from '../event-file.ts';
import {
  EVENTS_PAGE_SIZE,
  type EventPage,
  endAtVersion,
  FOLLOW_PAGE_SIZE,
  readEvents,
  readOlderEvents,
  type StreamName,
} from '../event-stream.ts';
import { VersionId } from '../ids.tsx';
import { POLL_INTERVAL_MS } from '../live-ledger.ts';
import { JsonView, TypeText } from '../move-text.tsx';
import { go, linkTo } from '../navigation.ts';
import { counted, groupDigits, readU64 } from '../number-text.ts';
import { announce, Failure, QueryForm, TextField, Waiting } from '../parts.tsx';
import { RequestPanel } from '../request-panel.tsx';
import { StreamTable, streamsIn, useResources } from '../streams.tsx';
import type { ViewProps } from '../view.ts';

/** Most rows in the table; following drops the oldest beyond it. */
const MAX_ROWS = 500;
/** Pages taken in a row before the next pause. */
const MAX_PAGES_PER_POLL = 5;
/** Shortest time between two spoken notices of new events. */
const ANNOUNCEMENT_INTERVAL_MS = 10_000;

export function EventsView({ parameter, version }: ViewProps) {
  const stream = { account: parameter('account'), creationNumber: parameter('stream') };
  const start = parameter('start');
  const isNamed = stream.account !== '' && stream.creationNumber !== '';
  return (
    <>
      <QueryForm
        label="Event stream"
        submit="Show events"
        onSubmit={(fields) => go(linkTo('events', fields))}
      >
        <TextField label="Account" name="account" value={stream.account} required wide />
        <TextField
          label="Creation number"
          name="stream"
          value={stream.creationNumber}
          required
          numeric
        />
        <TextField
          label="From sequence number"
          name="start"
          value={start}
          placeholder="newest"
          numeric
        />
      </QueryForm>
      {stream.account !== '' && <Names key={stream.account} {...{ stream, version }} />}
      {isNamed && (
        <Events
          key={`${stream.account} ${stream.creationNumber} ${start} ${version}`}
          {...{ stream, start, version }}
        />
      )}
    </>
  );
}

/** What the stream is called; every stream of the account while none is chosen. */
function Names({ stream, version }: { stream: StreamName; version: string | undefined }) {
  const { items, asked } = useResources(stream.account, version);
  const streams = items.flatMap(streamsIn);
  if (stream.creationNumber === '') {
    if (asked.failure !== undefined) return <Failure title="No streams" error={asked.failure} />;
    if (asked.answer === undefined) return <Waiting />;
    return streams.length === 0 ? (
      <p class="note">No resource of this account has an event handle.</p>
    ) : (
      <StreamTable streams={streams} />
    );
  }
  const named = streams.find((one) => one.stream === stream.creationNumber);
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
      <a href={linkTo('account', { address: stream.account, show: 'events' })}>
        All streams of the account
      </a>
    </p>
  );
}

/** The rows, newest first, and where they begin and end. */
interface Rows {
  readonly events: readonly EventRecord[];
  /** Sequence numbers of the rows at the end and at the beginning; they stand when there is no row yet, too. */
  readonly first: bigint | undefined;
  readonly last: bigint | undefined;
  /** Events above this one came by following. */
  readonly seen: bigint;
}

type Change =
  | { readonly kind: 'older' | 'newer'; readonly events: readonly EventRecord[] }
  | { readonly kind: 'begin'; readonly events: readonly EventRecord[]; start: bigint | undefined };

/** Events come ascending, as the node gives them. */
function changeRows(rows: Rows, change: Change): Rows {
  const events = [...change.events].reverse();
  const [newest, oldest] = [change.events.at(-1), change.events[0]];
  if (change.kind === 'begin') {
    const before = (change.start ?? 0n) > 0n ? change.start! - 1n : undefined;
    return {
      events,
      first: oldest?.sequenceNumber ?? change.start,
      last: newest?.sequenceNumber ?? before,
      seen: newest?.sequenceNumber ?? -1n,
    };
  }
  if (change.kind === 'older') {
    const first = oldest?.sequenceNumber ?? rows.first;
    return { ...rows, events: [...rows.events, ...events], first };
  }
  const kept = [...events, ...rows.events].slice(0, MAX_ROWS);
  const last = newest?.sequenceNumber ?? rows.last;
  return { ...rows, events: kept, first: kept.at(-1)?.sequenceNumber, last };
}

const NO_ROWS: Rows = { events: [], first: undefined, last: undefined, seen: -1n };

interface EventsProps {
  readonly stream: StreamName;
  readonly start: string;
  readonly version: string | undefined;
}

function Events({ stream, start, version }: EventsProps) {
  const [rows, change] = useReducer(changeRows, NO_ROWS);
  const [asked, setAsked] = useState<Asked>();
  const [isFollowing, setFollowing] = useState(start === '' && version === undefined);
  const [polls, setPolls] = useState(0);
  const [followFailure, setFollowFailure] = useState<unknown>();
  const begin = async (signal: AbortSignal): Promise<void> => {
    try {
      const first = readU64(start);
      if (start !== '' && first === undefined) {
        throw new RangeError('A sequence number is a whole number below 2^64.');
      }
      const page = await firstPage(stream, first, version, signal);
      change({ kind: 'begin', events: page.events, start: first });
      setAsked({ request: page.answer.request, answer: page.answer, refreshes: 0 });
      announce(`${counted(page.events.length, 'event')} shown, newest first`);
    } catch (failure) {
      signal.throwIfAborted();
      const request = failure instanceof ApiFailure ? failure.request : undefined;
      setAsked({ request, failure, refreshes: 0 });
    }
  };
  useWork(begin, []);
  const newest = useRef(rows.last);
  newest.current = rows.last;
  const isReady = asked?.answer !== undefined;
  useFollowing(isReady && isFollowing, async (signal) => {
    try {
      for (let page = 0; page < MAX_PAGES_PER_POLL; page += 1) {
        const next = newest.current === undefined ? 0n : newest.current + 1n;
        const limit = FOLLOW_PAGE_SIZE;
        const { events } = await readEvents(stream, { start: next, limit }, signal);
        setPolls((count) => count + 1);
        setFollowFailure(undefined);
        if (events.length === 0) return 0;
        newest.current = events.at(-1)!.sequenceNumber;
        change({ kind: 'newer', events });
        if (events.length < FOLLOW_PAGE_SIZE) return events.length;
      }
    } catch (error) {
      if (!signal.aborted) setFollowFailure(error);
    }
    return 0;
  });
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
            onOlder={(events) => change({ kind: 'older', events })}
          />
        </section>
      )}
      <RequestPanel asked={asked} also={[[polls, 'to follow the stream, with start']]} />
    </>
  );
}

/** The newest page, the one at `first`, or the last one up to a version. */
async function firstPage(
  stream: StreamName,
  first: bigint | undefined,
  version: string | undefined,
  signal: AbortSignal,
): Promise<EventPage> {
  const limit = EVENTS_PAGE_SIZE;
  const at = version === undefined ? undefined : readU64(version);
  if (at === undefined) {
    return readEvents(stream, first === undefined ? { limit } : { start: first, limit }, signal);
  }
  const end = await endAtVersion(stream, at, signal);
  if (first === undefined && end > 0n) return readOlderEvents(stream, end, signal);
  const page = await readEvents(stream, { start: first ?? 0n, limit }, signal);
  return { ...page, events: page.events.filter((event) => event.version <= at) };
}

function rangeText({ events, first, last }: Rows): string {
  if (events.length === 0) return 'This stream has no events here.';
  const range = `${groupDigits(first!)} to ${groupDigits(last!)}`;
  return `${counted(events.length, 'event')}, sequence numbers ${range}`;
}

/** Runs `poll` again and again while `isOn` and the page can be seen; announces how many events it found. */
function useFollowing(isOn: boolean, poll: (signal: AbortSignal) => Promise<number>): void {
  const latest = useRef(poll);
  latest.current = poll;
  useEffect(() => {
    if (!isOn) return;
    const run = new AbortController();
    let announcedMs = Number.NEGATIVE_INFINITY;
    let unannounced = 0;
    let timer: ReturnType<typeof setTimeout>;
    const tick = async (): Promise<void> => {
      if (!document.hidden) unannounced += await latest.current(run.signal);
      if (run.signal.aborted) return;
      const nowMs = performance.now();
      if (unannounced > 0 && nowMs - announcedMs >= ANNOUNCEMENT_INTERVAL_MS) {
        announce(counted(unannounced, 'new event'));
        announcedMs = nowMs;
        unannounced = 0;
      }
      timer = setTimeout(() => void tick(), POLL_INTERVAL_MS);
    };
    timer = setTimeout(() => void tick(), POLL_INTERVAL_MS);
    return () => {
      run.abort();
      clearTimeout(timer);
    };
  }, [isOn]);
}

function EventTable({ events, seen }: Rows) {
  return (
    <table class="events cards">
      <caption class="visually-hidden">Events of the stream, newest first</caption>
      <thead>
        <tr>
          <th scope="col" class="number">
            No.
          </th>
          <th scope="col" class="number">
            Version
          </th>
          <th scope="col">Event</th>
        </tr>
      </thead>
      <tbody>
        {events.map(({ sequenceNumber, version, type, data }) => (
          <tr key={sequenceNumber} class={sequenceNumber > seen ? 'fresh' : undefined}>
            <td class="number">{groupDigits(sequenceNumber)}</td>
            <td class="number">
              <VersionId version={version} />
            </td>
            <td>
              <code class="event-type">
                <TypeText type={type} />
              </code>
              <JsonView value={data} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface FootProps {
  readonly stream: StreamName;
  readonly rows: Rows;
  readonly onOlder: (events: readonly EventRecord[]) => void;
}

/** What is below the last row: a button, a link, or the stream's beginning. */
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
    const size = BigInt(EVENTS_PAGE_SIZE);
    const start = first > size ? first - size : 0n;
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
