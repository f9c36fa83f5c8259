/** What a request to the node is, and how texts become parts of its path. */

/** A request as the page makes it and as curl repeats it. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST';
  /** Path and query, percent-encoded. */
  readonly path: string;
  /** JSON text; only with POST. */
  readonly body?: string;
}

/** Half of a surrogate pair: cannot be percent-encoded. */
const LONE_SURROGATE = /\p{Surrogate}/gu;

/**
 * One path segment. Colons and commas stay readable: they need no encoding in a path. Browsers fold
 * `.` and `..` away however they are encoded, so `send` refuses them.
 */
export function pathSegment(text: string): string {
  return encodeURIComponent(text.replace(LONE_SURROGATE, '\ufffd'))
    .replaceAll('%3A', ':')
    .replaceAll('%2C', ',');
}

/** `path` with the query fields that have a value. */
export function withQuery(
  path: string,
  query: Readonly<Record<string, bigint | number | string | undefined>>,
): string {
  const fields = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') fields.set(name, String(value));
  }
  return fields.size === 0 ? path : `${path}?${fields}`;
}
