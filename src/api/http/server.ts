/**
 * The HTTP interface over `node:http`: limits and timeouts of connections, refusals of the HTTP parser, and closing.
 * It neither listens nor logs by itself; src/node does.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { LedgerReader } from '../../ledger/open.ts';
import { settle } from '../../maybe-promise.ts';
import { PendingTransactions } from '../endpoints/pending-transactions.ts';
import { type ApiError, frameworkError } from '../error-table.ts';
import { Admission } from '../load/admission.ts';
import { HeadWatch } from '../push/head-watch.ts';
import type { ListenerTally } from '../push/listener.ts';
import { PushHub } from '../push/push-hub.ts';
import { DamageWatch, RateLimitedWarning } from '../rate-limited-warning.ts';
import type { ApiSettings } from '../settings.ts';
import type { SnapshotOffer } from '../snapshot-offer.ts';
import type { Submissions } from '../submissions.ts';
import type { Upstream } from '../upstream.ts';
import { RoutedReads } from './batch-reads.ts';
import { ApiCaches } from './caches.ts';
import { ENDPOINTS } from './endpoint-list.ts';
import { pageFileRows, snapshotFileRows } from './file-rows.ts';
import type { RequestObserver } from './observers.ts';
import { documentRows } from './openapi.ts';
import type { PageFile } from './page-files.ts';
import { declaredBodyBytes, exceedsDeclaredLimit } from './request-body.ts';
import { type ApiContext, type ApiLogger, openView, RequestHandler } from './request-handler.ts';
import { Responder } from './responder.ts';
import { endpointRows, preflightRoute } from './route-rows.ts';
import { notFound, RouteTable } from './routes.ts';
import { VersionWaiting } from './version-waiting.ts';

/** Maximum interval of checks for connections that exceed their timeout, in milliseconds. */
const MAX_TIMEOUT_CHECK_INTERVAL_MS = 5_000;
/** Responses to requests that the HTTP parser rejects, by the parser's code. */
const UNPARSED_REQUESTS: ReadonlyMap<string, readonly [status: number, reason: string]> = new Map([
  ['HPE_HEADER_OVERFLOW', [431, 'Request Header Fields Too Large']],
  ['ERR_HTTP_REQUEST_TIMEOUT', [408, 'Request Timeout']],
]);
const BAD_REQUEST = [400, 'Bad Request'] as const;

const SERVER_EVENTS = ['request', 'checkContinue', 'checkExpectation', 'connect', 'clientError'];

interface ApiHooks {
  /** Decides what is refused under load. The caller passes its own to read the counts. */
  readonly admission?: Admission | undefined;
  /** Records requests that meet damage. The caller passes its own to read the counts. */
  readonly damage?: DamageWatch | undefined;
  readonly observers?: readonly RequestObserver[];
  readonly pageFiles?: readonly PageFile[];
  readonly upstream?: Upstream | undefined;
  readonly chain?: Submissions | undefined;
  readonly snapshots?: SnapshotOffer | undefined;
  /** A server that another API used before; absent: a new one. */
  readonly server?: Server | undefined;
}

export interface Api {
  readonly server: Server;
  handle(request: IncomingMessage, response: ServerResponse): void;
  readonly listeners: ListenerTally;
  /** Detaches the server and ends event streams with this text. Requests that have begun are still answered. */
  retire(lastText: string): Promise<void>;
  /**
   * Stops accepting connections and resolves when all of them have ended. Idle connections and event streams end
   * immediately; runs of code end at their next turn.
   */
  close(): Promise<void>;
}

/** Builds the interface of a ledger. @param logger gets unexpected failures and those of the ledger */
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
    chain,
    snapshots,
    server = limitedServer(settings),
  }: ApiHooks = {},
): Api {
  const caches = new ApiCaches();
  const responder = new Responder(settings, admission, caches);
  const pendingSource = chain ?? upstream;
  const pending = pendingSource && new PendingTransactions(ledger, pendingSource);
  const base = {
    ledger,
    settings,
    logger,
    outage: new RateLimitedWarning((facts) => logger.warn(facts, 'the ledger cannot be read')),
    damage,
    admission,
    caches,
    responder,
    upstream,
    pending,
    chain,
    snapshots,
  };
  const batchReads = new RoutedReads((method, target) => routes.match(method, target), base);
  const context: ApiContext = { ...base, batchReads };
  const heads = new HeadWatch(ledger);
  const hub = new PushHub({ ...context, heads });
  const rows = [
    ...ENDPOINTS.flatMap((endpoint) => endpointRows(endpoint, context, hub)),
    ...documentRows(ENDPOINTS, context),
    ...pageFiles.flatMap((file) => pageFileRows(file, responder)),
    ...(snapshots === undefined ? [] : snapshotFileRows(snapshots, responder)),
  ];
  const routes = new RouteTable(rows, preflightRoute(context));
  const waiting = new VersionWaiting(ledger, heads, settings);
  const handler = new RequestHandler({ routes, waiting, observers }, context);
  const handle = handler.handle.bind(handler);
  server.on('request', handle);
  handleProtocolEvents(server, handler, hub, context);
  const endStreams = (lastText?: string) => {
    admission.held.stop();
    return hub.close(lastText);
  };
  return {
    server,
    handle,
    listeners: hub.tally,
    retire: (lastText) => {
      for (const event of SERVER_EVENTS) server.removeAllListeners(event);
      return endStreams(lastText);
    },
    close: async () => {
      handler.close();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await endStreams();
      await closed;
    },
  };
}

export function damageWatch(logger: ApiLogger): DamageWatch {
  const message = 'a request met damage of the store: run daybook verify';
  return new DamageWatch((facts) => logger.error(facts, message));
}

function limitedServer(settings: ApiSettings): Server {
  const { headersTimeoutMs, requestTimeoutMs } = settings;
  const server = createServer({
    maxHeaderSize: settings.maxHeaderBytes,
    connectionsCheckingInterval: Math.min(headersTimeoutMs, MAX_TIMEOUT_CHECK_INTERVAL_MS),
    // The reference's server does not ask for a Host header.
    requireHostHeader: false,
  });
  // Set here: as an option, Node would reject a headersTimeout above requestTimeout.
  server.headersTimeout = headersTimeoutMs;
  server.requestTimeout = requestTimeoutMs;
  server.keepAliveTimeout = settings.keepAliveTimeoutMs;
  // No `setTimeout`, which costs every request a timer: the handler sets one while an answer waits.
  return server;
}

/** Handles requests that Node itself would answer without the error body, or not at all. */
function handleProtocolEvents(
  server: Server,
  handler: RequestHandler,
  hub: PushHub,
  context: ApiContext,
): void {
  const refused = new WeakSet<Duplex>();
  /** @param begin runs after the answers and before the refusal is written */
  const refuse = (socket: Duplex, error: ApiError, reason: string, begin = () => {}): void => {
    // While the refusal waits, each further byte would cause another one.
    if (refused.has(socket)) return;
    refused.add(socket);
    // A stream would not end by itself, and nothing after it is read any more.
    hub.refuse(socket, error);
    handler.afterAnswers(socket, () => {
      begin();
      refuseConnection(socket, error, reason, context);
    });
  };
  const { contentLengthLimitBytes, requestTimeoutMs } = context.settings;
  const handleNormally = (request: IncomingMessage, response: ServerResponse): void => {
    server.emit('request', request, response);
  };
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    if (request.method !== 'POST') {
      // Nobody reads this body, so `100 Continue` is not sent. A body sent anyway would be read as the next request.
      if (declaredBodyBytes(request) > 0) response.shouldKeepAlive = false;
      // Node would close the connection after an answer without `100 Continue`, even if no body can follow.
      else (response as unknown as { _expect_continue: boolean })._expect_continue = false;
      handleNormally(request, response);
      return;
    }
    // Flush the answer before this one: it is finished by the next tick, if the system takes it.
    if (response.socket === null) context.responder.flush();
    process.nextTick(() => {
      // The client need not send a body that is refused anyway; the connection cannot be reused then.
      if (exceedsDeclaredLimit(request, contentLengthLimitBytes)) response.shouldKeepAlive = false;
      // Behind an unfinished answer, Node would write `100 Continue` between this answer's head and body.
      else if (response.socket !== null) response.writeContinue();
    });
    // The answer is computed in a later tick. A parser error after the request waits for it.
    handleNormally(request, response);
  });
  // An unknown expectation is ignored, as the reference's server does.
  server.on('checkExpectation', handleNormally);
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
