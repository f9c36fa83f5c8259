/** Event stream: newest first, following live, with older pages on request. */
import { ApiFailure } from '../api-client.ts';
import { announce, button, element } from '../dom.ts';
import {
  EVENTS_PAGE_SIZE,
  type EventRecord,
  FOLLOW_PAGE_SIZE,
  readEvents,
  readOlderEvents,
  type StreamName,
} from '../event-stream.ts';
import { failurePanel } from '../failure-panel.ts';
import { form, textInput } from '../form-fields.ts';
import { jsonView } from '../json-view.ts';
import { POLL_INTERVAL_MS } from '../live-ledger.ts';
import { counted, groupDigits, readU64 } from '../number-text.ts';
import { RequestPanel } from '../request-panel.ts';
import { routeHash } from '../route.ts';
import { typeNodes } from '../type-nodes.ts';
import { LatestRun, type View, type ViewContext } from '../view.ts';

/** Most rows in the table; following drops the oldest beyond it. */
export const MAX_ROWS = 500;
/** Pages taken in a row before the next pause. */
const MAX_PAGES_PER_POLL = 5;
/** Shortest time between two spoken notices of new events. */
const ANNOUNCEMENT_INTERVAL_MS = 10_000;

/** Makes the view. */
export function eventsView(context: ViewContext): View {
  const view = new EventsView(context);
  return { node: view.node, update: (parameters) => view.update(parameters) };
}

class EventsView {
  readonly node: HTMLElement;
  readonly #runs: LatestRun;
  readonly #account = textInput('Account', 'account', { required: true, wide: true });
  readonly #number = textInput('Creation number', 'stream', { required: true, numeric: true });
  readonly #start = textInput('From sequence number', 'start', {
    numeric: true,
    placeholder: 'newest',
  });
  readonly #result = element('div', { class: 'result' });
  readonly #panel = new RequestPanel();

  constructor({ signal, go }: ViewContext) {
    this.#runs = new LatestRun(signal);
    const inputs = [this.#account, this.#number, this.#start];
    const query = form(
      'Event stream',
      inputs.map(({ node }) => node),
      'Show events',
      () => {
        const entries = inputs.map(({ input }) => [input.name, input.value.trim()]);
        go(routeHash('events', Object.fromEntries(entries) as Record<string, string>));
      },
    );
    this.node = element('div', {}, query, this.#result, this.#panel.node);
  }

  update(parameters: ReadonlyMap<string, string>): void {
    const signal = this.#runs.begin();
    const get = (name: string): string => parameters.get(name)?.trim() ?? '';
    const stream = { account: get('account'), creationNumber: get('stream') };
    const start = get('start');
    this.#account.input.value = stream.account;
    this.#number.input.value = stream.creationNumber;
    this.#start.input.value = start;
    this.#result.replaceChildren();
    this.#panel.node.hidden = true;
    if (stream.account === '' || stream.creationNumber === '') return;
    void this.#show(stream, start, signal);
  }

  async #show(stream: StreamName, start: string, signal: AbortSignal): Promise<void> {
    try {
      const first = readU64(start);
      if (start !== '' && first === undefined) {
        throw new RangeError('A sequence number is a whole number below 2^64.');
      }
      const page = first === undefined ? {} : { start: first };
      const { answer, events } = await readEvents(
        stream,
        { ...page, limit: EVENTS_PAGE_SIZE },
        signal,
      );
      this.#panel.showAnswer(answer);
      const table = new EventsTable(stream, this.#panel, signal);
      this.#result.replaceChildren(table.node);
      table.begin(events, first);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiFailure) this.#panel.showFailure(error);
      this.#result.replaceChildren(failurePanel('No events', error));
    }
  }
}

class EventsTable {
  readonly node: HTMLElement;
  readonly #stream: StreamName;
  readonly #panel: RequestPanel;
  readonly #signal: AbortSignal;
  readonly #body = element('tbody', { role: 'rowgroup' });
  readonly #summary = element('p', { class: 'figure-note' });
  readonly #follow = element('input', { type: 'checkbox', id: 'follow' });
  readonly #older: HTMLButtonElement;
  readonly #foot = element('div', { class: 'table-foot' });
  #first: bigint | undefined;
  #last: bigint | undefined;
  #announcedMs = Number.NEGATIVE_INFINITY;
  #unannounced = 0;

  constructor(stream: StreamName, panel: RequestPanel, signal: AbortSignal) {
    this.#stream = stream;
    this.#panel = panel;
    this.#signal = signal;
    this.#older = button('Older events', () => void this.#loadOlder());
    const head = [
      element('th', { scope: 'col', role: 'columnheader', class: 'number' }, 'No.'),
      element('th', { scope: 'col', role: 'columnheader', class: 'number' }, 'Version'),
      element('th', { scope: 'col', role: 'columnheader' }, 'Event'),
    ];
    this.node = element(
      'section',
      { 'aria-label': 'Events' },
      element(
        'div',
        { class: 'section-head' },
        this.#summary,
        element('label', { class: 'switch', for: 'follow' }, this.#follow, ' Follow live'),
      ),
      element(
        'table',
        { class: 'events', role: 'table' },
        element('caption', { class: 'visually-hidden' }, 'Events of the stream, newest first'),
        element('thead', { role: 'rowgroup' }, element('tr', { role: 'row' }, ...head)),
        this.#body,
      ),
      this.#foot,
    );
  }

  /** Shows the first page; one that begins at a chosen place is not followed until the reader asks for it. */
  begin(events: readonly EventRecord[], start: bigint | undefined): void {
    this.#prepend(events, false);
    this.#first = events[0]?.sequenceNumber ?? start;
    if (this.#last === undefined && start !== undefined && start > 0n) this.#last = start - 1n;
    this.#follow.checked = start === undefined;
    this.#showFoot();
    announce(`${counted(events.length, 'event')} shown, newest first`);
    void this.#followLoop();
  }

  #prepend(events: readonly EventRecord[], fresh: boolean): void {
    const rows = events.map((event) => eventRow(event, fresh)).reverse();
    this.#body.prepend(...rows);
    this.#last = events.at(-1)?.sequenceNumber ?? this.#last;
    this.#first ??= events[0]?.sequenceNumber;
    let dropped = 0;
    while (this.#body.rows.length > MAX_ROWS) {
      this.#body.rows[MAX_ROWS]!.remove();
      dropped += 1;
    }
    if (dropped > 0) {
      this.#first = this.#first! + BigInt(dropped);
      this.#showFoot();
    }
    this.#showSummary();
  }

  #showSummary(): void {
    const count = this.#body.rows.length;
    if (count === 0) this.#summary.textContent = 'This stream has no events here.';
    else {
      const range = `${groupDigits(this.#first!)} to ${groupDigits(this.#last!)}`;
      this.#summary.textContent = `${counted(count, 'event')}, sequence numbers ${range}`;
    }
  }

  /** What is below the last row: a button, a link, or the stream's beginning. */
  #showFoot(message?: Node): void {
    const { account, creationNumber } = this.#stream;
    if (message !== undefined) this.#foot.replaceChildren(message);
    else if (this.#first === undefined) this.#foot.replaceChildren();
    else if (this.#first === 0n) {
      this.#foot.replaceChildren(element('p', {}, 'The stream begins here.'));
    } else if (this.#body.rows.length >= MAX_ROWS) {
      const older = this.#first - BigInt(EVENTS_PAGE_SIZE);
      const start = String(older < 0n ? 0n : older);
      const href = routeHash('events', { account, stream: creationNumber, start });
      const link = element('a', { href }, `Go on from sequence number ${groupDigits(start)}`);
      this.#foot.replaceChildren(
        element('p', {}, `The table holds ${MAX_ROWS} events at most. `, link),
      );
    } else this.#foot.replaceChildren(this.#older);
  }

  async #loadOlder(): Promise<void> {
    this.#older.disabled = true;
    try {
      const { answer, events, pruned } = await readOlderEvents(
        this.#stream,
        this.#first!,
        this.#signal,
      );
      this.#panel.showAnswer(answer);
      const rows = events.map((event) => eventRow(event, false)).reverse();
      this.#body.append(...rows);
      this.#first = events[0]?.sequenceNumber ?? this.#first;
      this.#showSummary();
      this.#showFoot(
        pruned === undefined ? undefined : failurePanel('Older events are gone', pruned),
      );
      announce(`${counted(events.length, 'older event')} added below`);
    } catch (error) {
      if (this.#signal.aborted) return;
      if (error instanceof ApiFailure) this.#panel.showFailure(error);
      const title = 'No older events';
      this.#showFoot(element('div', {}, this.#older, failurePanel(title, error)));
    } finally {
      this.#older.disabled = false;
    }
  }

  /** Asks for what comes after the last row, while the switch is on and the page can be seen. */
  async #followLoop(): Promise<void> {
    while (!this.#signal.aborted) {
      await waitMs(POLL_INTERVAL_MS, this.#signal);
      if (this.#signal.aborted) return;
      if (!this.#follow.checked || document.hidden) continue;
      try {
        await this.#poll();
        this.node.querySelector('.follow-failure')?.remove();
      } catch (error) {
        if (this.#signal.aborted) return;
        this.#showFollowFailure(error);
      }
    }
  }

  /** Takes what is new, several pages when a fast stream has run ahead. */
  async #poll(): Promise<void> {
    for (let page = 0; page < MAX_PAGES_PER_POLL; page += 1) {
      const start = this.#last === undefined ? 0n : this.#last + 1n;
      const asked = { start, limit: FOLLOW_PAGE_SIZE };
      const { events } = await readEvents(this.#stream, asked, this.#signal);
      this.#panel.addSimilar('to follow the stream, with start');
      if (events.length === 0) return;
      const wasEmpty = this.#body.rows.length === 0;
      this.#prepend(events, true);
      if (wasEmpty) this.#showFoot();
      this.#announceNew(events.length);
      if (events.length < FOLLOW_PAGE_SIZE) return;
    }
  }

  #announceNew(count: number): void {
    this.#unannounced += count;
    const nowMs = performance.now();
    if (nowMs - this.#announcedMs < ANNOUNCEMENT_INTERVAL_MS) return;
    announce(`${counted(this.#unannounced, 'new event')}`);
    this.#announcedMs = nowMs;
    this.#unannounced = 0;
  }

  #showFollowFailure(error: unknown): void {
    if (this.node.querySelector('.follow-failure') !== null) return;
    const panel = failurePanel('Following is interrupted; the next try comes by itself', error);
    this.#body.parentElement!.before(element('div', { class: 'follow-failure' }, panel));
  }
}

function eventRow({ sequenceNumber, version, type, data }: EventRecord, fresh: boolean) {
  return element(
    'tr',
    { role: 'row', class: fresh ? 'fresh' : undefined },
    element('td', { role: 'cell', class: 'number' }, groupDigits(sequenceNumber)),
    element('td', { role: 'cell', class: 'number' }, groupDigits(version)),
    element(
      'td',
      { role: 'cell' },
      element('code', { class: 'event-type' }, ...typeNodes(type)),
      jsonView(data),
    ),
  );
}

/** Resolves after the time, or at once when `signal` aborts. */
function waitMs(timeMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, timeMs);
    signal.addEventListener('abort', done);
  });
}
