/** The editor of a request: a form for entry functions next to the JSON that is sent. */

import { JsonSyntaxError, type JsonValue } from '../../src/move/json/json-text.ts';
import { ApiFailure, send } from './api-client.ts';
import { element, freshId } from './dom.ts';
import {
  argumentText,
  argumentValue,
  callSkeleton,
  ENCODE_EXAMPLES,
  type EncodeForm,
  exampleText,
  readForm,
  splitFunctionName,
  splitList,
  substituteTypes,
  TEXT_FIELDS,
  type TextFieldName,
  writeForm,
} from './encode-request.ts';
import { type TextField, textArea, textInput } from './form-fields.ts';
import { formatJson, parseJson } from './json-fields.ts';
import { moduleRequest } from './ledger-requests.ts';
import { type AbiFunction, argumentTypes, readModuleAnswer } from './move-abi.ts';

const LABELS: Readonly<Record<TextFieldName, string>> = {
  sender: 'Sender',
  sequence_number: 'Sequence number',
  max_gas_amount: 'Maximum gas amount',
  gas_unit_price: 'Gas unit price',
  expiration_timestamp_secs: 'Expires, seconds since 1970',
  replay_protection_nonce: 'Replay protection nonce',
};
const JSON_ROWS = 24;

/** Form and JSON side by side; changing one changes the other. */
export class EncodeEditor {
  readonly node: HTMLElement;
  readonly #signal: AbortSignal;
  readonly #json = textArea('Request as JSON, sent as it stands', 'request', JSON_ROWS);
  readonly #texts: ReadonlyMap<TextFieldName, TextField>;
  readonly #function = textInput('Function', 'function', { wide: true });
  readonly #typeArguments = textInput('Type arguments', 'type_arguments', {
    hint: 'Separated by commas.',
    wide: true,
  });
  readonly #signers = textInput('Secondary signers', 'secondary_signers', {
    hint: 'Addresses, separated by commas.',
    wide: true,
  });
  readonly #arguments = element('div', { class: 'arguments' });
  readonly #fields: HTMLFieldSetElement;
  readonly #note = element('p', { class: 'note', role: 'status', hidden: true });
  readonly #signature = element('p', { class: 'hint' });
  /** The function whose parameters label the arguments, with its name as typed. */
  #declared: { readonly name: string; readonly function: AbiFunction } | undefined;
  #argumentInputs: HTMLInputElement[] = [];

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    const texts = TEXT_FIELDS.map(
      (name) =>
        [
          name,
          textInput(LABELS[name], name, { numeric: name !== 'sender', wide: name === 'sender' }),
        ] as const,
    );
    this.#texts = new Map(texts);
    const simple = texts.map(([, { node }]) => node);
    this.#fields = element(
      'fieldset',
      { class: 'encode-form' },
      element('legend', {}, 'Entry function call'),
      this.#function.node,
      this.#signature,
      this.#typeArguments.node,
      this.#arguments,
      ...simple,
      this.#signers.node,
    );
    this.#fields.addEventListener('input', () => this.#formChanged());
    this.#function.input.addEventListener('change', () => void this.#functionChanged());
    this.#typeArguments.input.addEventListener('change', () => this.#showArguments());
    this.#json.area.addEventListener('input', () => this.#jsonChanged());
    const form = element('div', {}, this.#note, this.#fields);
    this.node = element(
      'div',
      { class: 'editor' },
      this.#examples(),
      element('div', { class: 'columns' }, form, this.#json.node),
    );
  }

  get text(): string {
    return this.#json.area.value;
  }

  set text(value: string) {
    this.#json.area.value = value;
    this.#jsonChanged();
  }

  /** Begins with an example. */
  useExample(name: string): void {
    const example = ENCODE_EXAMPLES.find((one) => one.name === name) ?? ENCODE_EXAMPLES[0]!;
    this.text = exampleText(example, Date.now());
  }

  /** Begins with a call of a function, its arguments to be filled in. */
  async useFunction(name: string): Promise<void> {
    this.useExample('transfer');
    this.#function.input.value = name;
    await this.#functionChanged();
  }

  #examples(): HTMLElement {
    const id = freshId('example');
    const options = ENCODE_EXAMPLES.map(({ name, title }) =>
      element('option', { value: name }, title),
    );
    const first = element('option', { value: '' }, 'Choose…');
    const select = element('select', { id }, first, ...options);
    select.addEventListener('change', () => {
      if (select.value !== '') this.useExample(select.value);
    });
    return element(
      'div',
      { class: 'field' },
      element('label', { for: id }, 'Start from an example'),
      select,
    );
  }

  #parsed(): JsonValue | JsonSyntaxError {
    try {
      return parseJson(this.text);
    } catch (error) {
      if (error instanceof JsonSyntaxError) return error;
      throw error;
    }
  }

  #jsonChanged(): void {
    const request = this.#parsed();
    if (request instanceof JsonSyntaxError) {
      this.#closeForm(`The JSON is not complete: ${request.message}.`);
      return;
    }
    const form = readForm(request);
    if (form === undefined) {
      this.#closeForm('The form covers entry functions; this request is edited as JSON.');
      return;
    }
    this.#note.hidden = true;
    this.#fields.disabled = false;
    for (const [name, { input }] of this.#texts) input.value = form.texts.get(name) ?? '';
    this.#signers.input.value = form.secondarySigners.join(', ');
    this.#typeArguments.input.value = form.typeArguments.join(', ');
    const renamed = this.#function.input.value !== form.function;
    this.#function.input.value = form.function;
    this.#showArguments(form.arguments);
    if (renamed || this.#declared === undefined) void this.#readSignature();
  }

  #closeForm(why: string): void {
    this.#note.textContent = why;
    this.#note.hidden = false;
    this.#fields.disabled = true;
  }

  #formChanged(): void {
    const request = this.#parsed();
    if (request instanceof JsonSyntaxError) return;
    this.#json.area.value = formatJson(writeForm(request, this.#form()), 2);
  }

  #form(): EncodeForm {
    const texts = [...this.#texts].map(([name, { input }]) => [name, input.value.trim()] as const);
    const types = this.#argumentTypes();
    return {
      texts: new Map(texts),
      secondarySigners: splitList(this.#signers.input.value),
      function: this.#function.input.value.trim(),
      typeArguments: splitList(this.#typeArguments.input.value),
      arguments: this.#argumentInputs.map(({ value }, at) => argumentValue(value, types[at])),
    };
  }

  /** Types of the arguments as far as the function is known. */
  #argumentTypes(): readonly string[] {
    if (this.#declared?.name !== this.#function.input.value.trim()) return [];
    const given = splitList(this.#typeArguments.input.value);
    return argumentTypes(this.#declared.function).map((type) => substituteTypes(type, given));
  }

  #showArguments(values: readonly JsonValue[] = this.#form().arguments): void {
    const types = this.#argumentTypes();
    const fields = values.map((value, at) => {
      const type = types[at];
      const label = `Argument ${at + 1}${type === undefined ? '' : `: ${type}`}`;
      const argument = textInput(label, `argument-${at + 1}`, { wide: true });
      argument.input.value = argumentText(value, type);
      return argument;
    });
    this.#argumentInputs = fields.map(({ input }) => input);
    this.#arguments.replaceChildren(...fields.map(({ node }) => node));
  }

  /** Another function was chosen: its arguments replace the old ones. */
  async #functionChanged(): Promise<void> {
    const declared = await this.#readSignature();
    if (declared !== undefined) {
      const { typeArguments, arguments: values } = callSkeleton(declared);
      this.#typeArguments.input.value = typeArguments.join(', ');
      this.#showArguments(values);
    }
    this.#formChanged();
  }

  /** Asks the ledger for the function's parameters and labels the arguments with them. */
  async #readSignature(): Promise<AbiFunction | undefined> {
    const name = this.#function.input.value.trim();
    this.#declared = undefined;
    const parts = splitFunctionName(name);
    if (parts === undefined) {
      this.#signature.textContent = 'A function is named address::module::name.';
      return undefined;
    }
    try {
      const answer = await send(moduleRequest(parts.address, parts.module), this.#signal);
      if (this.#function.input.value.trim() !== name) return undefined;
      const { abi } = readModuleAnswer(parseJson(answer.text));
      const declared = abi?.functions.find((one) => one.name === parts.name && one.isEntry);
      if (declared === undefined) {
        this.#signature.textContent = `The module has no entry function “${parts.name}”.`;
        return undefined;
      }
      const values = this.#form().arguments;
      this.#declared = { name, function: declared };
      this.#signature.textContent = signatureText(declared);
      this.#showArguments(values);
      return declared;
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      this.#signature.textContent = `${error.code}: ${error.message}`;
      return undefined;
    }
  }
}

function signatureText(declared: AbiFunction): string {
  const taken = argumentTypes(declared);
  const generics = declared.typeParameters.map((_, at) => `T${at}`).join(', ');
  const parameters = taken.length === 0 ? 'no arguments' : taken.join(', ');
  return `Takes ${parameters}${generics === '' ? '' : `; type parameters ${generics}`}.`;
}
