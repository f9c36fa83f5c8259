/** Common parts of all views: facts, tables, failures, copying, fields, forms. Data is only ever rendered as text. */
import type { ComponentChildren, TargetedSubmitEvent } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { MoveError } from '../../../src/move/errors.ts';
import { ApiFailure } from '../asking/api-client.ts';
import { tryAgain } from '../asking/live-ledger.ts';
import { go } from '../navigation.ts';
import { linkTo, parameter, type ViewName } from '../route.ts';
import { groupDigits } from './number-text.ts';

/** Announces a text to screen readers once, without moving the focus. */
export function announce(text: string): void {
  document.getElementById('announcements')!.textContent = text;
}

export type FactRow = readonly [term: string, value: ComponentChildren];

/** A description list; rows without a value are left out. */
export function Facts({ rows, style = 'facts' }: { rows: readonly FactRow[]; style?: string }) {
  const isThere = (value: ComponentChildren) => ![undefined, null, false, ''].includes(value as '');
  return (
    <dl class={style}>
      {rows.map(
        ([term, value], at) =>
          isThere(value) && (
            <div key={at}>
              <dt>{term}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

interface SectionProps {
  readonly title: string;
  readonly count?: number | undefined;
  readonly style?: string;
  readonly children: ComponentChildren;
}

/** A section with a heading and a count. */
export function Section({ title, count, style, children }: SectionProps) {
  return (
    <section aria-label={title} class={style}>
      <h2>
        {title} {count !== undefined && <span class="tally">{groupDigits(count)}</span>}
      </h2>
      {children}
    </section>
  );
}

interface TableProps {
  readonly style: string;
  readonly caption: string;
  /** `#` precedes the name of a column of numbers. */
  readonly columns: readonly string[];
  readonly children: ComponentChildren;
}

export function Table({ style, caption, columns, children }: TableProps) {
  return (
    <table class={style}>
      <caption class="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map((name) => (
            <th key={name} scope="col" class={name.startsWith('#') ? 'number' : undefined}>
              {name.replace('#', '')}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}

/** The first of many items, and a button that shows the rest. */
export function Some<T>(props: {
  items: readonly T[];
  first: number;
  noun: string;
  children: (item: T, at: number) => ComponentChildren;
}) {
  const { items, first, noun, children } = props;
  const [isAll, setAll] = useState(false);
  return (
    <>
      {(isAll ? items : items.slice(0, first)).map(children)}
      {!isAll && items.length > first && (
        <button type="button" onClick={() => setAll(true)}>
          Show all {groupDigits(items.length)} {noun}
        </button>
      )}
    </>
  );
}

/** Pauses a list that follows the ledger, so that it can be read. */
export function PauseButton(props: { isPaused: boolean; onChange: (isPaused: boolean) => void }) {
  const { isPaused, onChange } = props;
  return (
    <button type="button" class="quiet" aria-pressed={isPaused} onClick={() => onChange(!isPaused)}>
      {isPaused ? 'Follow again' : 'Pause'}
    </button>
  );
}

interface Tab {
  readonly text: string;
  readonly count?: number | undefined;
  readonly href: string;
  readonly isShown: boolean;
}

/** Scrolls the current link of a horizontally scrolling list into view. */
export function useCurrentInView(current: unknown) {
  const list = useRef<HTMLUListElement>(null);
  useLayoutEffect(() => {
    const { current: ul } = list;
    const link = ul?.querySelector<HTMLElement>('[aria-current]');
    if (!ul || !link) return;
    const middle = link.getBoundingClientRect().left - ul.getBoundingClientRect().left;
    ul.scrollLeft += middle - (ul.clientWidth - link.offsetWidth) / 2;
  }, [current]);
  return list;
}

/** Links to parts of a view, one of which is shown. */
export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  const list = useCurrentInView(tabs.findIndex(({ isShown }) => isShown));
  return (
    <nav class="tabs" aria-label={label}>
      <ul ref={list}>
        {tabs.map(({ text, count, href, isShown }) => (
          <li key={text}>
            <a href={href} aria-current={isShown ? 'true' : undefined}>
              {text} {count !== undefined && <span class="tally">{groupDigits(count)}</span>}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** Links to the previous and next page or item; those without an address are left out. */
export function Pager({
  label,
  links,
}: {
  label: string;
  links: readonly (readonly [string, string | false])[];
}) {
  return (
    <nav class="pager" aria-label={label}>
      {links.map(
        ([text, href]) =>
          href && (
            <a key={text} href={href}>
              {text}
            </a>
          ),
      )}
    </nav>
  );
}

/** Message, code and status of any failure, in the node's own words, announced when it appears. */
export function Failure({ title, error }: { title: string; error: unknown }) {
  const isKnown = error instanceof ApiFailure || error instanceof MoveError;
  const status = error instanceof ApiFailure && error.status !== 0 && String(error.status);
  const isSilence = error instanceof ApiFailure && ['no_answer', 'timeout'].includes(error.code);
  const heading = isSilence ? `${title}: the node is not reachable` : title;
  return (
    <section class="failure" role="alert" aria-label={heading}>
      <h2>{heading}</h2>
      <p class="message">{error instanceof Error ? error.message : String(error)}</p>
      {isSilence && (
        <p>
          This page comes back by itself.{' '}
          <button type="button" class="quiet" onClick={tryAgain}>
            Try again now
          </button>
        </p>
      )}
      <Facts
        style="facts compact"
        rows={[
          ['Error code', <code key="code">{isKnown ? error.code : 'page_error'}</code>],
          ['HTTP status', status],
        ]}
      />
    </section>
  );
}

/** Placeholder for an answer. */
export function Waiting() {
  return (
    <p class="hint" aria-busy="true">
      Asking the node…
    </p>
  );
}

/** Text in a box that scrolls, also by keyboard. */
export function CodeBlock(props: { style: string; label: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a named group is no set of fields
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
    <pre class={props.style} tabIndex={0} role="group" aria-label={props.label}>
      {props.children}
    </pre>
  );
}

const CONFIRMATION_MS = 2000;

/** A button that copies `text`. If the browser denies the clipboard, it selects the text instead. */
export function CopyButton({ label, text, icon }: { label: string; text: string; icon?: boolean }) {
  const [shown, setShown] = useState<string>();
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (shown === undefined) return;
    const timer = setTimeout(() => setShown(undefined), CONFIRMATION_MS);
    return () => clearTimeout(timer);
  }, [shown]);
  const copy = async (): Promise<void> => {
    const copied = await writeClipboard(text);
    const source = button
      .current!.closest('.copied, section, div')
      ?.querySelector('a, code, output');
    if (!copied && source) getSelection()?.selectAllChildren(source);
    setShown(copied ? 'Copied' : 'Selected: press Ctrl+C');
    announce(copied ? 'Copied' : 'The text is selected; copy it with the keyboard.');
  };
  return icon ? (
    <button type="button" class="copy" ref={button} aria-label={label} title={label} onClick={copy}>
      {shown === 'Copied' ? '✓' : <span class="copy-icon" />}
    </button>
  ) : (
    <button type="button" class="quiet" ref={button} onClick={copy}>
      {shown ?? label}
    </button>
  );
}

/** False if the browser denies the clipboard, as on pages that are neither HTTPS nor from this machine. */
async function writeClipboard(text: string): Promise<boolean> {
  if (!window.isSecureContext) return false;
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch (error) {
    if (error instanceof DOMException) return false;
    throw error;
  }
}

/** Fields never contain prose, so browsers should not complete or correct the text. */
const NO_PROSE = { autocomplete: 'off', autocapitalize: 'off', spellcheck: false } as const;

interface FieldOptions {
  readonly label: string;
  readonly name: string;
  readonly value?: string | undefined;
  readonly hint?: string | undefined;
  readonly placeholder?: string;
  readonly title?: string;
  readonly required?: boolean;
  /** Suggestions while typing. */
  readonly suggestions?: readonly string[];
  /** Digits only; shows the number pad on phones. */
  readonly numeric?: boolean;
  /** As wide as an address. */
  readonly wide?: boolean;
  readonly onInput?: (text: string) => void;
}

/** A single-line field. */
export function TextField(options: FieldOptions) {
  const { label, name, value, hint, placeholder, required, suggestions, onInput, title } = options;
  const id = useId();
  const [draft, setDraft] = useState<string>();
  const input = useRef<HTMLInputElement>(null);
  // The typed text stays until another value is set from outside.
  useLayoutEffect(() => {
    if (onInput === undefined || document.activeElement !== input.current) setDraft(undefined);
  }, [value]);
  return (
    <div class={options.wide ? 'field wide' : 'field'}>
      <label for={id}>{label}</label>
      <input
        {...{ id, name, placeholder, required, title, ...NO_PROSE }}
        type="text"
        ref={input}
        value={draft ?? value ?? ''}
        inputMode={options.numeric ? 'numeric' : undefined}
        aria-describedby={hint && `${id}-hint`}
        list={suggestions && `${id}-list`}
        onInput={({ currentTarget }) => {
          setDraft(currentTarget.value);
          onInput?.(currentTarget.value);
        }}
        onBlur={onInput && (() => setDraft(undefined))}
      />
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {suggestions && (
        <datalist id={`${id}-list`}>
          {suggestions.map((text) => (
            <option key={text} value={text} />
          ))}
        </datalist>
      )}
    </div>
  );
}

interface AreaOptions {
  readonly label: string;
  readonly name: string;
  readonly rows: number;
  readonly value: string;
  readonly onInput: (text: string) => void;
}

/** A multi-line field for JSON or hex. */
export function TextArea({ label, onInput, ...attributes }: AreaOptions) {
  const id = useId();
  return (
    <div class="field wide">
      <label for={id}>{label}</label>
      <textarea
        {...{ id, ...attributes, ...NO_PROSE }}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </div>
  );
}

interface QueryFormProps {
  readonly label: string;
  readonly submit: string;
  readonly style?: string;
  readonly children: ComponentChildren;
  /** Called with the trimmed values of the fields by name, once the required ones are filled. */
  readonly onSubmit: (fields: Record<string, string>) => void;
}

/** A form with a submit button. */
export function QueryForm({ label, submit, style, children, onSubmit }: QueryFormProps) {
  const read = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const entries = [...new FormData(event.currentTarget)];
    onSubmit(Object.fromEntries(entries.map(([name, text]) => [name, String(text).trim()])));
  };
  return (
    <form
      class={style === undefined ? 'query' : `query ${style}`}
      aria-label={label}
      onSubmit={read}
    >
      {children}
      <div class="actions">
        <button type="submit" class="primary">
          {submit}
        </button>
      </div>
    </form>
  );
}

interface LookUpProps {
  readonly view: ViewName;
  readonly label: string;
  readonly submit: string;
  readonly fields: readonly FieldOptions[];
}

/** A form that leads to a view, with its fields as parameters. */
export function LookUp({ view, label, submit, fields }: LookUpProps) {
  return (
    <QueryForm label={label} submit={submit} onSubmit={(values) => go(linkTo(view, values))}>
      {fields.map((field) => (
        <TextField key={field.name} value={parameter(field.name)} {...field} />
      ))}
    </QueryForm>
  );
}
