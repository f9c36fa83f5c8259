/** Readable Move types, declarations and values; names of structs link to their module. */
import { JsonNumber } from '../../../src/move/json/json-text.ts';
import { formatJson, isList, isObject, type Json } from '../asking/exact-json.ts';
import { AccountId, Copied } from '../parts/ids.tsx';
import { groupDigits } from '../parts/number-text.ts';
import { CodeBlock, Facts } from '../parts/parts.tsx';
import { linkTo } from '../route.ts';
import { type Line, type Token, typeTokens } from './move-declaration.ts';

/** A type's text, its struct names linked. */
export function TypeText({ type }: { type: string }) {
  return <>{typeTokens(type).map(tokenNode)}</>;
}

/** A declaration, one block per line, so that long lines wrap under their own indentation. */
export function Declaration({ lines }: { lines: readonly Line[] }) {
  return (
    <code class="declaration">
      {lines.map(({ indent, tokens }, at) => (
        <span key={at} class={`line indent-${indent}`}>
          {tokens.map(tokenNode)}
          {'\n'}
        </span>
      ))}
    </code>
  );
}

function tokenNode({ kind, text, target }: Token, at: number) {
  if (kind === 'plain') return text;
  const style = `t-${kind}`;
  if (target === undefined) {
    return (
      <span key={at} class={style}>
        {text}
      </span>
    );
  }
  const { address, module, name } = target;
  return (
    <a
      key={at}
      href={linkTo('module', { account: address, name: module, item: name })}
      class={style}
    >
      {text}
    </a>
  );
}

/** Values with more characters than this are shown as plain text. */
const MAX_LAID_OUT_CHARACTERS = 20_000;
/** Nested values up to this long stay on one line. */
const MAX_LINE_CHARACTERS = 72;
/** Addresses and other values of 32 bytes, as the node writes them. */
const ADDRESS = /^0x(?:[0-9a-f]|[0-9a-f]{64})$/;

/** The fields of an object as a description list; anything else as JSON text. */
export function JsonView({ value }: { value: Json }) {
  const text = formatJson(value, 2);
  if (!isObject(value) || text.length > MAX_LAID_OUT_CHARACTERS) {
    return <pre class="json">{text}</pre>;
  }
  const rows = Object.entries(value).map(
    ([name, field]) => [name, <JsonField key={name} value={field ?? null} />] as const,
  );
  return <Facts style="data" rows={rows} />;
}

/** One value: text and numbers unchanged, short structures on one line. */
export function JsonField({ value }: { value: Json }) {
  if (value === '') return '""';
  if (typeof value === 'string') {
    // It may be an account, an object or a hash.
    if (ADDRESS.test(value)) {
      return (
        <Copied text={value} href={linkTo('search', { q: value })}>
          {value}
        </Copied>
      );
    }
    return value.includes('::') ? <TypeText type={value} /> : value;
  }
  const isLeaf = value === null || typeof value !== 'object' || value instanceof JsonNumber;
  const line = formatJson(value);
  if (isLeaf || line.length <= MAX_LINE_CHARACTERS) return line;
  return <pre class="nested">{formatJson(value, 2)}</pre>;
}

const PRINTABLE = /^[\p{L}\p{N}\p{P}\p{S}\p{Zs}\n]+$/u;

/** Maximum length of a list with one item per line; a longer one is shown as JSON. */
const MAX_LISTED_ITEMS = 100;

/** A longer value, such as published code, scrolls in a box. */
const MAX_UNFOLDED_CHARACTERS = 500;

/** A value formatted according to its type. */
export function TypedValue({ value, type = '' }: { value: Json; type?: string | undefined }) {
  const inner = isObject(value) ? (value['inner'] ?? value) : value;
  const isAddress = type === 'address' || type.startsWith('0x1::object::Object<');
  if (isAddress && typeof inner === 'string') return <AccountId hex={inner} full />;
  if (/^[ui]\d+$/.test(type)) {
    const text = typeof value === 'string' ? value : formatJson(value);
    return <span title={text}>{groupDigits(text)}</span>;
  }
  const option = /^0x1::option::Option<(.*)>$/.exec(type)?.[1];
  const some = isObject(value) ? value['vec'] : undefined;
  if (option !== undefined && isList(some)) {
    return some.length === 0 ? 'none' : <TypedValue value={some[0]!} type={option} />;
  }
  const item = /^vector<(address|u(?:16|32|64|128|256))>$/.exec(type)?.[1];
  if (item !== undefined && isList(value) && value.length <= MAX_LISTED_ITEMS) {
    return value.length === 0 ? (
      'none'
    ) : (
      <ol class="value-list">
        {value.map((one, at) => (
          <li key={at}>
            <TypedValue value={one} type={item} />
          </li>
        ))}
      </ol>
    );
  }
  const json = typeof value === 'string' ? value : formatJson(value, 2);
  if (json.length > MAX_UNFOLDED_CHARACTERS) {
    return (
      <CodeBlock style="hex" label={`Value of the type ${type}`}>
        {json}
      </CodeBlock>
    );
  }
  const text = type === 'vector<u8>' && typeof value === 'string' ? textOf(value) : undefined;
  return (
    <>
      <JsonField value={value} /> {text && <span class="hint">as text: {text}</span>}
    </>
  );
}

/** The text that bytes in hex encode, if they do. */
function textOf(hex: string): string | undefined {
  const digits = hex.slice(2).match(/../g) ?? [];
  const bytes = Uint8Array.from(digits, (pair) => Number.parseInt(pair, 16));
  const text = new TextDecoder().decode(bytes);
  return PRINTABLE.test(text) && !text.includes('\ufffd') ? text : undefined;
}
