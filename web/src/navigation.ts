/** Going from view to view: links of the page change the address bar, and load no document. */
import { arriveAt, parseRoute } from './route.ts';

const ARRIVAL = 'arrival';

/** Goes to a path; to the present one again when it is the same. */
export function go(path: string): void {
  if (path !== location.pathname + location.search + location.hash)
    history.pushState(null, '', path);
  arrive();
}

/** Goes to a path, and leaves the present one out of the way back. */
export function replaceWith(path: string): void {
  history.replaceState(null, '', path);
  arrive();
}

/** Calls `listener` each time that the reader has gone somewhere. @returns what ends it */
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

/** Follows a link of the page, unless the reader wants it elsewhere: in another tab, or as a file. */
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

/** Begins; to be called once, before the first view is shown. */
export function startNavigation(): void {
  document.addEventListener('click', follow);
  window.addEventListener('popstate', arrive);
  arrive();
}
