/** Where a stream goes on that was interrupted. */
import type { IncomingHttpHeaders } from 'node:http';
import { type ParameterType, parseHeader } from '../endpoints/parameters.ts';

const LAST_EVENT_ID = 'last-event-id';

/**
 * The position after the last event that a client has got; absent: it says nothing about one.
 * @param type reads an id as a position
 * @throws ApiError 400 for what is not an id
 */
export function resumedFrom(
  headers: IncomingHttpHeaders,
  type: ParameterType<bigint>,
): bigint | undefined {
  const last = headers[LAST_EVENT_ID] as string | undefined;
  // A client that has got no event yet may say so.
  if (last === undefined || last === '') return undefined;
  return parseHeader(LAST_EVENT_ID, type, last) + 1n;
}
