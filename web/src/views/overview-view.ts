/** Overview: the ledger's state, a search field, and places to begin. */
import { described, element } from '../dom.ts';
import { failurePanel } from '../failure-panel.ts';
import { form, textInput } from '../form-fields.ts';
import type { LedgerInfo, LiveState } from '../live-ledger.ts';
import { agoText, groupDigits, timeText } from '../number-text.ts';
import { RequestPanel } from '../request-panel.ts';
import { routeHash, searchRoute } from '../route.ts';
import type { View, ViewContext } from '../view.ts';

const SEARCH_HINT =
  'An address (0x1), a module (0x1::coin), an item of one (0x1::coin::transfer), or a stream (0x1/2).';

/** The account that publishes the applications of every sample ledger. */
const SAMPLE_PUBLISHER = '0xcafeef724f479a8de22ed68b92ca2cc6887aa6e28ba16b62e9b5a9869212691b';

/** Places that every ledger of this kind has, and two of the sample ledger. */
const STARTING_POINTS: readonly (readonly [text: string, hash: string])[] = [
  ['Module 0x1::coin', routeHash('module', { account: '0x1', name: 'coin' })],
  ['Epoch changes, stream 2 of 0x1', routeHash('events', { account: '0x1', stream: '2' })],
  ['New blocks, stream 3 of 0x1', routeHash('events', { account: '0x1', stream: '3' })],
  ['Sample ledger: balance of its publisher', routeHash('balance', { account: SAMPLE_PUBLISHER })],
  [
    'Sample ledger: ticks of its publisher',
    routeHash('events', { account: SAMPLE_PUBLISHER, stream: '2' }),
  ],
  ['Bytes to sign for a transfer', routeHash('encode', { example: 'transfer' })],
];

/** Makes the view. */
export function overviewView({ live, signal, go }: ViewContext): View {
  const state = element('div', { class: 'ledger-state' });
  const panel = new RequestPanel();
  const search = textInput('Look up', 'search', {
    hint: SEARCH_HINT,
    placeholder: '0x1::coin',
    required: true,
  });
  search.input.addEventListener('input', () => search.input.setCustomValidity(''));
  const searchForm = form('Look up', [search.node], 'Look up', () => {
    const hash = searchRoute(search.input.value);
    if (hash === undefined) {
      search.input.setCustomValidity(`This is none of these. ${SEARCH_HINT}`);
      search.input.reportValidity();
    } else go(hash);
  });
  searchForm.classList.add('inline');
  const links = STARTING_POINTS.map(([text, href]) =>
    element('li', {}, element('a', { href }, text)),
  );
  const node = element(
    'div',
    {},
    state,
    searchForm,
    element(
      'section',
      { 'aria-labelledby': 'starting-points' },
      element('h2', { id: 'starting-points' }, 'Where to begin'),
      element('ul', { class: 'links' }, ...links),
    ),
    panel.node,
  );
  live.subscribe((now) => showState(now, state, panel), signal);
  return { node, update: () => undefined };
}

function showState(now: LiveState, state: HTMLElement, panel: RequestPanel): void {
  if (now.failure !== undefined) {
    panel.showFailure(now.failure);
    const title = 'The ledger’s state is not known';
    if (now.info === undefined) state.replaceChildren(failurePanel(title, now.failure));
    else markStale(state, now);
    return;
  }
  if (now.answer !== undefined) panel.showAnswer(now.answer);
  if (now.info === undefined) state.replaceChildren(element('p', {}, 'Asking the node…'));
  else state.replaceChildren(figures(now.info), facts(now.info, now.versionsPerSecond));
}

/** Shows the last known figures, and announces that once. */
function markStale(state: HTMLElement, now: LiveState): void {
  if (state.querySelector('.failure') !== null) return;
  const title = 'The node does not answer; the figures below are the last known';
  state.prepend(failurePanel(title, now.failure));
}

function figures(info: LedgerInfo): HTMLElement {
  const figure = (term: string, value: string): HTMLElement => described(term, value);
  return element(
    'dl',
    { class: 'figures' },
    figure('Version', groupDigits(info.version)),
    figure('Block', groupDigits(info.blockHeight)),
    figure('Epoch', groupDigits(info.epoch)),
    figure('Chain id', info.chainId),
  );
}

function facts(info: LedgerInfo, versionsPerSecond: number | undefined): HTMLElement {
  const ledgerTimeMs = Number(info.timestampUsecs / 1000n);
  const ago = info.timestampUsecs === 0n ? 'genesis' : agoText(ledgerTimeMs, Date.now());
  const kept =
    info.oldestVersion === 0n
      ? 'all, from version 0'
      : `from version ${groupDigits(info.oldestVersion)}, block ${groupDigits(info.oldestBlockHeight)}`;
  return element(
    'dl',
    { class: 'facts' },
    described('Ledger time', `${timeText(info.timestampUsecs)} (${ago})`),
    described('History kept', kept),
    described('Growth', growthText(versionsPerSecond)),
    described('Node role', info.nodeRole.replace('_', ' ')),
    info.gitHash === '' ? undefined : described('Git hash', element('code', {}, info.gitHash)),
    info.encryptionKey === undefined
      ? undefined
      : described('Encryption key', element('code', {}, info.encryptionKey)),
  );
}

function growthText(versionsPerSecond: number | undefined): string {
  if (versionsPerSecond === undefined) return 'measuring…';
  if (versionsPerSecond === 0) return 'no new version seen lately';
  return `${versionsPerSecond.toFixed(1)} versions per second`;
}
