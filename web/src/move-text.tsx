/** Move types, declarations and values to read; names of structs lead to their module. */

import { JsonNumber, type JsonObject, type JsonValue } from '../../src/move/json/json-text.ts';
import { formatJson, isList } from './json-fields.ts';
import { type Line, type Token, typeTokens } from './move-declaration.ts';
import { linkTo } from './navigation.ts';

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

function tokenNode(token: Token, at: number) {
  if (token.kind === 'plain') return token.text;
  const style = `t-${token.kind}`;
  if (token.target === undefined) {
    return (
      <span key={at} class={style}>
        {token.text}
      </span>
    );
  }
  const { address, module, name } = token.target;
  const href = linkTo('module', { account: address, name: module, item: name });
  return (
    <a key={at} href={href} class={style}>
      {token.text}
    </a>
  );
}

/** Values with more characters than this are shown as plain text. */
const MAX_LAID_OUT_CHARACTERS = 20_000;
/** Nested values up to this long stay on one line. */
const MAX_LINE_CHARACTERS = 72;

/** The fields of an object as a description list; anything else as JSON text. */
export function JsonView({ value }: { value: JsonValue }) {
  const text = formatJson(value, 2);
  if (!(value instanceof Map) || text.length > MAX_LAID_OUT_CHARACTERS) {
    return <pre class="json">{text}</pre>;
  }
  return (
    <dl class="data">
      {[...(value as JsonObject)].map(([name, field]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <JsonField value={field} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Addresses, and other things of 32 bytes, as the node writes them. */
const ADDRESS = /^0x(?:[0-9a-f]|[0-9a-f]{64})$/;

/** Leads to what has this name: whether it is an account, an object or a hash is not said here. */
function AddressText({ hex }: { hex: string }) {
  return <a href={linkTo('search', { q: hex })}>{hex}</a>;
}

/** One value: text and numbers as they are, short structures on one line. */
export function JsonField({ value }: { value: JsonValue }) {
  if (value === '') return '""';
  if (typeof value === 'string' && ADDRESS.test(value)) return <AddressText hex={value} />;
  if (typeof value === 'string') return value.includes('::') ? <TypeText type={value} /> : value;
  if (value === null || typeof value === 'boolean' || value instanceof JsonNumber) {
    return formatJson(value);
  }
  const isEmpty = isList(value) ? value.length === 0 : (value as JsonObject).size === 0;
  const line = formatJson(value);
  if (isEmpty || line.length <= MAX_LINE_CHARACTERS) return line;
  return <pre class="nested">{formatJson(value, 2)}</pre>;
}
