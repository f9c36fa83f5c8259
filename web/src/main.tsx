/** Entry point of the page: the frame around the views, the search, the time machine and the ledger's state. */
import './styles/parts.css';
import './styles/encode.css';
import './styles/views.css';
import './styles/explorer.css';
import './styles/lists.css';
import './styles/frame.css';
import { type ComponentType, render } from 'preact';
import {
  useEffect,
  useErrorBoundary,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'preact/hooks';
import { startListening, useLive } from './asking/live-ledger.ts';
import { NODE } from './asking/node-facts.ts';
import { go, onArrival, startNavigation } from './navigation.ts';
import { groupDigits, ledgerAgeText, readU64, shortHex, timeText } from './parts/number-text.ts';
import { announce, Failure, useCurrentInView } from './parts/parts.tsx';
import { readVersion, VERSION_HINT } from './parts/version-text.ts';
import {
  chosenVersion,
  currentRoute,
  linkTo,
  parameter,
  routePath,
  type ViewName,
} from './route.ts';
import { SearchBox } from './search-box.tsx';
import { AccountView } from './views/account-view.tsx';
import { AssetView } from './views/asset-view.tsx';
import { BalanceView } from './views/balance-view.tsx';
import { BlockView } from './views/block-view.tsx';
import { BlocksView } from './views/blocks-view.tsx';
import { CollectionView } from './views/collection-view.tsx';
import { EncodeView } from './views/encode-view.tsx';
import { EventsView } from './views/events-view.tsx';
import { LocalView } from './views/local-view.tsx';
import { ModuleView } from './views/module-view.tsx';
import { OverviewView } from './views/overview-view.tsx';
import { SearchView } from './views/search-view.tsx';
import { TableView } from './views/table-view.tsx';
import { TokenView } from './views/token-view.tsx';
import { TransactionView } from './views/transaction-view.tsx';
import { TransactionsView } from './views/transactions-view.tsx';
import { ValidatorsView } from './views/validators-view.tsx';

/** The title of a view: a name, followed by its subject once the reader has chosen one. */
function assetTitle(): string {
  const asset = parameter('asset');
  if (asset === '') return 'Assets';
  return `Asset ${asset.includes('::') ? asset.split('::').at(-1) : shortHex(asset)}`;
}

function titled(name: string, empty: string, ...parameters: string[]) {
  return (): string => {
    const values = parameters.map((one) => parameter(one));
    if (values.includes('')) return empty;
    const texts = values.map((text) => (/^\d+$/.test(text) ? groupDigits(text) : shortHex(text)));
    return `${name} ${texts.join('::')}`;
  };
}

function eventsTitle(): string {
  if (parameter('type') !== '') return 'Events of a type';
  const [account, stream] = [parameter('account'), parameter('stream')];
  return account === '' || stream === ''
    ? 'Event stream'
    : `Event stream ${stream} of ${shortHex(account)}`;
}

const VIEWS: Readonly<Record<ViewName, readonly [title: () => string, show: ComponentType]>> = {
  overview: [() => 'Ledger', OverviewView],
  transactions: [() => 'Transactions', TransactionsView],
  transaction: [titled('Transaction', 'Transaction', 'id'), TransactionView],
  blocks: [() => 'Blocks', BlocksView],
  block: [titled('Block', 'Block', 'height'), BlockView],
  account: [titled('Account', 'Account', 'address'), AccountView],
  module: [titled('Module', 'Module', 'account', 'name'), ModuleView],
  events: [eventsTitle, EventsView],
  asset: [assetTitle, AssetView],
  collection: [titled('Collection', 'Collection', 'address'), CollectionView],
  token: [titled('Token', 'Token', 'address'), TokenView],
  validators: [() => 'Validators', ValidatorsView],
  table: [titled('Table', 'Table', 'handle'), TableView],
  balance: [titled('Balance of', 'Balance', 'account'), BalanceView],
  encode: [() => 'Encode a transaction', EncodeView],
  local: [() => 'Local network', LocalView],
  search: [titled('Search for', 'Search', 'q'), SearchView],
};

/** The views in the navigation, each with the views that belong to it. */
const NAVIGATION: readonly (readonly [ViewName, string, ...ViewName[]])[] = [
  ['overview', 'Ledger'],
  ['transactions', 'Transactions', 'transaction'],
  ['blocks', 'Blocks', 'block', 'validators'],
  ['account', 'Account'],
  ['asset', 'Assets', 'collection', 'token'],
  ['balance', 'Balance'],
  ['events', 'Events'],
  ['module', 'Module'],
  ['encode', 'Encode'],
  ...(NODE.isControlled ? [['local', 'Local network'] as const] : []),
];

function Page() {
  /** Counts navigations, so that going to the current path shows its view again. */
  const [arrivals, setArrivals] = useState(0);
  const [defect, setDefect] = useState<unknown>();
  // Registered before the first paint, so that early clicks and keys are not lost.
  useLayoutEffect(() => {
    onArrival(() => setArrivals((count) => count + 1));
    // Readers must see errors too, not only the console.
    window.addEventListener('unhandledrejection', ({ reason }) => setDefect(reason));
    document.addEventListener('keydown', handleKey);
  }, []);
  const view = currentRoute()?.view;
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    announce('');
    if (arrivals === 0) return;
    window.scrollTo(0, 0);
    heading.current?.focus({ preventScroll: true });
  }, [view]);
  const [readTitle, Shown] = (view && VIEWS[view]) ?? [() => 'Unknown view'];
  const refusal = refusalOf();
  const title = readTitle();
  useLayoutEffect(() => {
    document.title = `${title} · Daybook`;
  }, [title]);
  return (
    <>
      <SkipLink />
      <Header view={view} />
      <main id="main" tabIndex={-1}>
        <h1 tabIndex={-1} ref={heading}>
          {title}
        </h1>
        {refusal !== undefined || Shown === undefined ? (
          <Failure title="Nothing to show" error={refusal} />
        ) : (
          <div key={view}>
            <Guarded Shown={Shown} />
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

/** Why no view can show this; undefined if one can try. */
function refusalOf(): Error | undefined {
  const version = chosenVersion();
  if (currentRoute() === undefined) {
    const { pathname, hash } = location;
    return new Error(`There is no view for ${pathname}${hash}.`);
  }
  if (version === undefined || readU64(version) !== undefined) return undefined;
  return new RangeError(`A version is a whole number below 2^64, not “${version}”.`);
}

/** A view. If it throws, the error is shown in its place until the reader moves on. */
function Guarded({ Shown }: { Shown: ComponentType }) {
  const [error, reset] = useErrorBoundary();
  useEffect(() => onArrival(reset), [reset]);
  return error === undefined ? (
    <Shown />
  ) : (
    <Failure title="This could not be shown" error={error} />
  );
}

/**
 * `/` moves to the search. Escape leaves a field of the header, or closes the open details element around the focus.
 */
function handleKey(event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  const isTyping = target.closest('input, textarea, select') !== null;
  if (event.key === 'Escape') {
    const unfolded = target.closest<HTMLDetailsElement>('details[open]');
    if (target.closest('header') !== null) target.blur();
    else if (unfolded !== null) {
      unfolded.open = false;
      unfolded.querySelector('summary')!.focus();
    }
  }
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  document.querySelector<HTMLInputElement>('search input')!.select();
}

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

function Header({ view }: { view: ViewName | undefined }) {
  const list = useCurrentInView(view);
  return (
    <header class="top">
      <div class="bar">
        <a class="name" href={linkTo('overview')}>
          Daybook
        </a>
        <SearchBox />
        <TimeMachine />
      </div>
      <nav class="bar" aria-label="Views">
        <ul ref={list}>
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

/** The version at which everything is shown. */
function TimeMachine() {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const version = chosenVersion() ?? '';
  const choose = async (text: string): Promise<void> => {
    let chosen = '';
    try {
      if (text.trim() !== '') chosen = await readVersion(text, new AbortController().signal);
    } catch (error) {
      input.current!.setCustomValidity(error instanceof Error ? error.message : String(error));
      input.current!.reportValidity();
      return;
    }
    const { view = 'overview', parameters = [] } = currentRoute() ?? {};
    go(routePath(view, { ...Object.fromEntries(parameters), version: chosen }));
  };
  // The field follows the address bar, unless the reader is editing it.
  useLayoutEffect(() => {
    input.current!.value = version;
  }, [version]);
  return (
    <form
      class={version === '' ? 'time-machine' : 'time-machine chosen'}
      aria-label="Time machine"
      onSubmit={(event) => {
        event.preventDefault();
        void choose(input.current!.value);
      }}
    >
      <label for={id}>At version</label>
      <input
        id={id}
        ref={input}
        type="text"
        autocomplete="off"
        placeholder="latest"
        title={`${VERSION_HINT}: everything on this page is shown as of it; empty for the latest`}
        onInput={(event) => event.currentTarget.setCustomValidity('')}
      />
      {version !== '' && (
        <button type="button" class="quiet" onClick={() => void choose('')}>
          Back to latest
        </button>
      )}
    </form>
  );
}

/** Properties of the node that readers should know before they read its figures. */
function Badges() {
  const oldest = useLive().info?.oldest_ledger_version ?? '0';
  const { isControlled, fork } = NODE;
  const badges: (readonly [text: string, title: string])[] = [];
  if (isControlled) badges.push(['local network', 'A chain on this machine, which tests control']);
  if (fork) {
    const text = `fork of ${fork.host} at ${groupDigits(fork.version)}`;
    badges.push([text, 'The ledger of another node, pinned at this version']);
  }
  if (oldest !== '0') {
    badges.push([`pruned below ${groupDigits(oldest)}`, 'Older versions are not here']);
  }
  return (
    <>
      {badges.map(([text, title]) => (
        <span key={text} class="badge" title={title}>
          {text}
        </span>
      ))}
    </>
  );
}

/** Facts that fit on a narrow screen. */
const MAIN_FACTS = ['version', 'last block', 'all of this page is as of version', 'error'];

const STATUS_TEXTS = {
  connecting: 'Connecting…',
  live: 'Live',
  idle: 'Not growing',
  paused: 'Paused',
  unreachable: 'Not reachable',
} as const;

/** Whether the node is answering, and the ledger's progress. Only changes of status are announced. */
function Strip() {
  const { status, info, failure } = useLive();
  const isGone = status === 'unreachable';
  const wasGone = useRef(false);
  useEffect(() => {
    if (isGone) announce(`The node cannot be reached: ${failure?.message ?? ''}`);
    else if (wasGone.current) announce('The node answers again.');
    wasGone.current = isGone;
  }, [isGone]);
  const facts: (readonly [name: string, value: string, title?: string])[] = [];
  const version = chosenVersion();
  if (version !== undefined && readU64(version) !== undefined) {
    // Current figures would be misleading beside those of another version.
    facts.push(['all of this page is as of version', groupDigits(version)]);
  } else if (info !== undefined) {
    const usecs = BigInt(info.ledger_timestamp);
    facts.push(
      ['chain', String(info.chain_id)],
      ['version', groupDigits(info.ledger_version)],
      ['block', groupDigits(info.block_height)],
      ['epoch', groupDigits(info.epoch)],
      ['last block', ledgerAgeText(usecs), timeText(usecs)],
    );
  }
  if (isGone && failure !== undefined) facts.push(['error', failure.code]);
  return (
    <section class="strip" aria-label="Ledger state">
      <span class="status" data-status={status}>
        {STATUS_TEXTS[status]}
      </span>
      <Badges />
      <span class="strip-facts">
        {facts.map(([name, value, title]) => (
          <span
            key={name}
            class={MAIN_FACTS.includes(name) ? 'strip-fact is-main' : 'strip-fact'}
            title={title}
          >
            {name} <b>{value}</b>
          </span>
        ))}
      </span>
    </section>
  );
}

startListening();
startNavigation();
render(<Page />, document.getElementById('page')!);
