/** The page's start: navigation, the ledger strip and the views. */
import { announce, element, required } from './dom.ts';
import { failurePanel } from './failure-panel.ts';
import { showLedgerStrip } from './ledger-strip.ts';
import { LiveLedger } from './live-ledger.ts';
import { parseRoute, type ViewName } from './route.ts';
import type { View, ViewFactory } from './view.ts';
import { balanceView } from './views/balance-view.ts';
import { encodeView } from './views/encode-view.ts';
import { eventsView } from './views/events-view.ts';
import { moduleView } from './views/module-view.ts';
import { overviewView } from './views/overview-view.ts';

const VIEWS: Readonly<Record<ViewName, { readonly title: string; readonly make: ViewFactory }>> = {
  overview: { title: 'Ledger', make: overviewView },
  balance: { title: 'Account balance', make: balanceView },
  events: { title: 'Event stream', make: eventsView },
  module: { title: 'Module', make: moduleView },
  encode: { title: 'Encode a transaction', make: encodeView },
};

const live = new LiveLedger();
let current:
  | { readonly name: ViewName; readonly view: View; readonly leave: () => void }
  | undefined;

function go(hash: string): void {
  if (location.hash === hash) showRoute(false);
  else location.hash = hash;
}

/**
 * Shows the view of the address bar's hash; moves the focus to its heading when the reader went
 * there.
 */
function showRoute(moveFocus: boolean): void {
  const route = parseRoute(location.hash);
  if (route === undefined) {
    leave();
    const message = new Error(`There is no view for ${location.hash}.`);
    required('main').replaceChildren(failurePanel('Unknown view', message));
    return;
  }
  if (current?.name !== route.view) enter(route.view, moveFocus);
  current!.view.update(route.parameters);
}

function leave(): void {
  current?.leave();
  current = undefined;
}

function enter(name: ViewName, moveFocus: boolean): void {
  leave();
  const { title, make } = VIEWS[name];
  const controller = new AbortController();
  const view = make({ live, signal: controller.signal, go });
  const heading = element('h1', { tabindex: -1 }, title);
  required('main').replaceChildren(heading, view.node);
  current = { name, view, leave: () => controller.abort() };
  document.title = `${title} · Daybook`;
  for (const link of document.querySelectorAll('nav a[data-view]')) {
    if (link.getAttribute('data-view') === name) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  announce('');
  if (moveFocus) {
    window.scrollTo(0, 0);
    heading.focus({ preventScroll: true });
  }
}

/** The skip link's target is an element, not a route: hash links would leave the view. */
function wireSkipLink(): void {
  required('skip').addEventListener('click', (event) => {
    event.preventDefault();
    required('main').focus();
  });
}

window.addEventListener('hashchange', () => showRoute(true));
// A defect must be seen by the reader too, not only in the console.
window.addEventListener('unhandledrejection', (event) => {
  required('main').append(failurePanel('Something went wrong on this page', event.reason));
});
wireSkipLink();
showLedgerStrip(required('strip'), live);
live.start();
showRoute(false);
