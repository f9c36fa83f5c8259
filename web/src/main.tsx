/** The page's start: the frame around the views, the search, the version that is looked at, the ledger's state. */
import './styles/parts.css';
import './styles/encode.css';
import './styles/views.css';
import './styles/explorer.css';
import './styles/frame.css';
import { type ComponentType, render } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type LiveState, live, useLive } from './live-ledger.ts';
import { go, linkTo } from './navigation.ts';
import { agoText, groupDigits, readU64, shortHex, timeText } from './number-text.ts';
import { announce, Failure } from './parts.tsx';
import { parseRoute, readSearch, routeHash, type ViewName } from './route.ts';
import type { ViewProps } from './view.ts';
import { AccountView } from './views/account-view.tsx';
import { BalanceView } from './views/balance-view.tsx';
import { BlockView } from './views/block-view.tsx';
import { BlocksView } from './views/blocks-view.tsx';
import { EncodeView } from './views/encode-view.tsx';
import { EventsView } from './views/events-view.tsx';
import { ModuleView } from './views/module-view.tsx';
import { OverviewView } from './views/overview-view.tsx';
import { SEARCH_HINT, SearchView } from './views/search-view.tsx';
import { TransactionView } from './views/transaction-view.tsx';
import { TransactionsView } from './views/transactions-view.tsx';

type Read = ViewProps['parameter'];

interface ViewDefinition {
  /** What is shown, in words. */
  readonly title: (parameter: Read) => string;
  readonly show: ComponentType<ViewProps>;
}

/** `name`, followed by what it is of when the reader has said so. */
function titled(name: string, empty: string, ...parameters: string[]) {
  return (parameter: Read): string => {
    const values = parameters.map((one) => shortHex(parameter(one)));
    return values.includes('') ? empty : `${name} ${values.join('::')}`;
  };
}

function eventsTitle(parameter: Read): string {
  const [account, stream] = [parameter('account'), parameter('stream')];
  return account === '' || stream === ''
    ? 'Event stream'
    : `Event stream ${stream} of ${shortHex(account)}`;
}

function countTitle(name: string, parameter: string) {
  return (read: Read): string => {
    const text = read(parameter);
    return `${name} ${/^\d+$/.test(text) ? groupDigits(text) : shortHex(text)}`;
  };
}

const VIEWS: Readonly<Record<ViewName, ViewDefinition>> = {
  overview: { title: () => 'Ledger', show: OverviewView },
  transactions: { title: () => 'Transactions', show: TransactionsView },
  transaction: { title: countTitle('Transaction', 'id'), show: TransactionView },
  blocks: { title: () => 'Blocks', show: BlocksView },
  block: { title: countTitle('Block', 'height'), show: BlockView },
  account: { title: titled('Account', 'Account', 'address'), show: AccountView },
  module: { title: titled('Module', 'Module', 'account', 'name'), show: ModuleView },
  events: { title: eventsTitle, show: EventsView },
  balance: { title: titled('Balance of', 'Balance', 'account'), show: BalanceView },
  encode: { title: () => 'Encode a transaction', show: EncodeView },
  search: { title: titled('Search for', 'Search', 'q'), show: SearchView },
};

/** The views in the navigation, and those that belong to them. */
const NAVIGATION: readonly (readonly [ViewName, string, ...ViewName[]])[] = [
  ['overview', 'Ledger'],
  ['transactions', 'Transactions', 'transaction'],
  ['blocks', 'Blocks', 'block'],
  ['account', 'Account'],
  ['balance', 'Balance'],
  ['events', 'Events'],
  ['module', 'Module'],
  ['encode', 'Encode'],
];

function Page() {
  const [hash, setHash] = useState(location.hash);
  /** Counts arrivals, so that going to the present hash shows its view again. */
  const [arrivals, setArrivals] = useState(0);
  const [defect, setDefect] = useState<unknown>();
  // Before the first paint: who clicks or types at once is heard.
  useLayoutEffect(() => {
    const arrive = (): void => {
      setHash(location.hash);
      setArrivals((count) => count + 1);
    };
    // A defect must be seen by the reader too, not only in the console.
    const tell = (event: PromiseRejectionEvent): void => setDefect(event.reason);
    window.addEventListener('hashchange', arrive);
    window.addEventListener('unhandledrejection', tell);
  }, []);
  const route = parseRoute(hash);
  const heading = useRef<HTMLHeadingElement>(null);
  const view = route?.view;
  useLayoutEffect(() => {
    announce('');
    if (arrivals === 0) return;
    window.scrollTo(0, 0);
    heading.current?.focus({ preventScroll: true });
  }, [view]);
  const parameter = (name: string) => route?.parameters.get(name)?.trim() ?? '';
  const version = parameter('version') || undefined;
  const title = route === undefined ? 'Unknown view' : VIEWS[route.view].title(parameter);
  useLayoutEffect(() => {
    document.title = `${title} · Daybook`;
  }, [title]);
  const Shown = route && VIEWS[route.view].show;
  const refusal = refusalOf(hash, version);
  return (
    <>
      <SkipLink />
      <Header view={view} version={parameter('version')} />
      <main id="main" tabIndex={-1}>
        <h1 tabIndex={-1} ref={heading}>
          {title}
        </h1>
        {refusal !== undefined || Shown === undefined ? (
          <Failure title="Nothing to show" error={refusal} />
        ) : (
          <div key={view}>
            <Shown {...{ parameter, version }} />
          </div>
        )}
        {defect !== undefined && (
          <Failure title="Something went wrong on this page" error={defect} />
        )}
      </main>
      <footer>
        <p>
          Served by this node; nothing here leaves it. <a href="/v1/spec">API documentation</a>,{' '}
          <a href="/v1/spec.json">OpenAPI document</a>
        </p>
      </footer>
    </>
  );
}

/** Why no view can show this; undefined when one can try. */
function refusalOf(hash: string, version: string | undefined): Error | undefined {
  if (parseRoute(hash) === undefined) return new Error(`There is no view for ${hash}.`);
  if (version === undefined || readU64(version) !== undefined) return undefined;
  return new RangeError(`A version is a whole number below 2^64, not “${version}”.`);
}

/** Its target is an element, not a route: a hash link would leave the view. */
function SkipLink() {
  const skip = (event: Event): void => {
    event.preventDefault();
    document.getElementById('main')!.focus();
  };
  return (
    // biome-ignore lint/a11y/useValidAnchor: it leads to the element, by keyboard
    <a class="skip" href="#main" onClick={skip}>
      Skip to content
    </a>
  );
}

function Header({ view, version }: { view: ViewName | undefined; version: string }) {
  return (
    <header class="top">
      <div class="bar">
        <a class="name" href={linkTo('overview')}>
          Daybook
        </a>
        <Search />
        <TimeMachine version={version} />
      </div>
      <nav class="bar" aria-label="Views">
        <ul>
          {NAVIGATION.map(([name, text, ...others]) => (
            <li key={name}>
              <a
                data-view={name}
                href={linkTo(name)}
                aria-current={view === name || (view && others.includes(view)) ? 'page' : undefined}
              >
                {text}
              </a>
            </li>
          ))}
          <li>
            <a href="/v1/spec">API</a>
          </li>
        </ul>
      </nav>
      <Strip />
    </header>
  );
}

/** The hash at the version in the address bar. */
function withVersion(hash: string): string {
  const route = parseRoute(hash)!;
  return linkTo(route.view, Object.fromEntries(route.parameters));
}

/** One box for everything; `/` goes there. */
function Search() {
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  // Before the first paint, like the listeners of the page.
  useLayoutEffect(() => {
    const focus = (event: KeyboardEvent): void => {
      const isTyping = (event.target as Element).closest('input, textarea, select') !== null;
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      input.current!.focus();
      input.current!.select();
    };
    document.addEventListener('keydown', focus);
    return () => document.removeEventListener('keydown', focus);
  }, []);
  const look = (event: Event): void => {
    event.preventDefault();
    const q = input.current!.value.trim();
    const term = readSearch(q);
    if (term === undefined) {
      input.current!.setCustomValidity(`This is none of these. ${SEARCH_HINT}`);
      input.current!.reportValidity();
    } else go(term.kind === 'place' ? withVersion(term.hash) : linkTo('search', { q }));
  };
  return (
    <search>
      <form class="search" aria-label="Search" onSubmit={look}>
        <label class="visually-hidden" for={id}>
          Search the ledger
        </label>
        <input
          id={id}
          ref={input}
          type="text"
          required
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          placeholder="Version, hash, address, module  ( / )"
          title={SEARCH_HINT}
          onInput={(event) => event.currentTarget.setCustomValidity('')}
          onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
        />
        <button type="submit" class="primary">
          Search
        </button>
      </form>
    </search>
  );
}

/** The version as of which everything is shown. */
function TimeMachine({ version }: { version: string }) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const choose = (chosen: string): void => {
    const route = parseRoute(location.hash);
    const parameters = Object.fromEntries(route?.parameters ?? []);
    go(routeHash(route?.view ?? 'overview', { ...parameters, version: chosen }));
  };
  // The field follows the address bar, and is the reader's otherwise.
  useLayoutEffect(() => {
    input.current!.value = version;
  }, [version]);
  return (
    <form
      class={version === '' ? 'time-machine' : 'time-machine chosen'}
      aria-label="Time machine"
      onSubmit={(event) => {
        event.preventDefault();
        choose(input.current!.value.trim());
      }}
    >
      <label for={id}>At version</label>
      <input
        id={id}
        ref={input}
        type="text"
        inputMode="numeric"
        pattern="[0-9]*"
        autocomplete="off"
        placeholder="latest"
        title="Everything on this page as of a version; empty for the latest"
      />
      {version !== '' && (
        <button type="button" class="quiet" onClick={() => choose('')}>
          Back to latest
        </button>
      )}
    </form>
  );
}

const STATUS_TEXTS: Readonly<Record<LiveState['status'], string>> = {
  connecting: 'Connecting…',
  live: 'Live',
  idle: 'Not growing',
  paused: 'Paused',
  unreachable: 'Not reachable',
};

/** Is the node answering, and how far its ledger has come; only changes of status are announced. */
function Strip() {
  const { status, info, failure } = useLive();
  const isGone = status === 'unreachable';
  const wasGone = useRef(false);
  useEffect(() => {
    if (isGone) announce(`The node cannot be reached: ${failure?.message ?? ''}`);
    else if (wasGone.current) announce('The node answers again.');
    wasGone.current = isGone;
  }, [isGone]);
  const age = info && agoText(Number(info.timestampUsecs / 1000n), Date.now());
  const facts: (readonly [name: string, value: string, title?: string])[] =
    info === undefined
      ? []
      : [
          ['chain', info.chainId],
          ['version', groupDigits(info.version)],
          ['block', groupDigits(info.blockHeight)],
          ['epoch', groupDigits(info.epoch)],
          ['last block', age!, timeText(info.timestampUsecs)],
        ];
  if (isGone && failure !== undefined) facts.push(['error', failure.code]);
  return (
    <section class="strip" aria-label="Ledger state">
      <span class="status" data-status={status}>
        {STATUS_TEXTS[status]}
      </span>
      <span class="strip-facts">
        {facts.map(([name, value, title]) => (
          <span key={name} class="strip-fact" title={title}>
            {name} <b>{value}</b>
          </span>
        ))}
      </span>
    </section>
  );
}

live.start();
render(<Page />, document.getElementById('page')!);
