/** `GET /v1/events/by_type/{type}` (docs/extensions.md). */
import { typedEventsBcs, typedEventsJson } from '../../../ledger/events/typed-events.ts';
import { ApiError } from '../../error-table.ts';
import { positionOf, TypedEventSource } from '../../push/sources.ts';
import { TypedEventsSchema } from '../../schemas/extension-schemas.ts';
import { defineRead } from '../endpoint.ts';
import { joinedAnswer } from '../joined-answer.ts';
import {
  EVENT_PLACE,
  LEDGER_VERSION,
  listLimit,
  listSize,
  pathParameter,
  queryParameter,
  requireShallow,
  STRUCT_TAG,
} from '../parameters.ts';
import { resumedFrom } from '../resumed-stream.ts';

const LAST_EVENT = {
  ...EVENT_PLACE,
  parse: (text: string) => positionOf(EVENT_PLACE.parse(text)),
};

export const eventsByTypeEndpoint = defineRead({
  operationId: 'get_events_by_type',
  tag: 'Events',
  summary: 'Get module events by type',
  description:
    'Retrieves the module events of exactly one type, type arguments included, in the order of the ledger from a ' +
    'version on. Events of streams are not among them. A type without events has an empty page. A start that was ' +
    'pruned is answered with 410. An extension of this node.',
  isExtension: true,
  isDecidedByView: true,
  work: 'listing',
  path: '/events/by_type/{type}',
  parameters: {
    type: pathParameter(STRUCT_TAG, 'Type of the events.', '0x1::transaction_fee::FeeStatement'),
    start: queryParameter(
      EVENT_PLACE,
      'Version from which on to look, or `VERSION:INDEX`, as the cursor of the page before says it; absent: the ' +
        'oldest version.',
      '0',
    ),
    limit: listLimit(
      'events',
      ' A page may hold fewer and yet have a next one: the cursor says so.',
    ),
    ledger_version: LEDGER_VERSION,
  },
  results: {
    description: 'A page of events.',
    json: TypedEventsSchema,
    bcs: 'A vector of the u64 version, the u32 index and the event.',
  },
  hasCursor: true,
  async answer({ parameters, view, format, settings, pace }) {
    const { type, start, ledger_version: requestedVersion } = parameters;
    requireShallow('type', type);
    const version = view.resolveVersion(requestedVersion);
    const limit = listSize(parameters.limit, settings);
    const { events, next } = await view.typedEvents.page({ type, start, version, limit }, pace);
    const cursor = next && `${next.version}:${next.index}`;
    // Without a start, a page begins at the oldest version, which pruning moves.
    const isFixed = requestedVersion !== undefined && start !== undefined;
    if (format === 'bcs') return { body: typedEventsBcs(events), cursor, isImmutable: isFixed };
    const rendered = await view.typedEvents.render(events, pace);
    const areFinal = rendered.every(({ isFinal }) => isFinal);
    const answer = await joinedAnswer(typedEventsJson(rendered), pace);
    return { ...answer, cursor, isImmutable: isFixed && areFinal };
  },
  stream({ parameters, headers, view, settings }) {
    const { type, start, ledger_version: requestedVersion } = parameters;
    requireShallow('type', type);
    listSize(parameters.limit, settings);
    if (requestedVersion !== undefined) {
      const message = 'A stream of events goes on with the ledger: it has no ledger_version';
      throw new ApiError(400, 'invalid_input', message);
    }
    const from =
      resumedFrom(headers, LAST_EVENT) ?? positionOf(start ?? view.typedEvents.firstPlace);
    return { source: new TypedEventSource(type), from };
  },
});
