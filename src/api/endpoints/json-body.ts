/** The content type of request bodies (docs/spec/http.md §2.3). */
import type { IncomingHttpHeaders } from 'node:http';
import { FrameworkError } from '../http/error-table.ts';
import { parseMediaType } from '../http/media-type.ts';

const VISIBLE_ASCII = /^[\t -~]*$/;

/**
 * Lets JSON pass: `application/json` or `application/…+json`, whatever the parameters; the body is
 * UTF-8 anyway.
 * @throws FrameworkError 415
 */
export function requireJsonBody(headers: IncomingHttpHeaders): void {
  const contentType = headers['content-type'];
  if (contentType === 'application/json') return;
  if (contentType === undefined || !VISIBLE_ASCII.test(contentType)) {
    throw new FrameworkError(415, 'the client request does not include the `Content-Type` header');
  }
  const media = parseMediaType(contentType);
  if (media?.type === 'application' && isJsonSubtype(media.subtype)) return;
  throw new FrameworkError(
    415,
    `the \`Content-Type\` requested by the client is not supported: ${contentType}`,
  );
}

/** `json` as the name before the last `+`, or as the suffix behind it; a `+` in front is none. */
function isJsonSubtype(subtype: string): boolean {
  const plus = subtype.lastIndexOf('+');
  if (plus <= 0) return subtype === 'json';
  return subtype.slice(0, plus) === 'json' || subtype.slice(plus + 1) === 'json';
}
