/** Encode: a request in, the bytes to sign out, part by part and with their meaning. */

import { JsonSyntaxError } from '../../../src/move/json/json-text.ts';
import { ApiFailure, send } from '../api-client.ts';
import { bytesPanel } from '../bytes-panel.ts';
import { announce, element } from '../dom.ts';
import { EncodeEditor } from '../encode-editor.ts';
import { failurePanel } from '../failure-panel.ts';
import { form, textArea } from '../form-fields.ts';
import { parseJson } from '../json-fields.ts';
import { encodeRequest } from '../ledger-requests.ts';
import { counted } from '../number-text.ts';
import { RequestPanel } from '../request-panel.ts';
import { routeHash } from '../route.ts';
import { readHexText } from '../signing-message.ts';
import { LatestRun, type View, type ViewContext } from '../view.ts';

/** Longer requests do not go into the address bar. */
const MAX_LINKED_CHARACTERS = 16_384;

/** Makes the view. */
export function encodeView(context: ViewContext): View {
  const view = new EncodeView(context);
  return { node: view.node, update: (parameters) => view.update(parameters) };
}

class EncodeView {
  readonly node: HTMLElement;
  readonly #signal: AbortSignal;
  readonly #runs: LatestRun;
  readonly #editor: EncodeEditor;
  readonly #hex = textArea('Signing message in hex', 'hex', 4);
  readonly #result = element('div', { class: 'result' });
  readonly #panel = new RequestPanel();

  constructor({ signal, go }: ViewContext) {
    this.#signal = signal;
    this.#runs = new LatestRun(signal);
    this.#editor = new EncodeEditor(signal);
    const encodeForm = form('Request to encode', [this.#editor.node], 'Encode', () => {
      const { text } = this.#editor;
      if (text.length <= MAX_LINKED_CHARACTERS) go(routeHash('encode', { request: text }));
      else void this.#encode(text, this.#runs.begin());
    });
    const readForm = form('Bytes to read', [this.#hex.node], 'Read bytes', () => {
      const text = this.#hex.area.value.trim();
      if (text.length <= MAX_LINKED_CHARACTERS) go(routeHash('encode', { hex: text }));
      else this.#read(text, this.#runs.begin());
    });
    const reader = element(
      'details',
      { class: 'reader' },
      element('summary', {}, 'Have bytes already? Read them'),
      readForm,
    );
    this.node = element('div', {}, encodeForm, reader, this.#result, this.#panel.node);
  }

  update(parameters: ReadonlyMap<string, string>): void {
    const signal = this.#runs.begin();
    this.#result.replaceChildren();
    this.#panel.node.hidden = true;
    const request = parameters.get('request');
    const hex = parameters.get('hex');
    const called = parameters.get('function');
    if (request !== undefined) {
      if (this.#editor.text !== request) this.#editor.text = request;
      void this.#encode(request, signal);
    } else if (hex !== undefined) {
      if (this.#editor.text === '') this.#editor.useExample('transfer');
      this.#hex.area.value = hex;
      this.#hex.area.closest('details')!.open = true;
      this.#read(hex, signal);
    } else if (called !== undefined) void this.#useFunction(called);
    else this.#editor.useExample(parameters.get('example') ?? 'transfer');
  }

  async #useFunction(name: string): Promise<void> {
    try {
      await this.#editor.useFunction(name);
    } catch (error) {
      if (!this.#signal.aborted) this.#result.replaceChildren(failurePanel('No function', error));
    }
  }

  async #encode(body: string, signal: AbortSignal): Promise<void> {
    const request = encodeRequest(body);
    this.#panel.show(request);
    try {
      const answer = await send(request, signal);
      this.#panel.showAnswer(answer);
      const hex = parseJson(answer.text);
      if (typeof hex !== 'string') throw new TypeError('The answer is no JSON string.');
      this.#showBytes(readHexText(hex), signal);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiFailure) this.#panel.showFailure(error);
      const title =
        error instanceof JsonSyntaxError ? 'The answer is not JSON' : 'The request was refused';
      this.#result.replaceChildren(failurePanel(title, error));
    }
  }

  #read(hex: string, signal: AbortSignal): void {
    try {
      this.#showBytes(readHexText(hex), signal);
    } catch (error) {
      this.#result.replaceChildren(failurePanel('These are no bytes in hex', error));
    }
  }

  #showBytes(message: Uint8Array, signal: AbortSignal): void {
    this.#result.replaceChildren(bytesPanel(message, signal));
    announce(`${counted(message.length, 'byte')} to sign`);
  }
}
