/** `GET /v1/accounts/{address}/events/{creation_number}` (docs/spec/http.md §5.3, §5.7, §7). */

import { EventsSchema } from '../schemas/schemas.ts';
import { DEFAULT_PAGE_SIZE } from '../settings.ts';
import { defineEndpoint, READ_FAILURES } from './endpoint.ts';
import { ADDRESS, pageSize, pathParameter, queryParameter, U16, U64 } from './parameters.ts';

/** A page of an event stream. */
export const eventsEndpoint = defineEndpoint({
  operationId: 'get_events_by_creation_number',
  tag: 'Events',
  summary: 'Get events by creation number',
  description:
    'Retrieves events of the stream that an account address and a creation number name, in ' +
    'ascending order. Without `start` the most recent ones. A page whose first event was pruned ' +
    'is answered with 410. The next page starts at the last sequence number plus one.',
  method: 'GET',
  isDecidedByView: true,
  work: 'listing',
  path: '/accounts/{address}/events/{creation_number}',
  parameters: {
    address: pathParameter(ADDRESS, 'Account to which the events were emitted.'),
    creation_number: pathParameter(U64, 'Creation number of the stream.'),
    start: queryParameter(U64, 'First sequence number; absent: the most recent page.'),
    limit: queryParameter(
      U16,
      'Most events to return: 25 when absent; above the node’s maximum (100 by default) it is ' +
        'reduced to that.',
    ),
  },
  switchName: 'Get events by event key',
  results: {
    description: 'The events.',
    json: EventsSchema,
    bcs: 'A vector of events, each the u64 version of its transaction and the event.',
  },
  failures: READ_FAILURES,
  answer({ parameters, view, format, settings }) {
    const page = {
      address: parameters.address,
      creationNumber: parameters.creation_number,
      start: parameters.start,
      limit: pageSize(parameters.limit, DEFAULT_PAGE_SIZE, settings.maxEventsPageSize),
    };
    return view.eventPage(page, format);
  },
});
