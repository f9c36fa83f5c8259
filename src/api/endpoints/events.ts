/**
 * `GET /v1/accounts/{address}/events/{creation_number}` and `…/events/{event_handle}/{field_name}`
 * (docs/spec/http.md §1.2, §5.3, §5.7, §7).
 */
import type { EventStream } from '../../ledger/events/stream-pages.ts';
import { andThen } from '../../maybe-promise.ts';
import { EventSource, type StreamStart } from '../push/sources.ts';
import { EventsSchema } from '../schemas/schemas.ts';
import { type Call, defineRead } from './endpoint.ts';
import {
  ADDRESS,
  IDENTIFIER,
  listLimit,
  listSize,
  pathParameter,
  queryParameter,
  requireShallow,
  STRUCT_TAG,
  U64,
} from './parameters.ts';
import { resumedFrom } from './resumed-stream.ts';

const PAGE = {
  start: queryParameter(U64, 'First sequence number; absent: the most recent page.'),
  limit: listLimit('events'),
};
const RESULTS = {
  description: 'The events.',
  json: EventsSchema,
  bcs: 'A vector of events, each the u64 version of its transaction and the event.',
};

export const eventsEndpoint = defineRead({
  operationId: 'get_events_by_creation_number',
  tag: 'Events',
  summary: 'Get events by creation number',
  description:
    'Retrieves events of the stream that an account address and a creation number name, in ' +
    'ascending order. Without `start` the most recent ones. A page whose first event was pruned ' +
    'is answered with 410. The next page starts at the last sequence number plus one.',
  isDecidedByView: true,
  work: 'listing',
  path: '/accounts/{address}/events/{creation_number}',
  parameters: {
    address: pathParameter(ADDRESS, 'Account to which the events were emitted.'),
    creation_number: pathParameter(U64, 'Creation number of the stream.'),
    ...PAGE,
  },
  results: RESULTS,
  answer({ parameters, view, format, settings }) {
    const { address, creation_number: creationNumber, start } = parameters;
    const limit = listSize(parameters.limit, settings);
    return view.pages.page({ address, creationNumber, start, limit }, format);
  },
  stream(call) {
    const { address, creation_number: creationNumber } = call.parameters;
    return startOf({ address, creationNumber }, call);
  },
});

export const eventsByHandleEndpoint = defineRead({
  operationId: 'get_events_by_event_handle',
  tag: 'Events',
  summary: 'Get events by event handle',
  description:
    'Retrieves events of the stream whose handle stands in a field of a resource of the account, as it ' +
    'is at the latest version. Otherwise like the events of a creation number.',
  isDecidedByView: true,
  work: 'listing',
  path: '/accounts/{address}/events/{event_handle}/{field_name}',
  parameters: {
    address: pathParameter(ADDRESS, 'Account that holds the resource.'),
    event_handle: pathParameter(
      STRUCT_TAG,
      'Type of the resource that holds the handle.',
      '0x1::block::BlockResource',
    ),
    field_name: pathParameter(
      IDENTIFIER,
      'Field of the resource that is the handle.',
      'new_block_events',
    ),
    ...PAGE,
  },
  results: RESULTS,
  answer({ parameters, view, format, settings }) {
    const { address, event_handle: holder, field_name: field, start } = parameters;
    requireShallow('event_handle', holder);
    return andThen(view.accounts.eventStream(address, holder, field), (stream) => {
      const limit = listSize(parameters.limit, settings);
      return view.pages.page({ ...stream, start, limit }, format);
    });
  },
  async stream(call) {
    const { address, event_handle: holder, field_name: field } = call.parameters;
    requireShallow('event_handle', holder);
    return startOf(await call.view.accounts.eventStream(address, holder, field), call);
  },
});

/** The position where a request begins to listen: after its last event, or where a page would begin. */
async function startOf(
  stream: EventStream,
  { parameters, headers, view, settings }: Call<typeof PAGE, undefined>,
): Promise<StreamStart> {
  const limit = listSize(parameters.limit, settings);
  const start = resumedFrom(headers, U64) ?? parameters.start;
  const from = start ?? (await view.pages.startOfNewest(stream, limit));
  return { source: new EventSource(stream), from };
}
