/** Requests for server-sent events, an extension (docs/extensions.md). */
import { andThen, type MaybePromise, settle } from '../../maybe-promise.ts';
import type { StreamingEndpoint } from '../endpoints/endpoint.ts';
import { type ApiContext, callOf, openView, sendFailure } from '../http/request-handler.ts';
import type { Exchange } from '../http/routes.ts';
import type { PushHub } from './push-hub.ts';

/** Answers a request with a stream. What fails before it begins is answered as for a page. */
export function answerWithStream(
  endpoint: StreamingEndpoint,
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
        const start = await endpoint.stream(call);
        const begin = () => context.responder.beginStream(response, call.view.answeredState);
        await hub.open(response, call.view, start, begin);
      },
      () => undefined,
      (failure) => sendFailure(exchange, failure, opened, context),
    ),
  );
}
