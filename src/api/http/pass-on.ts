/** Requests that the upstream answers. */
import type { AnyEndpoint } from '../endpoints/endpoint.ts';
import { type ApiContext, openView } from './request-handler.ts';
import { splitTarget } from './request-target.ts';
import type { Exchange } from './routes.ts';
import type { Upstream } from './upstream.ts';

/** Has the upstream answer a request. What it throws becomes the response. */
export async function passOn(
  { operationId, path }: AnyEndpoint,
  { request, response }: Exchange,
  body: Uint8Array,
  upstream: Upstream,
  { ledger, responder }: ApiContext,
): Promise<void> {
  const { state } = await ledger.view();
  const { query } = splitTarget(request.url!);
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const passed = { operationId, path, query, headers: request.headers, body };
  const answer = await upstream.passOn(passed, state.chainId, gone.signal);
  // The ledger has grown meanwhile: the headers are those of now.
  const { view } = await openView(ledger);
  responder.sendPassedOn(response, answer, upstream.origin, view?.state);
}
