/** Where a stream goes on that was interrupted. */
import type { IncomingHttpHeaders } from 'node:http';
import { type ParameterType, parseHeader } from './parameters.ts';

const LAST_EVENT_ID = 'last-event-id';

/**
 * The position of the last event that a client has got; absent: it says nothing about one.
 * @param type reads an id as a position
 * @throws ApiError 400 for what is not an id
 */
export function lastPosition(
  headers: IncomingHttpHeaders,
  type: ParameterType<bigint>,
): bigint | undefined {
  const last = headers[LAST_EVENT_ID] as string | undefined;
  // A client that has got no event yet may say so.
  return last === undefined || last === '' ? undefined : parseHeader(LAST_EVENT_ID, type, last);
}

/** The position after it, where the stream goes on. */
export function resumedFrom(...resumed: Parameters<typeof lastPosition>): bigint | undefined {
  const last = lastPosition(...resumed);
  return last === undefined ? undefined : last + 1n;
}
