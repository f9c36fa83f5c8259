/**
 * Hash routes: `#/balance?account=0x1&asset=0xa`. Every view can be linked to and reloaded. `version` has one meaning
 * in all of them: what is shown is the ledger as of that version.
 */

/** The views, by their name in the route. */
export const VIEW_NAMES = ['overview', 'balance', 'events', 'module', 'encode'] as const;
export type ViewName = (typeof VIEW_NAMES)[number];

export type Parameters = Readonly<Record<string, bigint | number | string | undefined>>;

/** A view and its parameters. */
export interface Route {
  readonly view: ViewName;
  readonly parameters: ReadonlyMap<string, string>;
}

/** Reads a hash; an unknown view is undefined, an empty hash is the overview. */
export function parseRoute(hash: string): Route | undefined {
  const [name = '', query = ''] = splitOnce(hash.replace(/^#?\/?/, ''), '?');
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

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
}

/**
 * Where a search text leads: `0x1` to a balance, `0x1::coin` to a module, `0x1::coin::transfer` to
 * an item of it, `0x1/2` to an event stream; undefined for anything else.
 */
export function searchRoute(text: string): string | undefined {
  const trimmed = text.trim();
  const stream = /^((?:0x)?[0-9a-fA-F]{1,64})\s*\/\s*([0-9]+)$/.exec(trimmed);
  if (stream !== null) return routeHash('events', { account: stream[1], stream: stream[2] });
  const item = /^((?:0x)?[0-9a-fA-F]{1,64})::([\w$]+)(?:::([\w$]+))?(?:<.*>)?$/.exec(trimmed);
  if (item !== null) {
    return routeHash('module', { account: item[1], name: item[2], item: item[3] });
  }
  if (/^(?:0x)?[0-9a-fA-F]{1,64}$/.test(trimmed)) return routeHash('balance', { account: trimmed });
  return undefined;
}
