/** The line under the navigation: is the node answering, and how far its ledger has come. */
import { announce, element } from './dom.ts';
import type { LiveLedger, LiveState } from './live-ledger.ts';
import { groupDigits } from './number-text.ts';

const STATUS_TEXTS: Readonly<Record<LiveState['status'], string>> = {
  connecting: 'Connecting…',
  live: 'Live',
  paused: 'Paused',
  unreachable: 'Not reachable',
};

/** Keeps `strip` up to date for as long as the page lives; only changes of status are announced. */
export function showLedgerStrip(strip: HTMLElement, live: LiveLedger): void {
  const status = element('span', { class: 'status' });
  const facts = element('span', { class: 'strip-facts' });
  strip.append(status, facts);
  let shown: LiveState['status'] = 'connecting';
  live.subscribe((state) => {
    status.textContent = STATUS_TEXTS[state.status];
    status.setAttribute('data-status', state.status);
    facts.replaceChildren(...factsOf(state));
    if (state.status === 'unreachable' && shown !== 'unreachable') {
      announce(`The node cannot be reached: ${state.failure?.message ?? ''}`);
    }
    if (state.status === 'live' && shown === 'unreachable') announce('The node answers again.');
    shown = state.status;
  }, new AbortController().signal);
}

function factsOf({ status, info, failure }: LiveState): Node[] {
  const facts: [string, string][] = [];
  if (info !== undefined) {
    facts.push(
      ['chain', info.chainId],
      ['version', groupDigits(info.version)],
      ['block', groupDigits(info.blockHeight)],
      ['epoch', groupDigits(info.epoch)],
    );
  }
  if (status === 'unreachable' && failure !== undefined) facts.push(['error', failure.code]);
  return facts.map(([name, value]) =>
    element('span', { class: 'strip-fact' }, `${name} `, element('b', {}, value)),
  );
}
