/** `GET /v1/accounts/{address}/events/{event_handle}/{field_name}` (docs/spec/http.md §1.2, §7). */

import { EventsSchema } from '../schemas/schemas.ts';
import { DEFAULT_PAGE_SIZE } from '../settings.ts';
import { defineEndpoint, READ_FAILURES } from './endpoint.ts';
import {
  ADDRESS,
  IDENTIFIER,
  pageSize,
  pathParameter,
  queryParameter,
  requireShallow,
  STRUCT_TAG,
  U16,
  U64,
} from './parameters.ts';

/** A page of the event stream whose handle a resource holds. */
export const eventsByHandleEndpoint = defineEndpoint({
  operationId: 'get_events_by_event_handle',
  tag: 'Events',
  summary: 'Get events by event handle',
  description:
    'Retrieves events of the stream whose handle stands in a field of a resource of the account, as it ' +
    'is at the latest version. Otherwise like the events of a creation number.',
  method: 'GET',
  isDecidedByView: true,
  work: 'listing',
  path: '/accounts/{address}/events/{event_handle}/{field_name}',
  parameters: {
    address: pathParameter(ADDRESS, 'Account that holds the resource.'),
    event_handle: pathParameter(STRUCT_TAG, 'Type of the resource that holds the handle.'),
    field_name: pathParameter(IDENTIFIER, 'Field of the resource that is the handle.'),
    start: queryParameter(U64, 'First sequence number; absent: the most recent page.'),
    limit: queryParameter(
      U16,
      'Most events to return: 25 when absent; above the node’s maximum (100 by default) it is ' +
        'reduced to that.',
    ),
  },
  switchName: 'Get events by event handle',
  results: {
    description: 'The events.',
    json: EventsSchema,
    bcs: 'A vector of events, each the u64 version of its transaction and the event.',
  },
  failures: READ_FAILURES,
  async answer({ parameters, view, format, settings }) {
    const { address, event_handle: holder, field_name: field, start } = parameters;
    requireShallow('event_handle', holder);
    const stream = await view.accounts.eventStream(address, holder, field);
    const limit = pageSize(parameters.limit, DEFAULT_PAGE_SIZE, settings.maxEventsPageSize);
    const page = { ...stream, start, limit };
    return view.eventPage(page, format);
  },
});
