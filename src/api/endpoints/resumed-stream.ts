/** Where an interrupted stream resumes. */
import type { IncomingHttpHeaders } from 'node:http';
import { type ParameterType, parseHeader } from './parameters.ts';

const LAST_EVENT_ID = 'last-event-id';

/**
 * The position of the last event that a client received; undefined if it names none.
 * @param type parses an id as a position
 * @throws ApiError 400 for a text that is not an id
 */
export function lastPosition(
  headers: IncomingHttpHeaders,
  type: ParameterType<bigint>,
): bigint | undefined {
  const last = headers[LAST_EVENT_ID] as string | undefined;
  // A client that has received no event may send an empty id.
  return last === undefined || last === '' ? undefined : parseHeader(LAST_EVENT_ID, type, last);
}

/** The position after the last event, where the stream resumes. */
export function resumedFrom(...resumed: Parameters<typeof lastPosition>): bigint | undefined {
  const last = lastPosition(...resumed);
  return last === undefined ? undefined : last + 1n;
}
