/**
 * Routes: the path of a view with its parameters (src/api/http/page-paths.ts). Every view can be linked and reloaded.
 * `version` means the same in all of them: the ledger is shown at that version.
 */
import { PAGE_PATHS, type ViewName } from '../../src/api/http/page-paths.ts';

export type { ViewName } from '../../src/api/http/page-paths.ts';

export type Parameters = Readonly<Record<string, bigint | number | string | undefined>>;

export interface Route {
  readonly view: ViewName;
  readonly parameters: ReadonlyMap<string, string>;
}

/** Parameter in links to the public explorer, which shows several networks. */
const NETWORK = 'network';

function piecesOf(path: string): string[] {
  return path.split('/').slice(1);
}

/** The parameters of a path that matches the pattern; undefined if it does not match. */
function fitted(pattern: string, pieces: readonly string[]): Map<string, string> | undefined {
  const wanted = piecesOf(pattern);
  const found = new Map<string, string>();
  if (pieces.length > wanted.length) return undefined;
  for (const [at, want] of wanted.entries()) {
    const piece = pieces[at];
    if (piece === undefined) return want.endsWith('?}') ? found : undefined;
    if (!want.startsWith('{')) {
      if (want !== piece) return undefined;
    } else found.set(want.replaceAll(/[{?}]/g, ''), piece);
  }
  return found;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Parses a path with its query; undefined if it is unknown. */
export function parseRoute(target: string): Route | undefined {
  const [, path = '', query = ''] = /^([^?#]*)\??([^#]*)/s.exec(target)!;
  const pieces = piecesOf(path).map(decoded);
  if (pieces.length > 1 && pieces.at(-1) === '') pieces.pop();
  const fields = new Map(new URLSearchParams(query));
  fields.delete(NETWORK);
  for (const [view, patterns] of Object.entries(PAGE_PATHS)) {
    for (const pattern of patterns) {
      const found = fitted(pattern, pieces);
      if (found !== undefined) {
        return { view: view as ViewName, parameters: new Map([...found, ...fields]) };
      }
    }
  }
  return undefined;
}

/** Parses links from before the page had paths: `#/block?height=3`. */
function parseHash(hash: string): Route | undefined {
  const [, name = '', query = ''] = /^#\/?([^?]*)\??(.*)$/s.exec(hash) ?? [];
  if (name === '') return parseRoute('/');
  if (!Object.hasOwn(PAGE_PATHS, name)) return undefined;
  return { view: name as ViewName, parameters: new Map(new URLSearchParams(query)) };
}

/** Browsers resolve `.` and `..`, and an empty segment would be another path. */
function isSendable(text: string): boolean {
  return !['', '.', '..'].includes(text);
}

/**
 * The path of a view, or undefined if a required parameter is missing. @param left parameters; those in the path are
 * removed
 */
function filled(pattern: string, left: Map<string, string>): string | undefined {
  let path = '';
  for (const piece of piecesOf(pattern)) {
    if (!piece.startsWith('{')) path += `/${piece}`;
    else {
      const name = piece.replaceAll(/[{?}]/g, '');
      const value = left.get(name) ?? '';
      if (!isSendable(value)) return piece.endsWith('?}') ? path : undefined;
      left.delete(name);
      path += `/${pathSegment(value)}`;
    }
  }
  return path;
}

/**
 * One path segment. Colons and commas stay readable, because they need no encoding in a path. Browsers resolve `.` and
 * `..` however they are encoded, so no request contains them.
 */
export function pathSegment(text: string): string {
  // A lone surrogate cannot be percent-encoded.
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'))
    .replaceAll('%3A', ':')
    .replaceAll('%2C', ',');
}

/** The path of a view; parameters that are empty or undefined are left out. */
export function routePath(view: ViewName, parameters: Parameters = {}): string {
  const given = Object.entries(parameters)
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([name, value]) => [name, String(value)] as const);
  const patterns: readonly string[] = PAGE_PATHS[view];
  for (const pattern of [patterns[0]!, patterns.at(-1)!]) {
    const left = new Map(given);
    const path = filled(pattern, left);
    if (path === undefined) continue;
    const query = new URLSearchParams([...left]).toString().replaceAll('%3A', ':');
    return query === '' ? path : `${path}?${query}`;
  }
  throw new RangeError(`no path of ${view} goes without parameters`);
}

let current: Route | undefined;

interface Place {
  readonly pathname: string;
  readonly search: string;
  readonly hash: string;
}

/** Reads the address bar. @returns its canonical path, if the path is known */
export function arriveAt({ pathname, search, hash }: Place): string | undefined {
  current = hash.startsWith('#/') ? parseHash(hash) : parseRoute(pathname + search);
  return current && hash.startsWith('#/')
    ? routePath(current.view, Object.fromEntries(current.parameters))
    : undefined;
}

/** The route in the address bar; undefined if no view has this path. */
export function currentRoute(): Route | undefined {
  return current;
}

/** A parameter in the address bar, trimmed; empty if it is absent. */
export function parameter(name: string): string {
  return current?.parameters.get(name)?.trim() ?? '';
}

/** The version in the address bar; undefined for the newest. */
export function chosenVersion(): string | undefined {
  return parameter('version') || undefined;
}

/** The path of a view at the version in the address bar. */
export function linkTo(view: ViewName, parameters: Parameters = {}): string {
  return routePath(view, { version: chosenVersion(), ...parameters });
}

/** The possible meanings of a search text. */
type SearchTerm =
  /** The target is known without a request: a module, an item of one, or a stream. */
  | {
      readonly kind: 'place';
      readonly view: ViewName;
      readonly parameters: Parameters;
    }
  /** A version or a height. */
  | { readonly kind: 'number'; readonly digits: string }
  /** An account or an object; `isHash` when it has 32 bytes, as hashes have. */
  | { readonly kind: 'hex'; readonly hex: string; readonly isHash: boolean }
  /** A name, or a part of one. */
  | { readonly kind: 'word'; readonly word: string };

const HEX = '(?:0x)?[0-9a-fA-F]{1,64}';
const STREAM = new RegExp(`^(${HEX})\\s*/\\s*([0-9]+)$`);
const ITEM = new RegExp(`^(${HEX})::([\\w$]+)(?:::([\\w$]+))?(?:<.*>)?$`);

const WORD = /^[\p{L}\p{N}_$][\p{L}\p{N}_$: .()…-]{1,80}$/u;

/** Reads `5044`, `0x1`, `0x1::coin`, `0x1::coin::transfer`, `0x1/2`, a hash or a name; undefined for anything else. */
export function readSearch(text: string): SearchTerm | undefined {
  const trimmed = text.trim();
  const digits = trimmed.replaceAll(/[,_\s]/g, '');
  if (/^[0-9]{1,20}$/.test(digits)) return { kind: 'number', digits };
  const [, account, stream] = STREAM.exec(trimmed) ?? [];
  if (stream !== undefined) {
    return { kind: 'place', view: 'events', parameters: { account, stream } };
  }
  const [, address, name, item] = ITEM.exec(trimmed) ?? [];
  if (name !== undefined) {
    return { kind: 'place', view: 'module', parameters: { account: address, name, item } };
  }
  if (!new RegExp(`^${HEX}$`, 'i').test(trimmed)) {
    return WORD.test(trimmed) && !trimmed.startsWith('0x')
      ? { kind: 'word', word: trimmed }
      : undefined;
  }
  const hex = `0x${trimmed.replace(/^0x/i, '').toLowerCase()}`;
  return { kind: 'hex', hex, isHash: hex.length === 66 };
}
