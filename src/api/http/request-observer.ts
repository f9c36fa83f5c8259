/**
 * Being told of every request when it is over: what metrics and the access log are made of (docs/spec/http.md §10.5).
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';

/** A request that is over. */
export interface RequestOutcome {
  readonly request: IncomingMessage;
  /** Empty where no endpoint answered: unknown paths, preflights, pages. */
  readonly operationId: string;
  readonly status: number;
  /** From reading its head until the system had taken the answer, in milliseconds. */
  readonly elapsedMs: number;
}

/** Status of a request whose client went away before there was an answer. */
export const UNANSWERED_STATUS = 499;

/** Gets every request; must not throw. */
export type RequestObserver = (outcome: RequestOutcome) => void;

/**
 * Has observers told of every request that the HTTP parser lets through, also when its client goes
 * away before the answer; but not of those that stand behind such a one on its connection.
 */
export function observeRequests(app: FastifyInstance, observers: readonly RequestObserver[]): void {
  if (observers.length === 0) return;
  app.addHook('onRequest', (request, reply, done) => {
    watchRequest(observers, request.raw, reply.raw, () => request.operationId);
    done();
  });
}

/** Has observers told of one request. @param operationId asked when it is over */
export function watchRequest(
  observers: readonly RequestObserver[],
  request: IncomingMessage,
  response: ServerResponse,
  operationId: () => string,
): void {
  const startedMs = performance.now();
  response.once('close', () => {
    const outcome = {
      request,
      operationId: operationId(),
      status: response.headersSent ? response.statusCode : UNANSWERED_STATUS,
      elapsedMs: performance.now() - startedMs,
    };
    for (const observe of observers) observe(outcome);
  });
}
