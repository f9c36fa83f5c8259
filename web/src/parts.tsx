/** What every view is made of: facts, failures, copying, fields, forms. Data only ever becomes text. */
import type { ComponentChildren, TargetedEvent, TargetedSubmitEvent } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { MoveError } from '../../src/move/errors.ts';
import { ApiFailure } from './api-client.ts';

/** Announces something to screen readers once, without moving the focus. */
export function announce(text: string): void {
  document.getElementById('announcements')!.textContent = text;
}

/** A row of a description list; nothing without a value. */
export function Fact({ term, children }: { term: string; children?: ComponentChildren }) {
  if (children === undefined || children === '') return null;
  return (
    <div>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </div>
  );
}

interface FailureFacts {
  readonly message: string;
  readonly code: string;
  readonly status?: number;
}

function factsOf(error: unknown): FailureFacts {
  if (error instanceof ApiFailure) {
    const { message, code, status } = error;
    return status === 0 ? { message, code } : { message, code, status };
  }
  if (error instanceof MoveError) return { message: error.message, code: error.code };
  return { message: error instanceof Error ? error.message : String(error), code: 'page_error' };
}

/** Message, code and status of any failure, in the node's own words, announced when it appears. */
export function Failure({ title, error }: { title: string; error: unknown }) {
  const { message, code, status } = factsOf(error);
  return (
    <section class="failure" role="alert" aria-label={title}>
      <h2>{title}</h2>
      <p class="message">{message}</p>
      <dl class="facts compact">
        <Fact term="Error code">
          <code>{code}</code>
        </Fact>
        <Fact term="HTTP status">{status === undefined ? undefined : String(status)}</Fact>
      </dl>
    </section>
  );
}

/** What stands where an answer will be. */
export function Waiting() {
  return (
    <p class="hint" aria-busy="true">
      Asking the node…
    </p>
  );
}

interface CodeBlockProps {
  readonly style: string;
  readonly label: string;
  readonly children: ComponentChildren;
}

/** Text that scrolls in its box, also by keyboard. */
export function CodeBlock({ style, label, children }: CodeBlockProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a named group is no set of fields
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
    <pre class={style} tabIndex={0} role="group" aria-label={label}>
      {children}
    </pre>
  );
}

const CONFIRMATION_MS = 2000;

/** A button that copies `text`; where browsers deny the clipboard, it selects what it copies from. */
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
    if (!copied) selectSource(button.current!);
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

/** False where browsers deny the clipboard: pages that are neither HTTPS nor on this machine. */
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

/** Selects the nearest text that says what is copied. */
function selectSource(button: HTMLElement): void {
  const source = button.closest('.copied, section, div')?.querySelector('a, code, output');
  if (source) getSelection()?.selectAllChildren(source);
}

interface FieldOptions {
  readonly label: string;
  readonly name: string;
  readonly value?: string | undefined;
  readonly hint?: string;
  readonly placeholder?: string;
  readonly required?: boolean;
  /** Texts offered while typing. */
  readonly suggestions?: readonly string[];
  /** Digits only; brings up the number pad on phones. */
  readonly numeric?: boolean;
  /** As wide as an address. */
  readonly wide?: boolean;
  readonly onInput?: (text: string) => void;
  readonly onChange?: (text: string) => void;
}

/** A single-line field. Browsers neither complete nor correct what is typed: it is never prose. */
export function TextField(options: FieldOptions) {
  const { label, name, value, hint, placeholder, required, suggestions, numeric, wide } = options;
  const { onInput, onChange } = options;
  const id = useId();
  const [draft, setDraft] = useState<string>();
  const input = useRef<HTMLInputElement>(null);
  // What is typed stays until another value comes from elsewhere.
  useLayoutEffect(() => {
    if (onInput === undefined || document.activeElement !== input.current) setDraft(undefined);
  }, [value]);
  const text = (event: TargetedEvent<HTMLInputElement>) => event.currentTarget.value;
  return (
    <div class={wide ? 'field wide' : 'field'}>
      <label for={id}>{label}</label>
      <input
        id={id}
        name={name}
        type="text"
        ref={input}
        value={draft ?? value ?? ''}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        placeholder={placeholder}
        required={required}
        inputMode={numeric ? 'numeric' : undefined}
        aria-describedby={hint && `${id}-hint`}
        list={suggestions && `${id}-list`}
        onInput={(event) => {
          setDraft(text(event));
          onInput?.(text(event));
        }}
        onChange={onChange && ((event) => onChange(text(event)))}
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

/** A several-line field for JSON or hex. */
export function TextArea({
  label,
  name,
  rows,
  value,
  onInput,
}: {
  label: string;
  name: string;
  rows: number;
  value: string;
  onInput: (text: string) => void;
}) {
  const id = useId();
  return (
    <div class="field wide">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        name={name}
        rows={rows}
        value={value}
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </div>
  );
}

interface QueryFormProps {
  readonly label: string;
  readonly submit: string;
  readonly inline?: boolean;
  readonly children: ComponentChildren;
  /** Gets the fields by name, trimmed, once the required ones are filled. */
  readonly onSubmit: (fields: Record<string, string>) => void;
}

/** A form with a submit button. */
export function QueryForm({ label, submit, inline, children, onSubmit }: QueryFormProps) {
  const read = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const entries = [...new FormData(event.currentTarget)];
    onSubmit(Object.fromEntries(entries.map(([name, text]) => [name, String(text).trim()])));
  };
  return (
    <form class={inline ? 'query inline' : 'query'} aria-label={label} onSubmit={read}>
      {children}
      <div class="actions">
        <button type="submit" class="primary">
          {submit}
        </button>
      </div>
    </form>
  );
}
