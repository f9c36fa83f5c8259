/** URLs of nodes. */
import { RemoteError } from './remote-error.ts';

/** Path of the interface below a node's own URL. */
const API_PATH = '/v1';

/**
 * The base of a node's interface, without a slash at its end: `http://host:8080/v1` from `http://host:8080`,
 * `http://host:8080/` or `http://host:8080/v1/`.
 * @throws RemoteError `bad_upstream_url` for schemes other than http and https, and a query, fragment or credentials
 */
export function interfaceBase(text: string): URL {
  const url = urlOf(text);
  const path = url.pathname.replace(/\/+$/, '');
  url.pathname = path.endsWith(API_PATH) ? path : path + API_PATH;
  return url;
}

/** The URL of a node, or of a file to download. @throws RemoteError as `interfaceBase` */
export function urlOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw badUrl(text, 'it must begin with http:// or https://');
  }
  if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') {
    throw badUrl(text, 'it must have no query, fragment, user or password');
  }
  return url;
}

/** The message hides user, password and query, which may be secrets. */
function badUrl(text: string, why: string): RemoteError {
  const redacted = text.replace(/^([^/]*\/\/)?.*@/s, '$1…@').replace(/\?.*$/s, '?…');
  const quoted = JSON.stringify(redacted.slice(0, 200));
  return new RemoteError('bad_upstream_url', `${quoted} is not the URL of a node: ${why}`);
}
