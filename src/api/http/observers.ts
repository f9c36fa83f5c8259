/** Telling others of every request when it is over: metrics and the access log (docs/spec/http.md §10.5). */
import type { IncomingMessage } from 'node:http';
import type { Exchange } from './routes.ts';

export interface RequestOutcome {
  readonly request: IncomingMessage;
  /** Empty where no endpoint answered: unknown paths, preflights, pages. */
  readonly operationId: string;
  readonly status: number;
  /** From the request headers until the response was handed to the operating system, in milliseconds. */
  readonly elapsedMs: number;
}

/** Status of a request whose client closed the connection before there was an answer. */
const UNANSWERED_STATUS = 499;

/** Gets every request; must not throw. */
export type RequestObserver = (outcome: RequestOutcome) => void;

/**
 * Tells observers when a request is over, also when its client closes the connection before the answer; but not of
 * requests that wait on the same connection then.
 */
export function observe(
  observers: readonly RequestObserver[],
  { request, response, route }: Exchange,
): void {
  if (observers.length === 0) return;
  const startedMs = performance.now();
  response.once('close', () => {
    const outcome = {
      request,
      operationId: route.operationId,
      status: response.headersSent ? response.statusCode : UNANSWERED_STATUS,
      elapsedMs: performance.now() - startedMs,
    };
    for (const tell of observers) tell(outcome);
  });
}
