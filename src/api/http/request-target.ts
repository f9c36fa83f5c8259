/**
 * Request targets: how paths are matched and decoded, and how queries are read (docs/spec/http.md §1.7,
 * docs/spec/decisions.md D9).
 *
 * The router decodes paths before it matches them, the interface matches the raw path. So the
 * router is given the path with every `%` escaped (`routerTarget`): what it matches and hands out
 * is then the raw text, and parameters are decoded here, once.
 */
import { isUtf8 } from 'node:buffer';
import { FrameworkError } from './error-table.ts';

/** All paths of the interface lie under this. */
export const BASE_PATH = '/v1';

const ABSOLUTE_FORM = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#]*/;

interface TargetParts {
  /** As sent. */
  readonly path: string;
  /** With the question mark, or empty. */
  readonly query: string;
}

/** Splits a request target: absolute form loses scheme and host, a fragment is dropped. */
function splitTarget(target: string): TargetParts {
  const hash = target.indexOf('#');
  const whole = (hash === -1 ? target : target.slice(0, hash)).replace(ABSOLUTE_FORM, '');
  const mark = whole.indexOf('?');
  const path = mark === -1 ? whole : whole.slice(0, mark);
  const query = mark === -1 ? '' : whole.slice(mark);
  return { path: path.startsWith('/') ? path : `/${path}`, query };
}

/**
 * The target as the router must see it, so that it matches the raw path and gives raw parameters.
 */
export function routerTarget(target: string): string {
  if (target.startsWith('/') && !target.includes('%') && !target.includes('#')) return target;
  const { path, query } = splitTarget(target);
  return path.replaceAll('%', '%25') + query;
}

/**
 * Refuses a path under `/v1/` whose decoded bytes are not UTF-8.
 * @throws FrameworkError 400 `invalid path params`
 */
export function checkPathEncoding(target: string): void {
  if (!target.includes('%')) return;
  const { path } = splitTarget(target);
  if (path.startsWith(`${BASE_PATH}/`) && !isUtf8(percentDecode(path))) {
    throw new FrameworkError(400, 'invalid path params');
  }
}

/**
 * Decodes a raw path parameter once; `%` without two hex digits stays. Bytes were checked to be
 * UTF-8.
 */
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
 * The paths of an interface, to tell a wrong method from an unknown route. A template is
 * `/a/{name}/b`; a middle parameter may be empty, a last one may not.
 */
export class PathTemplates {
  readonly #templates: readonly (readonly string[])[];

  constructor(templates: readonly string[]) {
    this.#templates = templates.map((template) => template.split('/'));
  }

  /** Whether a request target lies on one of the paths. */
  includes(target: string): boolean {
    const segments = splitTarget(target).path.split('/');
    return this.#templates.some((template) => matchesTemplate(template, segments));
  }
}

function matchesTemplate(template: readonly string[], segments: readonly string[]): boolean {
  if (template.length !== segments.length) return false;
  return template.every((part, index) => {
    const segment = segments[index]!;
    if (!part.startsWith('{')) return part === segment;
    return segment !== '' || index < template.length - 1;
  });
}

/**
 * The query string of a request, read when asked. Names are case-sensitive, `+` is a blank, the
 * first value of a repeated name counts, and `name` without a value is the empty string, not
 * absence.
 */
export class Query {
  readonly #text: string;

  /** @param text the query string without its question mark */
  constructor(text: string) {
    this.#text = text;
  }

  /** The first value of a name. */
  first(name: string): string | undefined {
    if (this.#text === '') return undefined;
    return this.#values().get(name);
  }

  #parsed: ReadonlyMap<string, string> | undefined;

  #values(): ReadonlyMap<string, string> {
    if (this.#parsed !== undefined) return this.#parsed;
    const values = new Map<string, string>();
    for (const piece of this.#text.split('&')) {
      if (piece === '') continue;
      const equals = piece.indexOf('=');
      const name = decodeForm(equals === -1 ? piece : piece.slice(0, equals));
      if (!values.has(name)) {
        values.set(name, equals === -1 ? '' : decodeForm(piece.slice(equals + 1)));
      }
    }
    this.#parsed = values;
    return values;
  }
}

/** `application/x-www-form-urlencoded` text; bytes that are not UTF-8 become U+FFFD. */
function decodeForm(text: string): string {
  const blanks = text.includes('+') ? text.replaceAll('+', ' ') : text;
  return blanks.includes('%') ? percentDecode(blanks).toString('utf8') : blanks;
}
