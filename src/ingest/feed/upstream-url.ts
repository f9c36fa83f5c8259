/** Where a feed is asked for: the URL of a node as people write it, as the base of its interface. */
import { FeedError } from './feed-error.ts';

/** Path of the interface below a node's own URL. */
const INTERFACE_PATH = '/v1';

/**
 * The base of a node's interface, without a slash at its end: `http://host:8080/v1` from `http://host:8080`,
 * `http://host:8080/` or `http://host:8080/v1/`.
 * @throws FeedError `bad_upstream_url` for what is no http or https URL, or has a query, a fragment or credentials
 */
export function interfaceBase(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw badUrl(text, 'it must begin with http:// or https://');
  }
  if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') {
    throw badUrl(text, 'it must have no query, fragment, user or password');
  }
  const path = url.pathname.replace(/\/+$/, '');
  url.pathname = path.endsWith(INTERFACE_PATH) ? path : path + INTERFACE_PATH;
  return url;
}

function badUrl(text: string, why: string): FeedError {
  const shown = JSON.stringify(text.slice(0, 200));
  return new FeedError('bad_upstream_url', `${shown} is no URL of a node: ${why}`);
}
