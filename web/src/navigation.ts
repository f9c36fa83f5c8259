/** Where the reader is, and the way to other views. */
import { type Parameters, parseRoute, routeHash, type ViewName } from './route.ts';

/** The version in the address bar; undefined for the newest. */
export function chosenVersion(): string | undefined {
  return parseRoute(location.hash)?.parameters.get('version')?.trim() || undefined;
}

/** The hash for a view that stays at the version in the address bar. */
export function linkTo(view: ViewName, parameters: Parameters = {}): string {
  return routeHash(view, { ...parameters, version: chosenVersion() });
}

/** Goes to a hash; to the present one again when it is the same. */
export function go(hash: string): void {
  if (location.hash === hash) window.dispatchEvent(new HashChangeEvent('hashchange'));
  else location.hash = hash;
}
