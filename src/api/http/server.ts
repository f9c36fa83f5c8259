/**
 * The HTTP interface as a Fastify instance: limits, timeouts, the hooks before routing, routes and
 * failures. It neither listens nor logs by itself; src/node does.
 */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { LedgerReader } from '../../ledger/api-contract.ts';
import { ENDPOINTS } from '../endpoints/endpoint-list.ts';
import { DOCUMENT_PATHS, registerDocument } from '../schemas/openapi-routes.ts';
import type { ApiSettings } from '../settings.ts';
import { AnswerCache } from './answer-cache.ts';
import { DirectRoutes } from './direct-routes.ts';
import { type ApiError, FrameworkError } from './error-table.ts';
import { Admission, overloadError } from './overload.ts';
import {
  type ApiContext,
  type ApiLogger,
  notFound,
  registerEndpoint,
  sendFailure,
  takeReading,
} from './registration.ts';
import { declaresTooMuch, ReceivingRoom, readBody } from './request-body.ts';
import { observeRequests, type RequestObserver } from './request-observer.ts';
import {
  BASE_PATH,
  checkPathEncoding,
  PathTemplates,
  Query,
  routerTarget,
} from './request-target.ts';
import { Responder } from './responder.ts';
import { VersionWaiting } from './version-waiting.ts';

/** How often connections are looked through for those over their time, at most, in milliseconds. */
const MAX_TIMEOUT_CHECK_INTERVAL_MS = 5_000;

/** What a client gets whose request the HTTP parser refused, by the parser's code. */
const UNPARSED_REQUESTS: ReadonlyMap<string, readonly [status: number, reason: string]> = new Map([
  ['HPE_HEADER_OVERFLOW', [431, 'Request Header Fields Too Large']],
  ['ERR_HTTP_REQUEST_TIMEOUT', [408, 'Request Timeout']],
]);
const BAD_REQUEST = [400, 'Bad Request'] as const;

/** What watches an interface from outside. */
export interface ApiWatch {
  /** Decides what is refused under load; for those who count that. */
  readonly admission?: Admission | undefined;
  readonly observers?: readonly RequestObserver[];
}

/**
 * The interface over a ledger, ready for `listen` or `inject`.
 * @param logger gets unexpected failures and those of the ledger
 */
export function buildApi(
  ledger: LedgerReader,
  settings: ApiSettings,
  logger: ApiLogger,
  { admission = new Admission(settings), observers = [] }: ApiWatch = {},
): FastifyInstance {
  const responder = new Responder(settings, admission);
  const answers = new AnswerCache();
  const context: ApiContext = { ledger, settings, logger, responder, admission, answers };
  const app = createServer(context);
  const waiting = new VersionWaiting(ledger, settings);
  const room = new ReceivingRoom(settings);
  decorateRequests(app);
  observeRequests(app, observers);
  app.addHook('onRequest', (request, reply, done) => {
    const minVersion = waiting.askedBy(request.raw.headers);
    // Most requests are of this kind; the others may wait.
    if (
      minVersion === undefined &&
      request.raw.method === 'GET' &&
      !request.originalUrl.includes('%')
    ) {
      done();
      return;
    }
    const goOn = () => prepare(request, reply, context, room);
    const prepared =
      minVersion === undefined ? goOn() : waiting.waitFor(minVersion, reply.raw).then(goOn);
    prepared.then((goesOn) => goesOn && done(), done);
  });
  app.setErrorHandler(async (error, _request, reply) => {
    const reading = await takeReading(ledger);
    reply.hijack();
    sendFailure(reply.raw, error, reading, context);
  });
  const paths = [...ENDPOINTS.map(({ path }) => path), ...DOCUMENT_PATHS];
  const templates = new PathTemplates([BASE_PATH, ...paths.map((path) => BASE_PATH + path)]);
  app.setNotFoundHandler((request, reply) => {
    if (admission.admits('read')) throw unroutable(request, templates);
    reply.hijack();
    responder.sendRefusal(reply.raw, overloadError('read'));
  });
  for (const endpoint of ENDPOINTS) registerEndpoint(app, endpoint, context);
  registerDocument(app, ENDPOINTS, context);
  takeDirectly(app, new DirectRoutes(ENDPOINTS, { ...context, waiting, room, observers }));
  return app;
}

/** Puts the short way before the framework. */
function takeDirectly(app: FastifyInstance, direct: DirectRoutes): void {
  const [framework] = app.server.listeners('request') as RequestListener[];
  app.server.removeAllListeners('request');
  app.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (!direct.take(request, response)) framework!(request, response);
  });
  app.addHook('preClose', (done) => {
    direct.close();
    done();
  });
}

/**
 * What comes before routing: the body of a POST, preflights, the encoding of the path (docs/spec/http.md
 * §5.1).
 * @returns whether routing goes on; false when the request was answered
 */
async function prepare(
  request: FastifyRequest,
  reply: FastifyReply,
  { ledger, settings, responder, admission }: ApiContext,
  room: ReceivingRoom,
): Promise<boolean> {
  const { method, headers } = request.raw;
  if (method === 'POST') {
    if (!admission.admits('body')) {
      reply.hijack();
      responder.sendRefusal(reply.raw, overloadError('body'));
      return false;
    }
    request.bodyBytes = await readBody(request.raw, settings, room);
  }
  if (method === 'OPTIONS' && headers.origin !== undefined) {
    const reading = await takeReading(ledger);
    reply.hijack();
    responder.sendPreflight(reply.raw, headers.origin, reading.view?.state);
    return false;
  }
  checkPathEncoding(request.originalUrl);
  return true;
}

/** A known path with another method, or no path of the interface. */
function unroutable(request: FastifyRequest, paths: PathTemplates): FrameworkError {
  return paths.includes(request.originalUrl)
    ? new FrameworkError(405, 'method not allowed')
    : notFound();
}

function createServer(context: ApiContext): FastifyInstance {
  const { settings } = context;
  const app: FastifyInstance = Fastify({
    logger: false,
    // Schemas document and nothing else: the libraries that would compile them take a seventh of the start.
    schemaController: {
      compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler },
    },
    exposeHeadRoutes: false,
    // Requests that come while the node stops are answered like others, and their connection is
    // closed.
    return503OnClosing: false,
    rewriteUrl: (request) => routerTarget(request.url ?? '/'),
    routerOptions: {
      // No shorter than any path that the parser lets through.
      maxParamLength: settings.maxHeaderBytes,
      querystringParser: (text) => new Query(text) as unknown as Record<string, unknown>,
    },
    requestTimeout: settings.requestTimeoutMs,
    // A client that stops reading its answer is let go, too.
    connectionTimeout: settings.requestTimeoutMs,
    keepAliveTimeout: settings.keepAliveTimeoutMs,
    http: {
      maxHeaderSize: settings.maxHeaderBytes,
      headersTimeout: settings.headersTimeoutMs,
      connectionsCheckingInterval: Math.min(
        settings.headersTimeoutMs,
        MAX_TIMEOUT_CHECK_INTERVAL_MS,
      ),
      // The reference's server does not ask for a Host header.
      requireHostHeader: false,
    },
    clientErrorHandler: (error, socket) => {
      answerUnparsed(error, socket, context).catch(() => socket.destroy());
    },
  });
  takeOverFromNode(app.server, context);
  return app;
}

/** Stands where the framework would load compilers of schemas; no route has a schema. */
function noCompiler(): never {
  throw new Error('no route of this interface has a schema that the framework knows');
}

/** Answers what Node would otherwise answer without the error body, or not at all. */
function takeOverFromNode(server: Server, context: ApiContext): void {
  const { contentLengthLimitBytes } = context.settings;
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    // A body that is refused anyway need not be sent.
    if (!declaresTooMuch(request, contentLengthLimitBytes)) response.writeContinue();
    server.emit('request', request, response);
  });
  // An expectation that nobody knows is passed over, as the reference's server does.
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    server.emit('request', request, response);
  });
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    // From here on the server does not look after the connection.
    socket.on('error', () => socket.destroy()).once('finish', () => socket.destroy());
    refuseConnection(socket, notFound(), 'Not Found', context).catch(() => socket.destroy());
  });
}

/** Answers what the HTTP parser refused and closes the connection. */
async function answerUnparsed(
  error: Error & { readonly code?: string },
  socket: Socket,
  context: ApiContext,
): Promise<void> {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, reason] = UNPARSED_REQUESTS.get(error.code ?? '') ?? BAD_REQUEST;
  const refusal = new FrameworkError(status, reason.toLowerCase());
  await refuseConnection(socket, refusal, reason, context);
}

/** Writes a refusal to a connection that has no response, and ends it. */
async function refuseConnection(
  socket: Duplex,
  error: ApiError,
  reason: string,
  { ledger, responder }: ApiContext,
): Promise<void> {
  const reading = await takeReading(ledger);
  if (socket.writable) socket.end(responder.rawError(error, reason, reading.view?.state));
}

/**
 * Takes body parsing away from the framework: bodies of POST are read before routing, since one
 * that is too large is refused even on an unknown path (docs/spec/http.md §5.1); bodies of other methods
 * are not looked at.
 */
function decorateRequests(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  for (const method of app.supportedMethods) {
    app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  }
  app.decorateRequest('bodyBytes', null);
  app.decorateRequest('operationId', '');
}
