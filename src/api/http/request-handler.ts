/**
 * The path of every request from its head to its answer. `handle` finds the route, waits for a version if required,
 * receives the body of a POST and admits the request. `answerEndpoint` opens a view of the ledger, negotiates the
 * format and sends the cached answer or computes one. The order of checks is that of docs/spec/http.md §5.1.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Cache } from '../../cache.ts';
import type { LedgerView } from '../../ledger/ledger-view.ts';
import type { LedgerReader } from '../../ledger/open.ts';
import { andThen, type MaybePromise, prefetch, settle } from '../../maybe-promise.ts';
import { DamagedError, LedgerError, type LedgerErrorCode } from '../../state/ledger-error.ts';
import { type Waiter, YieldBudget } from '../../yield-budget.ts';
import {
  type Answer,
  type AnyEndpoint,
  type BatchReads,
  type Call,
  checkFormat,
} from '../endpoints/endpoint.ts';
import {
  type Parameters,
  readParameters,
  refuseUnknown,
  type VersionTime,
} from '../endpoints/parameters.ts';
import type { PendingTransactions } from '../endpoints/pending-transactions.ts';
import { ApiError, knownFailure } from '../error-table.ts';
import { type Admission, isOverload, overloadError, type WorkKind } from '../load/admission.ts';
import { CONTENT_TYPES, chooseFormat, type Format } from '../negotiation.ts';
import type { DamageWatch, RateLimitedWarning } from '../rate-limited-warning.ts';
import type { ApiSettings } from '../settings.ts';
import type { SnapshotOffer } from '../snapshot-offer.ts';
import type { Submissions } from '../submissions.ts';
import type { Upstream } from '../upstream.ts';
import type { ApiCaches } from './caches.ts';
import { observe, type RequestObserver } from './observers.ts';
import { readBody } from './request-body.ts';
import type { Responder } from './responder.ts';
import type { Exchange, RouteTable } from './routes.ts';
import type { VersionWaiting } from './version-waiting.ts';

/** Logs unexpected failures; a pino logger implements it. */
export interface ApiLogger {
  error(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

export interface ApiContext {
  readonly ledger: LedgerReader;
  readonly settings: ApiSettings;
  readonly logger: ApiLogger;
  /** Warns that the ledger cannot be read, which makes every request fail. */
  readonly outage: RateLimitedWarning;
  readonly damage: DamageWatch;
  readonly admission: Admission;
  readonly caches: ApiCaches;
  readonly responder: Responder;
  readonly upstream: Upstream | undefined;
  readonly pending: PendingTransactions | undefined;
  readonly chain: Submissions | undefined;
  readonly snapshots: SnapshotOffer | undefined;
  readonly batchReads: BatchReads;
}

/** The request that an answer is computed for. A read in a batch has the batch's response. */
interface ReadRequest extends Pick<Exchange, 'path' | 'query'> {
  readonly request: Pick<IncomingMessage, 'url' | 'headers'>;
  readonly response: ServerResponse;
  /** Absent for streams, which are not computed in one piece. */
  readonly waiter?: Waiter;
}

interface HandlerParts {
  readonly routes: RouteTable;
  readonly waiting: VersionWaiting;
  readonly observers: readonly RequestObserver[];
}

/** A view of the ledger, or the error from opening one. Headers of answers and of errors come from this view. */
type OpenedView =
  | { readonly view: LedgerView }
  | { readonly view?: undefined; readonly failure: unknown };

const NO_BODY = Buffer.alloc(0);

/** Failures that many requests share, so they are not logged individually. */
const OUTAGE_CODES: readonly LedgerErrorCode[] = ['ledger_unavailable', 'fork_upstream_failed'];

export class RequestHandler {
  readonly #parts: HandlerParts;
  readonly #context: ApiContext;
  /** The response to each connection's newest request, until it is finished. */
  readonly #newest = new WeakMap<Duplex, ServerResponse>();
  /** Each connection's last pending page. Pages of a connection are computed one at a time. */
  readonly #pages = new WeakMap<Duplex, MaybePromise<void>>();
  #isClosing = false;

  constructor(parts: HandlerParts, context: ApiContext) {
    this.#parts = parts;
    this.#context = context;
    context.responder.onWritten = (response) => this.#watch(response);
  }

  /** From now on, answers tell clients that their connection will close. */
  close(): void {
    this.#isClosing = true;
  }

  /** Answers a request; never throws. If nothing has to wait, the answer is written in this turn of the event loop. */
  handle(request: IncomingMessage, response: ServerResponse): void {
    const startedMs = performance.now();
    this.#newest.set(request.socket, response);
    // The parser delivers a body after this handler returns. A body that came with the head is available in the next
    // tick.
    if (request.method === 'POST')
      process.nextTick(() => this.#answer(request, response, startedMs));
    else this.#answer(request, response, startedMs);
  }

  /**
   * Calls back when a connection's answers are written, so that a refusal of later bytes follows them. If these bytes
   * belong to the newest request's body, the refusal replaces its answer. A client that half-closes its connection
   * meanwhile gets nothing, as with Node's own server.
   */
  afterAnswers(socket: Duplex, callback: () => void): void {
    this.#context.responder.flush();
    const newest = this.#newest.get(socket);
    const isUnfinished = newest?.req.complete === false;
    const isDone = newest === undefined || newest.writableFinished || newest.destroyed;
    if (isDone || (isUnfinished && newest.socket !== null)) {
      callback();
      return;
    }
    if (socket.readableEnded) socket.destroy();
    socket.once('end', () => socket.destroy());
    newest.once(isUnfinished ? 'socket' : 'close', callback);
  }

  #answer(request: IncomingMessage, response: ServerResponse, startedMs: number): void {
    const { routes, observers } = this.#parts;
    if (this.#isClosing) response.setHeader('Connection', 'close');
    const exchange = routes.find(request, response);
    void settle(
      () => this.#answerInOrder(exchange),
      () => undefined,
      (failure) => failWithoutView(exchange, failure, this.#context),
    );
    if (!this.#context.responder.isWaiting(response)) this.#watch(response);
    observe(observers, exchange, startedMs);
  }

  /** Watches a response, with a timeout, until the operating system has taken it. */
  #watch(response: ServerResponse): void {
    const { socket } = response.req;
    if (response.writableFinished) {
      this.#forget(socket, response);
      return;
    }
    if (response.listenerCount('timeout') > 0) return;
    response.once('close', () => this.#forget(socket, response));
    // Node resets this timeout with the next request.
    socket.setTimeout(this.#context.settings.requestTimeoutMs);
    response.on('timeout', endUnread);
  }

  /** A connection may be idle for long and must not retain its last request. */
  #forget(socket: Socket, response: ServerResponse): void {
    if (this.#newest.get(socket) === response) this.#newest.delete(socket);
  }

  /** Waits for the version that a request must see. A 404 or 405 does not wait. */
  #waitForVersion({ request, response, route }: Exchange): MaybePromise<void> {
    const { waiting } = this.#parts;
    const version = waiting.minVersionOf(request.headers);
    if (version === undefined || route.ignoresVersion === true) return undefined;
    return waiting.waitFor(version, response);
  }

  /**
   * Computes the pages of a connection one at a time: they are sent in order anyway, and so a connection holds only one
   * in memory. A page is queued before it waits for a version. Otherwise a later stream could be queued before it, and
   * both would wait forever: the stream for the socket, the page for the stream.
   * @throws ApiError 503 if too many wait
   */
  #answerInOrder(exchange: Exchange): MaybePromise<void> {
    const { request, response, route } = exchange;
    const wait = (): MaybePromise<void> => this.#waitForVersion(exchange);
    const answer = (): MaybePromise<void> => this.#receiveAndAnswer(exchange);
    if (route.work !== 'listing') return andThen(wait(), answer);
    const { socket } = request;
    const before = this.#pages.get(socket);
    const release = before && this.#context.admission.holdWaiting(request);
    const versionReached = prefetch(before, wait);
    const completion = andThen(before, () => {
      release?.();
      return andThen(versionReached(), answer);
    });
    if (response.headersSent) return completion;
    const ignore = (): void => undefined;
    const finished = settle(() => completion, ignore, ignore);
    this.#pages.set(socket, finished);
    void andThen(finished, () => {
      if (this.#pages.get(socket) === finished) this.#pages.delete(socket);
    });
    return completion;
  }

  /** Receives a body even if there is no route: a body that is too large is refused everywhere. */
  #receiveAndAnswer(exchange: Exchange): MaybePromise<void> {
    if (exchange.request.method !== 'POST') return this.#answerAdmitted(exchange, NO_BODY);
    if (this.#refuseIfOverloaded(exchange, 'body')) return undefined;
    const { settings, admission } = this.#context;
    const received = readBody(exchange.request, settings, admission);
    return andThen(received, (body) => this.#answerAdmitted(exchange, body));
  }

  #answerAdmitted(exchange: Exchange, body: Buffer): MaybePromise<void> {
    const { route } = exchange;
    return this.#refuseIfOverloaded(exchange, route.work)
      ? undefined
      : route.answer(exchange, body);
  }

  /** Refuses a request in overload. It does not throw: V8's stack capture would be a tenth of a refusal's cost. */
  #refuseIfOverloaded({ request, response }: Exchange, work: WorkKind | 'none'): boolean {
    const { admission, responder } = this.#context;
    if (work === 'none' || admission.admits(work, request)) return false;
    responder.sendRefusal(response, overloadError(work));
    return true;
  }
}

/** Closes the connection of a client that stops reading. A client whose answer is not computed yet keeps waiting. */
function endUnread(socket: Socket): void {
  if (socket.writableLength > 0) socket.destroy();
}

export function answerEndpoint(
  endpoint: AnyEndpoint,
  exchange: Exchange,
  body: Buffer,
  context: ApiContext,
): MaybePromise<void> {
  return andThen(openView(context.ledger), (opened) => {
    const { request, response, path, query } = exchange;
    const waiter = context.admission.pending(
      request,
      endpoint.method === 'POST' || endpoint.runsCode === true ? 'run' : 'listing',
    );
    const read = { request, response, path, query, waiter };
    const format =
      endpoint.results.bcs === undefined ? 'json' : chooseFormat(request.headers.accept);
    const send = (answer: Answer): MaybePromise<void> => {
      const isTagged = endpoint.method === 'GET';
      const finalAnswer = asOverridden(answer, opened.view);
      const content = { answer: finalAnswer, contentType: CONTENT_TYPES[format], isTagged };
      const state = answer.state ?? opened.view?.headerState;
      return context.responder.send(response, content, state);
    };
    const sent = settle(
      () => andThen(cachedOrComputed(endpoint, read, body, format, opened, context), send),
      () => undefined,
      (failure) => sendFailure(exchange, failure, opened, context),
    );
    return andThen(sent, () => waiter.end());
  });
}

/**
 * Answers from a ledger that can be overridden are not immutable. An answer that read an override is tagged by its
 * bytes, because `tagCore` belongs to the answer without the override.
 */
function asOverridden(answer: Answer, view: LedgerView | undefined): Answer {
  const { overrides } = view ?? {};
  if (overrides === undefined) return answer;
  if (!overrides.areOverridden) return { ...answer, isImmutable: false };
  return { ...answer, isImmutable: false, tagCore: undefined, isReused: false };
}

/** Opens a view without throwing: the failure is reported later, after the request's own errors. */
export function openView(ledger: LedgerReader): MaybePromise<OpenedView> {
  return settle<LedgerView, OpenedView>(() => ledger.view(), viewOpened, viewFailed);
}

const viewOpened = (view: LedgerView): OpenedView => ({ view });
const viewFailed = (failure: unknown): OpenedView => ({ failure });

/** Returns the view's cached answer or computes one. Caches a new one that the view decides if its URL is repeated. */
export function cachedOrComputed(
  endpoint: AnyEndpoint,
  read: ReadRequest,
  body: Buffer,
  format: Format,
  opened: OpenedView,
  context: ApiContext,
): MaybePromise<Answer> {
  const { view } = opened;
  const isCached =
    endpoint.isDecidedByView === 'whereFrozen' ? view?.isFrozen : endpoint.isDecidedByView;
  if (isCached !== true || view === undefined) {
    return makeAnswer(endpoint, read, body, format, opened, context);
  }
  const { answers } = context.caches;
  const url = read.request.url!;
  return (
    answers.find(view, format, url) ??
    andThen(makeAnswer(endpoint, read, body, format, opened, context), (computed) =>
      answers.wasRequestedBefore(url) ? answers.add(view, format, url, computed) : computed,
    )
  );
}

function makeAnswer(
  endpoint: AnyEndpoint,
  read: ReadRequest,
  bytes: Buffer,
  format: Format,
  opened: OpenedView,
  context: ApiContext,
): MaybePromise<Answer> {
  const timeParameters: string[] = [];
  const call = callOf(endpoint, read, bytes, format, opened, context, timeParameters);
  return timeParameters.length === 0
    ? endpoint.answer(call)
    : answerByTime(endpoint, call, timeParameters);
}

/**
 * Reads and checks an endpoint's input, in the order of the interface's checks.
 * @param timeParameters collects the names of parameters that give a time instead of a version
 */
export function callOf(
  endpoint: AnyEndpoint,
  { request, response: client, path, query, waiter }: ReadRequest,
  bytes: Buffer,
  format: Format,
  opened: OpenedView,
  { settings, caches, pending, chain, snapshots, batchReads }: ApiContext,
  timeParameters: string[] = [],
): Call<Parameters, unknown> {
  const { laterParameters } = endpoint;
  let parameters = readParameters(endpoint.parameters, { path, query }, timeParameters);
  if (endpoint.isExtension === true) {
    refuseUnknown(query, { ...endpoint.parameters, ...laterParameters });
  }
  const body = endpoint.body?.read(bytes, request.headers);
  if (laterParameters !== undefined) {
    parameters = {
      ...parameters,
      ...readParameters(laterParameters, { path, query }, timeParameters),
    };
  }
  try {
    checkFormat(endpoint, format);
    if (opened.view === undefined) throw opened.failure;
  } catch (refusal) {
    endpoint.body?.check?.(body);
    throw refusal;
  }
  const { view } = opened;
  const bodies = view.overrides === undefined ? caches.bodies : new Cache<Answer>('bodies');
  const { headers } = request;
  const pace = endpoint.work === 'listing' ? YieldBudget.ofPage(waiter) : new YieldBudget(waiter);
  // biome-ignore format: a second spread costs as much as a small answer
  return {
    parameters, body, format, view, settings, bodies, headers, pending, chain, snapshots, client,
    batchReads, pace,
  };
}

/** Answers a request that gives times instead of versions. It is immutable only if all their versions are final. */
async function answerByTime(
  endpoint: AnyEndpoint,
  call: Call<Parameters, unknown>,
  timeParameters: readonly string[],
): Promise<Answer> {
  const parameters: Record<string, unknown> = { ...call.parameters };
  let isFinal = true;
  for (const name of timeParameters) {
    const found = await call.view.versionAtTime((parameters[name] as VersionTime).usecs);
    parameters[name] = found.version;
    isFinal &&= found.isFinal;
  }
  const answer = await endpoint.answer({ ...call, parameters });
  return isFinal ? answer : { ...answer, isImmutable: false };
}

/**
 * Sends a failure that occurred before a view was opened, with headers of the ledger's current state. An overload
 * refusal does not read the ledger.
 */
function failWithoutView(
  exchange: Exchange,
  failure: unknown,
  context: ApiContext,
): MaybePromise<void> {
  if (isOverload(failure)) {
    context.responder.sendRefusal(exchange.response, failure as ApiError);
    return undefined;
  }
  return andThen(openView(context.ledger), (opened) =>
    sendFailure(exchange, failure, opened, context),
  );
}

/** Sends any failure; the text of an unexpected one goes to the log, not to the client. */
export function sendFailure(
  { request, response }: Exchange,
  failure: unknown,
  { view }: OpenedView,
  context: ApiContext,
): void {
  if (response.headersSent) {
    context.logger.error({ err: failure }, 'failed after the headers were sent');
    response.destroy();
    return;
  }
  const { method, url } = request;
  const error = reportFailure(failure, { method, url }, context);
  context.responder.sendError(response, error, view?.headerState);
}

/** Returns the error that a client gets for a failure, and logs what the operator has to know. */
export function reportFailure(
  failure: unknown,
  request: { readonly method: string | undefined; readonly url: string | undefined },
  { logger, outage, damage }: Pick<ApiContext, 'logger' | 'outage' | 'damage'>,
): ApiError {
  const known = knownFailure(failure);
  if (known === undefined) {
    logger.error({ err: failure, ...request }, 'request failed unexpectedly');
  } else if (known.cause instanceof DamagedError) {
    damage.record(known.cause, request.method, request.url);
  } else if (known.status >= 500 && known.retryAfterSecs === undefined) {
    logger.warn({ err: failure, code: known.code }, known.message);
  } else if (known.cause instanceof LedgerError && OUTAGE_CODES.includes(known.cause.code)) {
    outage.warn({ err: known.cause });
  }
  // docs/spec/decisions.md D7.
  return known ?? new ApiError(500, 'internal_error', 'internal error', { cause: failure });
}
