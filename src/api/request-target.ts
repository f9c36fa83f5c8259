/**
 * Splits request targets and decodes the parameters of paths and queries (docs/spec/http.md §1.7,
 * docs/spec/decisions.md D9). Paths are matched as they were sent; each parameter is decoded once, after that.
 */
import { isUtf8 } from 'node:buffer';

export const BASE_PATH = '/v1';

const ABSOLUTE_FORM = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#]*/;

interface Target {
  /** As sent, not decoded; begins with `/`. */
  readonly path: string;
  readonly query: string;
}

/** Splits a request target: the absolute form loses scheme and host, and a fragment is dropped. */
export function splitTarget(target: string): Target {
  let text = target;
  if (!text.startsWith('/') || text.includes('#')) {
    const hash = text.indexOf('#');
    text = (hash === -1 ? text : text.slice(0, hash)).replace(ABSOLUTE_FORM, '');
    if (!text.startsWith('/')) text = `/${text}`;
  }
  const mark = text.indexOf('?');
  if (mark === -1) return { path: text, query: '' };
  return { path: text.slice(0, mark), query: text.slice(mark + 1) };
}

/** Whether a path is outside the interface, or its decoded bytes are UTF-8. */
export function isWellEncoded(path: string): boolean {
  return !path.includes('%') || !path.startsWith(`${BASE_PATH}/`) || isUtf8(percentDecode(path));
}

/** Decodes a raw path parameter; `%` without two hex digits stays. Its bytes were found to be UTF-8 before. */
export function decodePathParameter(raw: string): string {
  return raw.includes('%') ? percentDecode(raw).toString('utf8') : raw;
}

function percentDecode(text: string): Buffer {
  const decoded = text.replace(/%([0-9A-Fa-f]{2})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  return Buffer.from(decoded, 'latin1');
}

/**
 * The query string of a request, parsed on demand. Names are case-sensitive, `+` is a space, the first value of a
 * repeated name counts, and `name` without a value is the empty string, not absent.
 */
export class Query {
  readonly #text: string;
  #values: ReadonlyMap<string, string> | undefined;

  /** @param text the query string without its question mark */
  constructor(text: string) {
    this.#text = text;
  }

  first(name: string): string | undefined {
    if (this.#text === '') return undefined;
    return this.#form().get(name);
  }

  names(): Iterable<string> {
    return this.#form().keys();
  }

  #form(): ReadonlyMap<string, string> {
    this.#values ??= readForm(this.#text);
    return this.#values;
  }
}

function readForm(text: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const piece of text.split('&')) {
    if (piece === '') continue;
    const equals = piece.indexOf('=');
    const name = decodeForm(equals === -1 ? piece : piece.slice(0, equals));
    if (values.has(name)) continue;
    values.set(name, equals === -1 ? '' : decodeForm(piece.slice(equals + 1)));
  }
  return values;
}

/** `application/x-www-form-urlencoded` text; bytes that are not UTF-8 become U+FFFD. */
function decodeForm(text: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  return spaced.includes('%') ? percentDecode(spaced).toString('utf8') : spaced;
}
