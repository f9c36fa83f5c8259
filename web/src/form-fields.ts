/** Labelled form fields. */
import { element, freshId } from './dom.ts';

/** A text field with its label. */
export interface TextField {
  readonly node: HTMLElement;
  readonly input: HTMLInputElement;
}

export interface TextFieldOptions {
  readonly hint?: string;
  readonly placeholder?: string;
  readonly required?: boolean;
  /** Texts offered while typing. */
  readonly suggestions?: readonly string[];
  /** Digits only; brings up the number pad on phones. */
  readonly numeric?: boolean;
  /** As wide as an address. */
  readonly wide?: boolean;
}

/** A single-line field. Browsers neither complete nor correct what is typed: it is never prose. */
export function textInput(label: string, name: string, options: TextFieldOptions = {}): TextField {
  const id = freshId(name);
  const hint = options.hint === undefined ? undefined : `${id}-hint`;
  const list = options.suggestions === undefined ? undefined : `${id}-list`;
  const input = element('input', {
    id,
    name,
    type: 'text',
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: 'false',
    placeholder: options.placeholder,
    required: options.required,
    inputmode: options.numeric === true ? 'numeric' : undefined,
    'aria-describedby': hint,
    list,
  });
  const suggestions = (options.suggestions ?? []).map((value) => element('option', { value }));
  const node = element(
    'div',
    { class: options.wide === true ? 'field wide' : 'field' },
    element('label', { for: id }, label),
    input,
    hint === undefined ? undefined : element('p', { class: 'hint', id: hint }, options.hint),
    list === undefined ? undefined : element('datalist', { id: list }, ...suggestions),
  );
  return { node, input };
}

/** A several-line field for JSON or hex. */
export function textArea(
  label: string,
  name: string,
  rows: number,
): { readonly node: HTMLElement; readonly area: HTMLTextAreaElement } {
  const id = freshId(name);
  const area = element('textarea', {
    id,
    name,
    rows,
    spellcheck: 'false',
    autocomplete: 'off',
    autocapitalize: 'off',
  });
  const node = element('div', { class: 'field wide' }, element('label', { for: id }, label), area);
  return { node, area };
}

/** A form with a submit button; `onSubmit` runs only when required fields are filled. */
export function form(
  label: string,
  fields: readonly Node[],
  submitText: string,
  onSubmit: () => void,
): HTMLFormElement {
  const node = element(
    'form',
    { class: 'query', 'aria-label': label },
    ...fields,
    element('div', { class: 'actions' }, element('button', { class: 'primary' }, submitText)),
  );
  node.addEventListener('submit', (event) => {
    event.preventDefault();
    onSubmit();
  });
  return node;
}
