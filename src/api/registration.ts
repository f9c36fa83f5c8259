/**
 * Makes routes of endpoints: reads the request, negotiates, looks at switches, takes one reading of
 * the ledger and has the answer or the failure written, in the order of spec/http.md §5.1, the same
 * for all of them.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { LedgerReader, LedgerView } from '../ledger/api-contract.ts';
import type { Answer, AnyEndpoint } from './endpoint.ts';
import { FrameworkError, knownFailure, unexpectedFailure } from './error-table.ts';
import { CONTENT_TYPES, chooseFormat, type Format } from './negotiation.ts';
import { type Admission, overloadError } from './overload.ts';
import { readParameters } from './parameters.ts';
import { BASE_PATH, type Query } from './request-target.ts';
import type { Responder } from './responder.ts';
import type { ApiSettings } from './settings.ts';

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
export async function takeReading(ledger: LedgerReader): Promise<Reading> {
  try {
    return { view: await ledger.view() };
  } catch (failure) {
    return { failure };
  }
}

/** Registers the routes of an endpoint. */
export function registerEndpoint(
  app: FastifyInstance,
  endpoint: AnyEndpoint,
  context: ApiContext,
): void {
  const { admission, responder } = context;
  // A body was let in before it was received.
  const work = endpoint.method === 'POST' ? 'none' : (endpoint.work ?? 'read');
  for (const url of routeUrls(endpoint.path)) {
    app.route({
      method: endpoint.method === 'GET' ? ['GET', 'HEAD'] : [endpoint.method],
      url,
      handler: (request, reply) => {
        request.operationId = endpoint.operationId;
        if (work === 'none' || admission.admits(work)) {
          return handle(endpoint, request, reply, context);
        }
        responder.sendRefusal(reply, overloadError(work));
        return undefined;
      },
    });
  }
}

/** The router's patterns for a path; the index answers under both of its spellings. */
function routeUrls(path: string): string[] {
  if (path === '/') return [BASE_PATH, `${BASE_PATH}/`];
  return [BASE_PATH + path.replaceAll(/\{(\w+)\}/g, ':$1')];
}

async function handle(
  endpoint: AnyEndpoint,
  request: FastifyRequest,
  reply: FastifyReply,
  context: ApiContext,
): Promise<void> {
  const reading = await takeReading(context.ledger);
  try {
    const format = chooseFormat(request.headers.accept);
    const answer = await answerOf(endpoint, request, format, reading, context.settings);
    const content = {
      ...answer,
      contentType: CONTENT_TYPES[format],
      tagged: endpoint.method === 'GET',
    };
    await context.responder.send(reply, content, reading.view?.state);
  } catch (error) {
    sendFailure(reply, error, reading, context);
  }
}

async function answerOf(
  endpoint: AnyEndpoint,
  request: FastifyRequest,
  format: Format,
  reading: Reading,
  settings: ApiSettings,
): Promise<Answer> {
  const path = request.params as Readonly<Record<string, string>>;
  // The router lets a last parameter be empty; the interface does not (spec/http.md §1.7).
  if (endpoint.path.endsWith('}') && Object.values(path).at(-1) === '') throw notFound();
  const query = request.query as unknown as Query;
  const parameters = readParameters(endpoint.parameters, { path, query });
  const body = endpoint.body?.read(request.bodyBytes ?? Buffer.alloc(0), request.headers);
  endpoint.checkSwitches(settings, format);
  if (reading.view === undefined) throw reading.failure;
  return endpoint.answer({ parameters, body, format, view: reading.view, settings });
}

/** No such route. */
export function notFound(): FrameworkError {
  return new FrameworkError(404, 'not found');
}

/** Sends any failure; one that nobody foresaw is logged and told to the client without its text. */
export function sendFailure(
  reply: FastifyReply,
  error: unknown,
  reading: Reading,
  context: ApiContext,
): void {
  if (reply.raw.headersSent) {
    context.logger.error({ err: error }, 'failed after the headers were sent');
    reply.raw.destroy();
    return;
  }
  const known = knownFailure(error);
  if (known === undefined) {
    const { method, url } = reply.request.raw;
    context.logger.error({ err: error, method, url }, 'request failed unexpectedly');
  } else if (known.status >= 500 && known.retryAfterSecs === undefined) {
    context.logger.warn({ err: error, code: known.code }, known.message);
  }
  context.responder.sendError(reply, known ?? unexpectedFailure(error), reading.view?.state);
}
