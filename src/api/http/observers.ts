/** Reports every finished request, for metrics and the access log (docs/spec/http.md §10.5). */
import type { IncomingMessage } from 'node:http';
import type { Exchange } from './routes.ts';

export interface RequestOutcome {
  readonly request: IncomingMessage;
  /** Empty if no endpoint answered: unknown paths, preflights, pages. */
  readonly operationId: string;
  readonly status: number;
  /** From the request headers until the response was handed to the operating system, in milliseconds. */
  readonly elapsedMs: number;
}

/** Status of a request whose client closed the connection before the answer. */
const UNANSWERED_STATUS = 499;

/** Called for every request; must not throw. */
export type RequestObserver = (outcome: RequestOutcome) => void;

/**
 * Reports a request when it is over: now if the operating system has taken the answer, else when it has, or when the
 * client closes the connection first. Requests that wait on a connection when it is closed are not reported.
 * @param startedMs when the request was read, in the time of `performance.now()`
 */
export function observe(
  observers: readonly RequestObserver[],
  exchange: Exchange,
  startedMs: number,
): void {
  if (observers.length === 0) return;
  const { response } = exchange;
  if (response.writableFinished) notify(observers, exchange, startedMs);
  else response.once('close', () => notify(observers, exchange, startedMs));
}

function notify(
  observers: readonly RequestObserver[],
  { request, response, route }: Exchange,
  startedMs: number,
): void {
  const outcome = {
    request,
    operationId: route.operationId,
    status: response.headersSent ? response.statusCode : UNANSWERED_STATUS,
    elapsedMs: performance.now() - startedMs,
  };
  for (const observer of observers) observer(outcome);
}
