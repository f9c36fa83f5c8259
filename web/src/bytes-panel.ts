/** A signing message: its hex, its labelled parts, and its meaning according to the node. */
import { formatHex } from '../../src/move/bcs/hex.ts';
import { ApiFailure, send } from './api-client.ts';
import { copyButton } from './copy-button.ts';
import { decodedView } from './decoded-view.ts';
import { button, element } from './dom.ts';
import { failurePanel } from './failure-panel.ts';
import { parseJson } from './json-fields.ts';
import { decodeRequest } from './ledger-requests.ts';
import { counted } from './number-text.ts';
import { RequestPanel } from './request-panel.ts';
import { divideSigningMessage, hexDigits, type MessagePart } from './signing-message.ts';

/** Shows the message and asks the node for its meaning, until `signal` aborts. */
export function bytesPanel(message: Uint8Array, signal: AbortSignal): HTMLElement {
  const { parts, problem } = divideSigningMessage(message);
  const runs = parts.map(({ start, end }) =>
    element('span', { class: 'run' }, hexDigits(message.subarray(start, end))),
  );
  const hex = element('code', {}, ...runs);
  const rows = parts.map((part, at) => partRow(part, message, runs[at]!));
  const head = ['Part', 'Bytes', 'Meaning'].map((text) =>
    element('th', { scope: 'col', role: 'columnheader' }, text),
  );
  return element(
    'div',
    { class: 'bytes' },
    element(
      'section',
      { 'aria-label': 'Bytes to sign' },
      element(
        'div',
        { class: 'section-head' },
        element('h2', {}, `Bytes to sign, ${counted(message.length, 'byte')}`),
        copyButton('Copy hex', hex, () => formatHex(message)),
      ),
      element('pre', { class: 'hex', tabindex: 0, 'aria-label': 'Signing message in hex' }, hex),
      problem === undefined ? undefined : unreadNote(problem),
      element(
        'table',
        { class: 'parts', role: 'table' },
        element('caption', { class: 'visually-hidden' }, 'Parts of the signing message'),
        element('thead', { role: 'rowgroup' }, element('tr', { role: 'row' }, ...head)),
        element('tbody', { role: 'rowgroup' }, ...rows),
      ),
    ),
    meaningSection(message, signal),
  );
}

function unreadNote(problem: string): HTMLElement {
  return element(
    'p',
    { class: 'note', role: 'status' },
    `These bytes could not be taken apart to their end: ${problem}.`,
  );
}

/** A row that marks its run in the hex while the pointer or the focus is on it. */
function partRow(part: MessagePart, message: Uint8Array, run: HTMLElement): HTMLElement {
  const mark = (marked: boolean): void => {
    run.classList.toggle('marked', marked);
  };
  const label = button(part.label, () => run.scrollIntoView({ block: 'nearest' }), {
    class: 'part',
  });
  const row = element(
    'tr',
    { role: 'row' },
    element('th', { scope: 'row', role: 'rowheader' }, label),
    element(
      'td',
      { role: 'cell' },
      element('code', {}, hexDigits(message.subarray(part.start, part.end))),
    ),
    element('td', { role: 'cell' }, part.meaning),
  );
  row.addEventListener('pointerenter', () => mark(true));
  row.addEventListener('pointerleave', () => mark(false));
  row.addEventListener('focusin', () => mark(true));
  row.addEventListener('focusout', () => mark(false));
  return row;
}

function meaningSection(message: Uint8Array, signal: AbortSignal): HTMLElement {
  const content = element('div', {}, element('p', { class: 'hint' }, 'Asking the node…'));
  const panel = new RequestPanel('Request for the meaning');
  const section = element(
    'section',
    { 'aria-label': 'Meaning' },
    element('h2', {}, 'Meaning, as the node reads the bytes'),
    content,
    panel.node,
  );
  showMeaning(formatHex(message), content, panel, signal).catch((error: unknown) => {
    if (signal.aborted) return;
    if (error instanceof ApiFailure) panel.showFailure(error);
    content.replaceChildren(
      error instanceof ApiFailure && error.status === 404 && error.code === 'web_framework_error'
        ? notOffered(error)
        : failurePanel('The node could not decode these bytes', error),
    );
  });
  return section;
}

async function showMeaning(
  hex: string,
  content: HTMLElement,
  panel: RequestPanel,
  signal: AbortSignal,
): Promise<void> {
  const request = decodeRequest(hex);
  panel.show(request);
  const answer = await send(request, signal);
  panel.showAnswer(answer);
  content.replaceChildren(decodedView(parseJson(answer.text)));
}

function notOffered(failure: ApiFailure): HTMLElement {
  return element(
    'p',
    { class: 'note' },
    'This node does not offer decoding (',
    element('code', {}, `${failure.status} ${failure.code}: ${failure.message}`),
    '). The parts above come from the bytes alone.',
  );
}
