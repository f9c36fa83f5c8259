/**
 * Hash routes: `#/balance?account=0x1&asset=0xa`. Every view can be linked to and reloaded. `version` has one meaning
 * in all of them: what is shown is the ledger as of that version.
 */

/** The views, by their name in the route. */
const VIEW_NAMES = [
  'overview',
  'transactions',
  'transaction',
  'blocks',
  'block',
  'account',
  'module',
  'events',
  'balance',
  'encode',
  'search',
] as const;
export type ViewName = (typeof VIEW_NAMES)[number];

export type Parameters = Readonly<Record<string, bigint | number | string | undefined>>;

export interface Route {
  readonly view: ViewName;
  readonly parameters: ReadonlyMap<string, string>;
}

/** Reads a hash; an unknown view is undefined, an empty hash is the overview. */
export function parseRoute(hash: string): Route | undefined {
  const [, name, query = ''] = /^#?\/?([^?]*)\??(.*)$/s.exec(hash)!;
  const view = name === '' ? 'overview' : VIEW_NAMES.find((known) => known === name);
  if (view === undefined) return undefined;
  return { view, parameters: new Map(new URLSearchParams(query)) };
}

/** The hash for a view; parameters that are empty or undefined are left out. */
export function routeHash(view: ViewName, parameters: Parameters = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== '') query.set(name, String(value));
  }
  const text = query.toString().replaceAll('%3A', ':');
  return text === '' ? `#/${view}` : `#/${view}?${text}`;
}

let current: Route | undefined;

/** Notes the hash in the address bar. */
export function arriveAt(hash: string): Route | undefined {
  current = parseRoute(hash);
  return current;
}

/** A parameter in the address bar, trimmed; empty when it is not there. */
export function parameter(name: string): string {
  return current?.parameters.get(name)?.trim() ?? '';
}

/** The version in the address bar; undefined for the newest. */
export function chosenVersion(): string | undefined {
  return parameter('version') || undefined;
}

/** The hash for a view that stays at the version in the address bar. */
export function linkTo(view: ViewName, parameters: Parameters = {}): string {
  return routeHash(view, { ...parameters, version: chosenVersion() });
}

/** What a search text may be. */
type SearchTerm =
  /** Where it leads is known without asking: a module, an item of one, a stream. */
  | { readonly kind: 'place'; readonly hash: string }
  /** A version or a height. */
  | { readonly kind: 'number'; readonly digits: string }
  /** An account or an object; `isHash` when it has 32 bytes, as hashes have. */
  | { readonly kind: 'hex'; readonly hex: string; readonly isHash: boolean };

const HEX = '(?:0x)?[0-9a-fA-F]{1,64}';
const STREAM = new RegExp(`^(${HEX})\\s*/\\s*([0-9]+)$`);
const ITEM = new RegExp(`^(${HEX})::([\\w$]+)(?:::([\\w$]+))?(?:<.*>)?$`);

/** Reads `5044`, `0x1`, `0x1::coin`, `0x1::coin::transfer`, `0x1/2` or a hash; undefined for anything else. */
export function readSearch(text: string): SearchTerm | undefined {
  const trimmed = text.trim();
  const digits = trimmed.replaceAll(/[,_\s]/g, '');
  if (/^[0-9]{1,20}$/.test(digits)) return { kind: 'number', digits };
  const [, account, stream] = STREAM.exec(trimmed) ?? [];
  if (stream !== undefined)
    return { kind: 'place', hash: routeHash('events', { account, stream }) };
  const [, address, name, item] = ITEM.exec(trimmed) ?? [];
  if (name !== undefined) {
    return { kind: 'place', hash: routeHash('module', { account: address, name, item }) };
  }
  if (!new RegExp(`^${HEX}$`, 'i').test(trimmed)) return undefined;
  const hex = `0x${trimmed.replace(/^0x/i, '').toLowerCase()}`;
  return { kind: 'hex', hex, isHash: hex.length === 66 };
}
