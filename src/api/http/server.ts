/**
 * The HTTP interface over `node:http`: limits and timeouts of connections, what the HTTP parser refuses, and closing.
 * It neither listens nor logs by itself; src/node does.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { LedgerReader } from '../../ledger/open.ts';
import { andThen, settle } from '../../maybe-promise.ts';
import { type AnyEndpoint, isStreaming } from '../endpoints/endpoint.ts';
import { ENDPOINTS } from '../endpoints/endpoint-list.ts';
import { snapshotFileRow } from '../endpoints/extensions/snapshots.ts';
import { ClientQuota } from '../load/client-quota.ts';
import { Admission } from '../load/overload.ts';
import { HeadWatch } from '../push/head-watch.ts';
import type { ListenerTally } from '../push/listener-tally.ts';
import { PushHub } from '../push/push-hub.ts';
import { answerWithStream } from '../push/push-route.ts';
import { documentRows } from '../schemas/openapi.ts';
import type { ApiSettings } from '../settings.ts';
import type { SnapshotOffer } from '../snapshot-offer.ts';
import { ApiCaches } from './caches.ts';
import { DamageWatch } from './damage-watch.ts';
import { type ApiError, frameworkError } from './error-table.ts';
import type { RequestObserver } from './observers.ts';
import { RoutedReads } from './other-reads.ts';
import { PacedWarning } from './paced-warning.ts';
import type { PageFile } from './page-files.ts';
import { passOn } from './pass-on.ts';
import { PendingTransactions } from './pending-transactions.ts';
import { BodyBudget, declaresTooMuch } from './request-body.ts';
import {
  type ApiContext,
  type ApiLogger,
  answerEndpoint,
  openView,
  RequestHandler,
} from './request-handler.ts';
import { BASE_PATH } from './request-target.ts';
import { Responder } from './responder.ts';
import { notFound, type Route, type RouteRow, RouteTable } from './routes.ts';
import type { Upstream } from './upstream.ts';
import { VersionWaiting } from './version-waiting.ts';

/** Maximum interval of checks for connections that exceed their timeout, in milliseconds. */
const MAX_TIMEOUT_CHECK_INTERVAL_MS = 5_000;
/** Methods that are refused where a file of the page is; of others the path knows nothing. */
const METHODS_REFUSED_BY_FILES = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Responses to requests that the HTTP parser rejects, by the parser's code. */
const UNPARSED_REQUESTS: ReadonlyMap<string, readonly [status: number, reason: string]> = new Map([
  ['HPE_HEADER_OVERFLOW', [431, 'Request Header Fields Too Large']],
  ['ERR_HTTP_REQUEST_TIMEOUT', [408, 'Request Timeout']],
]);
const BAD_REQUEST = [400, 'Bad Request'] as const;

/** Optional parts of an API besides the ledger. */
interface ApiWatch {
  /** Decides what is refused under load; given where that is counted. */
  readonly admission?: Admission | undefined;
  /** Gets requests that meet damage; given where they are counted. */
  readonly damage?: DamageWatch | undefined;
  readonly observers?: readonly RequestObserver[];
  /** Files of the page; absent: none is served. */
  readonly pageFiles?: readonly PageFile[];
  /** The node that does what this one cannot. */
  readonly upstream?: Upstream | undefined;
  /** Snapshots for other nodes; absent: none is offered. */
  readonly snapshots?: SnapshotOffer | undefined;
}

export interface Api {
  /** Ready for `listen`. */
  readonly server: Server;
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** What event streams come to. */
  readonly listeners: ListenerTally;
  /**
   * Stops accepting and resolves when every connection has ended; idle ones and event streams end at once, and what
   * runs code does so at its next turn.
   */
  close(): Promise<void>;
}

/**
 * The interface over a ledger.
 * @param logger gets unexpected failures and those of the ledger
 */
export function buildApi(
  ledger: LedgerReader,
  settings: ApiSettings,
  logger: ApiLogger,
  {
    admission = new Admission(settings, () => ledger.waitingReads?.() ?? 0),
    damage = damageWatch(logger),
    observers = [],
    pageFiles = [],
    upstream,
    snapshots,
  }: ApiWatch = {},
): Api {
  const caches = new ApiCaches();
  const quota = settings.maxClientRequests === 0 ? undefined : new ClientQuota(settings);
  const responder = new Responder(settings, admission, caches, quota);
  const pending = upstream && new PendingTransactions(ledger, upstream);
  const base = {
    ledger,
    settings,
    logger,
    outage: new PacedWarning((facts) => logger.warn(facts, 'the ledger cannot be read')),
    damage,
    admission,
    quota,
    caches,
    responder,
    upstream,
    pending,
    snapshots,
  };
  const others = new RoutedReads((method, target) => routes.match(method, target), base);
  const context: ApiContext = { ...base, others };
  const heads = new HeadWatch(ledger);
  const hub = new PushHub({ ...context, heads });
  const rows = [
    ...ENDPOINTS.flatMap((endpoint) => endpointRows(endpoint, context, hub)),
    ...documentRows(ENDPOINTS, context),
    ...pageFiles.map((file) => fileRow(file, responder)),
    ...(snapshots === undefined ? [] : [snapshotFileRow(snapshots, responder)]),
  ];
  const routes = new RouteTable(rows, preflightRoute(context));
  const parts = {
    routes,
    waiting: new VersionWaiting(ledger, heads, settings),
    bodyBudget: new BodyBudget(settings),
    observers,
  };
  const handler = new RequestHandler(parts, context);
  const handle = handler.handle.bind(handler);
  const server = limitedServer(settings);
  server.on('request', handle);
  answerOtherEvents(server, handler, hub, context);
  return {
    server,
    handle,
    listeners: hub.tally,
    close: async () => {
      handler.close();
      admission.unsent.stop();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await hub.close();
      await closed;
    },
  };
}

export function damageWatch(logger: ApiLogger): DamageWatch {
  const message = 'a request met damage of the store: run daybook verify';
  return new DamageWatch((facts) => logger.error(facts, message));
}

/** The rows of an endpoint; the index answers under both of its spellings. */
function endpointRows(endpoint: AnyEndpoint, context: ApiContext, hub: PushHub): RouteRow[] {
  const { operationId, method, path, work = 'read' } = endpoint;
  const upstream = endpoint.isPassedOn === true ? context.upstream : undefined;
  const stream: Route | undefined = isStreaming(endpoint)
    ? {
        operationId: `${operationId}_stream`,
        work: 'listing',
        answer: (exchange, body) => answerWithStream(endpoint, exchange, body, context, hub),
      }
    : undefined;
  const route: Route = {
    operationId,
    stream,
    // A body was admitted before it was received.
    work: method === 'POST' ? 'none' : work,
    answer: (exchange, body) =>
      upstream === undefined
        ? answerEndpoint(endpoint, exchange, body, context)
        : passOn(endpoint, exchange, body, upstream, context),
  };
  const paths = path === '/' ? [BASE_PATH, `${BASE_PATH}/`] : [BASE_PATH + path];
  return paths.map((path) => ({ path, method, route }));
}

function fileRow(file: PageFile, responder: Responder): RouteRow {
  const route: Route = {
    operationId: '',
    work: 'none',
    answer: ({ response }) => responder.sendFile(response, file),
  };
  return { path: file.path, method: 'GET', route, refusedMethods: METHODS_REFUSED_BY_FILES };
}

function preflightRoute({ ledger, responder }: ApiContext): Route {
  return {
    operationId: '',
    work: 'none',
    answer: ({ response }) =>
      andThen(openView(ledger), ({ view }) => responder.sendPreflight(response, view?.state)),
  };
}

function limitedServer(settings: ApiSettings): Server {
  const { headersTimeoutMs, requestTimeoutMs } = settings;
  const server = createServer({
    maxHeaderSize: settings.maxHeaderBytes,
    connectionsCheckingInterval: Math.min(headersTimeoutMs, MAX_TIMEOUT_CHECK_INTERVAL_MS),
    // The reference's server does not ask for a Host header.
    requireHostHeader: false,
  });
  // Set here: as options they would have to be in a certain order.
  server.headersTimeout = headersTimeoutMs;
  server.requestTimeout = requestTimeoutMs;
  server.keepAliveTimeout = settings.keepAliveTimeoutMs;
  // Not `setTimeout`, which costs every request a timer: `handle` sets one where an answer waits.
  return server;
}

/** Handles requests that Node itself would answer without the error body, or not at all. */
function answerOtherEvents(
  server: Server,
  handler: RequestHandler,
  hub: PushHub,
  context: ApiContext,
): void {
  const refused = new WeakSet<Duplex>();
  /** @param begin comes before the refusal is written, behind the answers */
  const refuse = (socket: Duplex, error: ApiError, reason: string, begin = () => {}): void => {
    // While the refusal waits, each further byte would be refused too.
    if (refused.has(socket)) return;
    refused.add(socket);
    // A stream would not end, and nothing behind it is read any more.
    hub.refuse(socket, error);
    handler.afterAnswers(socket, () => {
      begin();
      refuseConnection(socket, error, reason, context);
    });
  };
  const { contentLengthLimitBytes, requestTimeoutMs } = context.settings;
  const asUsual = (request: IncomingMessage, response: ServerResponse): void => {
    server.emit('request', request, response);
  };
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    // A body that is refused anyway need not be sent; then the connection cannot be used again.
    if (declaresTooMuch(request, contentLengthLimitBytes)) response.shouldKeepAlive = false;
    // Behind other requests, Node would write it between the head and the body of the answer.
    else if (response.socket !== null) response.writeContinue();
    asUsual(request, response);
  });
  // An unknown expectation is ignored, as the reference's server does.
  server.on('checkExpectation', asUsual);
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    // The server no longer manages the connection, and nobody reads it.
    socket.on('error', () => socket.destroy()).once('finish', () => socket.destroy());
    socket.resume();
    refuse(socket, notFound(), 'Not Found', () => {
      socket.setTimeout(requestTimeoutMs, () => socket.destroy());
    });
  });
  server.on('clientError', (error: Error & { readonly code?: string }, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const [status, reason] = UNPARSED_REQUESTS.get(error.code ?? '') ?? BAD_REQUEST;
    refuse(socket, frameworkError(status, reason.toLowerCase()), reason);
  });
}

/** Writes a refusal to a connection that has no response, and ends it. */
function refuseConnection(
  socket: Duplex,
  error: ApiError,
  reason: string,
  { ledger, responder }: ApiContext,
): void {
  void settle(
    () => openView(ledger),
    ({ view }) => {
      if (socket.writable) socket.end(responder.rawError(error, reason, view?.state));
    },
    () => {
      socket.destroy();
    },
  );
}
