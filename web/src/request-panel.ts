/** The request behind a view: how to repeat it with curl, and what came back. */
import type { ApiAnswer, ApiFailure } from './api-client.ts';
import type { ApiRequest } from './api-request.ts';
import { copyButton } from './copy-button.ts';
import { curlCommand } from './curl.ts';
import { described, element, freshId } from './dom.ts';
import { counted, sizeText } from './number-text.ts';

/** A section with the curl command, the status and the ledger headers of one request. */
export class RequestPanel {
  readonly node: HTMLElement;
  readonly #command = element('code');
  readonly #status = element('p', { class: 'request-status' });
  readonly #headers = element('dl', { class: 'facts compact' });
  readonly #details = element(
    'details',
    { hidden: true },
    element('summary', {}, 'Ledger headers'),
    this.#headers,
  );
  #answered = '';
  readonly #similar = new Map<string, number>();

  constructor(title = 'Request') {
    const id = freshId('request');
    const block = element(
      'pre',
      { class: 'command', tabindex: 0, 'aria-label': 'curl command' },
      this.#command,
    );
    this.node = element(
      'section',
      { class: 'request', 'aria-labelledby': id, hidden: true },
      element(
        'div',
        { class: 'section-head' },
        element('h2', { id }, title),
        copyButton('Copy as curl', this.#command),
      ),
      block,
      this.#status,
      this.#details,
    );
  }

  /** Shows the request, not answered yet. */
  show(request: ApiRequest): void {
    this.#similar.clear();
    this.#command.textContent = curlCommand(request, location.origin);
    this.#setStatus('Waiting for the answer…');
    this.#details.hidden = true;
    this.node.hidden = false;
  }

  showAnswer(answer: ApiAnswer): void {
    this.show(answer.request);
    const size = sizeText(new Blob([answer.text]).size);
    this.#setStatus(`${answer.status}, ${size} in ${answer.elapsedMs.toFixed(0)} ms`);
    this.#headers.replaceChildren(
      ...[...answer.ledgerHeaders].map(([name, value]) => described(name, value)),
    );
    this.#details.hidden = answer.ledgerHeaders.size === 0;
  }

  showFailure(failure: ApiFailure): void {
    this.show(failure.request);
    this.#setStatus(
      failure.status === 0
        ? `No answer (${failure.code})`
        : `${failure.status} ${failure.code}, in ${failure.elapsedMs.toFixed(0)} ms`,
    );
  }

  /** Counts one more request that the view made after the shown one; `purpose` tells what for. */
  addSimilar(purpose: string): void {
    this.#similar.set(purpose, (this.#similar.get(purpose) ?? 0) + 1);
    this.#setStatus(this.#answered);
  }

  #setStatus(answered: string): void {
    this.#answered = answered;
    const similar = [...this.#similar].map(
      ([purpose, count]) => `; ${counted(count, 'more request')} ${purpose}`,
    );
    this.#status.textContent = answered + similar.join('');
  }
}
