/** `GET /v1/-/heads`, an extension (docs/extensions.md): each new head of the ledger as a server-sent event. */
import { HeadSource } from '../../push/head-source.ts';
import { lastPosition } from '../../push/resume.ts';
import { IndexSchema } from '../../schemas/schemas.ts';
import { defineRead } from '../endpoint.ts';
import { indexJson } from '../health.ts';
import { U64 } from '../parameters.ts';

export const headsEndpoint = defineRead({
  operationId: 'get_heads',
  isNeverBatched: true,
  tag: 'General',
  summary: 'Listen to new heads of the ledger',
  description:
    'With `Accept: text/event-stream` an event for the newest state of the ledger, and for each newer one. ' +
    'States that follow each other quickly may come as one. Otherwise the newest state alone.',
  isExtension: true,
  path: '/-/heads',
  parameters: {},
  switchName: 'Get ledger info',
  results: { description: 'The state of the ledger.', json: IndexSchema },
  failures: [400, 403, 500, 503],
  answer: ({ view, settings }) => ({ body: indexJson(view.state, settings) }),
  stream({ headers, settings }) {
    const source = new HeadSource(({ state }) => indexJson(state, settings));
    // A client that connects again is told the state again: it may have missed nothing, and cannot know.
    return { source, from: lastPosition(headers, U64) ?? 0n };
  },
});
