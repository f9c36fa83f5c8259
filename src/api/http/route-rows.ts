/** The rows of the route table: endpoints with their streams, and preflights. */
import { andThen, type MaybePromise, settle } from '../../maybe-promise.ts';
import type { AnyEndpoint } from '../endpoints/endpoint.ts';
import type { PushHub } from '../push/push-hub.ts';
import { BASE_PATH, splitTarget } from '../request-target.ts';
import type { Upstream } from '../upstream.ts';
import {
  type ApiContext,
  answerEndpoint,
  callOf,
  openView,
  sendFailure,
} from './request-handler.ts';
import type { Exchange, Route, RouteRow } from './routes.ts';

/** The rows of an endpoint; the index answers at both of its spellings. */
export function endpointRows(endpoint: AnyEndpoint, context: ApiContext, hub: PushHub): RouteRow[] {
  const { operationId, method, path, work = 'read' } = endpoint;
  const upstream = endpoint.isForwarded === true ? context.upstream : undefined;
  const stream: Route | undefined = endpoint.stream && {
    operationId: `${operationId}_stream`,
    work: 'listing',
    answer: (exchange, body) => answerWithStream(endpoint, exchange, body, context, hub),
  };
  const route: Route = {
    operationId,
    stream,
    // A body was admitted before it was received.
    work: method === 'POST' ? 'none' : work,
    answer: (exchange, body) =>
      upstream === undefined
        ? answerEndpoint(endpoint, exchange, body, context)
        : forward(endpoint, exchange, body, upstream, context),
  };
  const paths = path === '/' ? [BASE_PATH, `${BASE_PATH}/`] : [BASE_PATH + path];
  return paths.map((path) => ({ path, method, route }));
}

/** Passes a request on to the upstream. An error that it throws becomes the response. */
async function forward(
  { operationId, path }: AnyEndpoint,
  { request, response }: Exchange,
  body: Uint8Array,
  upstream: Upstream,
  { ledger, responder }: ApiContext,
): Promise<void> {
  const { state } = await ledger.view();
  const { query } = splitTarget(request.url!);
  const disconnected = new AbortController();
  response.once('close', () => disconnected.abort());
  const forwarded = { operationId, path, query, headers: request.headers, body };
  const answer = await upstream.forward(forwarded, state.chainId, disconnected.signal);
  // The ledger may have grown meanwhile: send headers of its current state.
  const { view } = await openView(ledger);
  responder.sendUpstreamAnswer(response, answer, upstream.origin, view?.state);
}

/** Answers a request with a stream. A failure before it begins is answered as for a page. */
function answerWithStream(
  endpoint: AnyEndpoint,
  exchange: Exchange,
  body: Buffer,
  context: ApiContext,
  hub: PushHub,
): MaybePromise<void> {
  const { response } = exchange;
  return andThen(openView(context.ledger), (opened) =>
    settle(
      async () => {
        const call = callOf(endpoint, exchange, body, 'json', opened, context);
        const start = await endpoint.stream!(call);
        const begin = () => context.responder.beginStream(response, call.view.headerState);
        await hub.open(response, call.view, start, begin);
      },
      () => undefined,
      (failure) => sendFailure(exchange, failure, opened, context),
    ),
  );
}

export function preflightRoute({ ledger, responder }: ApiContext): Route {
  return {
    operationId: '',
    work: 'none',
    answer: ({ response }) =>
      andThen(openView(ledger), ({ view }) => responder.sendPreflight(response, view?.state)),
  };
}
