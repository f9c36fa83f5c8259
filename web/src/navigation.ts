/** Navigation between views: links within the page change the address bar without loading a document. */
import { arriveAt, parseRoute } from './route.ts';

const ARRIVAL = 'arrival';

/** Goes to a path. Going to the current one shows it again. */
export function go(path: string): void {
  if (path !== location.pathname + location.search + location.hash)
    history.pushState(null, '', path);
  arrive();
}

/** Goes to a path and replaces the current history entry. */
export function replaceWith(path: string): void {
  history.replaceState(null, '', path);
  arrive();
}

/** Calls `listener` after each navigation. @returns a function that removes the listener */
export function onArrival(listener: () => void): () => void {
  window.addEventListener(ARRIVAL, listener);
  return () => window.removeEventListener(ARRIVAL, listener);
}

function arrive(): void {
  const path = arriveAt(location);
  if (path !== undefined) {
    history.replaceState(null, '', path);
    arriveAt(location);
  }
  window.dispatchEvent(new Event(ARRIVAL));
}

/** Follows a link within the page, unless the reader wants a new tab or a download. */
function follow(event: MouseEvent): void {
  const link = (event.target as Element).closest<HTMLAnchorElement>('a[href]');
  const isPlain =
    event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  if (link === null || !isPlain || event.defaultPrevented) return;
  if (link.target !== '' || link.hasAttribute('download')) return;
  const { origin, pathname, search, hash } = new URL(link.href);
  if (origin !== location.origin || parseRoute(pathname + search) === undefined) return;
  event.preventDefault();
  go(pathname + search + hash);
}

/** Starts navigation. Call it once, before the first view is shown. */
export function startNavigation(): void {
  document.addEventListener('click', follow);
  window.addEventListener('popstate', arrive);
  arrive();
}
