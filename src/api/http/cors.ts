/**
 * Cross-origin requests: every origin is allowed, and browsers may read the ledger headers
 * (docs/spec/http.md §10.1 with docs/spec/decisions.md D1, D5).
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { HeaderList } from './ledger-headers.ts';

/** Methods that a preflight may ask for; compared as they are written. */
const ALLOWED_METHODS = ['GET', 'POST'];
/** A day: how long a browser may remember a preflight, in seconds. */
const PREFLIGHT_MAX_AGE_SECS = 86_400;

/** Headers of an answer to a request with an `Origin`. */
export function corsHeaders(origin: string, exposed: string): HeaderList {
  return [
    'access-control-allow-origin',
    origin,
    'access-control-allow-credentials',
    'true',
    'access-control-expose-headers',
    exposed,
  ];
}

/**
 * Headers of the answer to a preflight; undefined when the method it asks for is missing or not
 * allowed.
 */
export function preflightHeaders(request: IncomingHttpHeaders): HeaderList | undefined {
  const asked = request['access-control-request-method'];
  if (asked === undefined || !ALLOWED_METHODS.includes(asked)) return undefined;
  return [
    'access-control-max-age',
    String(PREFLIGHT_MAX_AGE_SECS),
    'access-control-allow-methods',
    ALLOWED_METHODS.join(', '),
    'access-control-allow-headers',
    request['access-control-request-headers'] ?? '*',
  ];
}
