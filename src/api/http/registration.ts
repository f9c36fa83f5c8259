/**
 * Makes routes of endpoints: reads the request, negotiates, looks at switches, takes one reading of
 * the ledger and has the answer or the failure written, in the order of docs/spec/http.md §5.1, the same
 * for all of them.
 */
import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { LedgerReader, LedgerView } from '../../ledger/api-contract.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import type { Answer, AnyEndpoint } from '../endpoints/endpoint.ts';
import { readParameters } from '../endpoints/parameters.ts';
import type { ApiSettings } from '../settings.ts';
import type { AnswerCache } from './answer-cache.ts';
import { FrameworkError, knownFailure, unexpectedFailure } from './error-table.ts';
import { CONTENT_TYPES, chooseFormat, type Format } from './negotiation.ts';
import { type Admission, overloadError } from './overload.ts';
import { BASE_PATH, type Query } from './request-target.ts';
import type { Responder } from './responder.ts';

/** Where failures that nobody foresaw are written to; a pino logger is one. */
export interface ApiLogger {
  error(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

/** What all routes share. */
export interface ApiContext {
  readonly ledger: LedgerReader;
  readonly settings: ApiSettings;
  readonly responder: Responder;
  readonly logger: ApiLogger;
  readonly admission: Admission;
  readonly answers: AnswerCache;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The body of a POST, read and decompressed before routing. */
    bodyBytes: Buffer | null;
    /** Of the endpoint that answers; empty where there is none. */
    operationId: string;
  }
}

/** One reading of the ledger, or why there is none; an answer's headers come from it either way. */
export type Reading =
  | { readonly view: LedgerView }
  | { readonly view?: undefined; failure: unknown };

/**
 * Takes a reading without failing: an error must come out in its turn, after those of the request.
 */
export function takeReading(ledger: LedgerReader): MaybePromise<Reading> {
  try {
    const view = ledger.view();
    if (!(view instanceof Promise)) return { view };
    return view.then(
      (read) => ({ view: read }),
      (failure) => ({ failure }),
    );
  } catch (failure) {
    return { failure };
  }
}

/** The body of a request that has none. */
export const NO_BODY = Buffer.alloc(0);

/** A request whose endpoint is known and whose body, if any, is there. */
export interface MatchedRequest {
  /** Raw texts of the path's parameters by name. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Buffer;
  readonly response: ServerResponse;
}

/** Registers the routes of an endpoint. */
export function registerEndpoint(
  app: FastifyInstance,
  endpoint: AnyEndpoint,
  context: ApiContext,
): void {
  for (const url of routeUrls(endpoint.path)) {
    app.route({
      method: endpoint.method === 'GET' ? ['GET', 'HEAD'] : [endpoint.method],
      url,
      handler: (request, reply) => {
        request.operationId = endpoint.operationId;
        reply.hijack();
        const path = request.params as Readonly<Record<string, string>>;
        const query = request.query as unknown as Query;
        const body = request.bodyBytes ?? NO_BODY;
        return answerRequest(endpoint, { path, query, body, response: reply.raw }, context);
      },
    });
  }
}

/** The router's patterns for a path; the index answers under both of its spellings. */
function routeUrls(path: string): string[] {
  if (path === '/') return [BASE_PATH, `${BASE_PATH}/`];
  return [BASE_PATH + path.replaceAll(/\{(\w+)\}/g, ':$1')];
}

/**
 * Answers a request that is let in, with a failure too; it never rejects. Whatever is at hand is
 * answered before this returns: promises cost more than most of what is between them.
 */
export function answerRequest(
  endpoint: AnyEndpoint,
  request: MatchedRequest,
  context: ApiContext,
): MaybePromise<void> {
  // A body was let in before it was received.
  const work = endpoint.method === 'POST' ? 'none' : (endpoint.work ?? 'read');
  if (work !== 'none' && !context.admission.admits(work)) {
    context.responder.sendRefusal(request.response, overloadError(work));
    return undefined;
  }
  const reading = takeReading(context.ledger);
  if (reading instanceof Promise) {
    return reading.then((taken) => answerAt(endpoint, request, taken, context));
  }
  return answerAt(endpoint, request, reading, context);
}

function answerAt(
  endpoint: AnyEndpoint,
  request: MatchedRequest,
  reading: Reading,
  context: ApiContext,
): MaybePromise<void> {
  const fail = (error: unknown): void => sendFailure(request.response, error, reading, context);
  try {
    const format = chooseFormat(request.response.req.headers.accept);
    const answer = keptOrMade(endpoint, request, format, reading, context);
    const send = (found: Answer): MaybePromise<void> => {
      const tagged = endpoint.method === 'GET';
      const content = { answer: found, contentType: CONTENT_TYPES[format], tagged };
      return context.responder.send(request.response, content, reading.view?.state);
    };
    const sent = answer instanceof Promise ? answer.then(send) : send(answer);
    return sent?.catch(fail);
  } catch (error) {
    fail(error);
    return undefined;
  }
}

/** The answer that is kept for the view; else it is made, and kept where that is allowed. */
function keptOrMade(
  endpoint: AnyEndpoint,
  request: MatchedRequest,
  format: Format,
  reading: Reading,
  { answers, settings }: ApiContext,
): MaybePromise<Answer> {
  const { view } = reading;
  if (endpoint.isDecidedByView !== true || view === undefined) {
    return answerOf(endpoint, request, format, reading, settings);
  }
  const url = request.response.req.url!;
  const kept = answers.find(view, format, url);
  if (kept !== undefined) return kept;
  const made = answerOf(endpoint, request, format, reading, settings);
  const keep = (found: Answer): Answer => answers.keep(view, format, url, found);
  return made instanceof Promise ? made.then(keep) : keep(made);
}

function answerOf(
  endpoint: AnyEndpoint,
  { path, query, body: bytes, response }: MatchedRequest,
  format: Format,
  reading: Reading,
  settings: ApiSettings,
): MaybePromise<Answer> {
  // The router lets a last parameter be empty; the interface does not (docs/spec/http.md §1.7).
  if (endpoint.path.endsWith('}') && Object.values(path).at(-1) === '') throw notFound();
  const parameters = readParameters(endpoint.parameters, { path, query });
  const body = endpoint.body?.read(bytes, response.req.headers);
  try {
    endpoint.checkSwitches(settings, format);
    if (reading.view === undefined) throw reading.failure;
  } catch (refusal) {
    endpoint.body?.check?.(body);
    throw refusal;
  }
  return endpoint.answer({ parameters, body, format, view: reading.view, settings });
}

/** No such route. */
export function notFound(): FrameworkError {
  return new FrameworkError(404, 'not found');
}

/** Sends any failure; one that nobody foresaw is logged and told to the client without its text. */
export function sendFailure(
  response: ServerResponse,
  error: unknown,
  reading: Reading,
  context: ApiContext,
): void {
  if (response.headersSent) {
    context.logger.error({ err: error }, 'failed after the headers were sent');
    response.destroy();
    return;
  }
  const known = knownFailure(error);
  if (known === undefined) {
    const { method, url } = response.req;
    context.logger.error({ err: error, method, url }, 'request failed unexpectedly');
  } else if (known.status >= 500 && known.retryAfterSecs === undefined) {
    context.logger.warn({ err: error, code: known.code }, known.message);
  }
  context.responder.sendError(response, known ?? unexpectedFailure(error), reading.view?.state);
}
