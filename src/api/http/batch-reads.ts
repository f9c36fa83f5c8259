/**
 * Reads that are part of a batch. Each is answered at the batch's view and takes the path of a separate request,
 * without HTTP: route, admission, parameters, caches, failures.
 */
import { copiedText } from '../../cache.ts';
import { type MaybePromise, settle } from '../../maybe-promise.ts';
import { formatJson } from '../../move/json/json-text-print.ts';
import type {
  Answer,
  BatchAnswer,
  BatchRead,
  BatchReads,
  ReadCall,
} from '../endpoints/endpoint.ts';
import { ApiError, errorBody, errorContentType, frameworkError } from '../error-table.ts';
import { overloadError } from '../load/admission.ts';
import { CONTENT_TYPES, chooseFormat } from '../negotiation.ts';
import { Query } from '../request-target.ts';
import { ENDPOINTS_BY_ID, targetAt } from './endpoint-list.ts';
import { type ApiContext, cachedOrComputed, reportFailure } from './request-handler.ts';
import type { RouteTable } from './routes.ts';

const NO_BODY = Buffer.alloc(0);
const JSON_TYPE = 'application/json';
/** Targets that the HTTP parser accepts, except fragments, which clients do not send. */
const TARGET = /^\/[!"$-~]*$/;

export class RoutedReads implements BatchReads {
  readonly #match: RouteTable['match'];
  readonly #context: ApiContext;

  constructor(match: RouteTable['match'], context: Omit<ApiContext, 'batchReads'>) {
    this.#match = match;
    // Pending transactions of an upstream are not part of the view.
    this.#context = { ...context, pending: undefined, batchReads: this };
  }

  answer(read: BatchRead, call: ReadCall): MaybePromise<BatchAnswer> {
    return settle(
      () => this.#answer(read, call),
      (answer) => answer,
      (failure) => {
        const facts = { method: methodOf(read), url: read.target };
        const error = reportFailure(failure, facts, this.#context);
        const { status } = error;
        return { status, contentType: errorContentType(error), body: errorBody(error) };
      },
    );
  }

  get held(): BatchReads['held'] {
    return this.#context.admission.held;
  }

  isRemote({ view }: ReadCall): boolean {
    const { ledger } = this.#context;
    // A fork reads from its upstream.
    return view.isFrozen || (ledger.waitingReads?.() ?? 0) > 0;
  }

  /** @throws the errors of a separate request */
  #answer(read: BatchRead, { view, client }: ReadCall): MaybePromise<BatchAnswer> {
    const { admission, settings } = this.#context;
    const { accept } = read;
    const body = read.body === undefined ? undefined : Buffer.from(formatJson(read.body));
    checkTarget(read.target, settings.maxHeaderBytes);
    // A slice of the request's text, so a cached slice would retain the whole request.
    const target = copiedText(read.target);
    const method = methodOf(read);
    const { route, path, query: targetQuery } = this.#match(method, target);
    if (route.refusal !== undefined) throw route.refusal;
    const endpoint = ENDPOINTS_BY_ID.get(route.operationId);
    if (endpoint === undefined || endpoint.isNeverBatched === true) {
      throw new ApiError(400, 'invalid_input', 'This operation cannot be part of a batch');
    }
    const { version } = read;
    const url = version === undefined ? target : targetAt(version, endpoint, target, targetQuery);
    const query = url === target ? targetQuery : new Query(url.slice(url.indexOf('?') + 1));
    const work = method === 'POST' ? 'body' : (endpoint.work ?? 'read');
    if (work !== 'none') {
      if (!admission.admits(work, client.req)) throw overloadError(work);
    }
    const format = endpoint.results.bcs === undefined ? 'json' : chooseFormat(accept);
    const headers = body === undefined ? { accept } : { accept, 'content-type': JSON_TYPE };
    const waiter = admission.pending(client.req, method === 'POST' ? 'run' : 'listing');
    const part = { request: { url, headers }, response: client, path, query, waiter };
    const contentType = CONTENT_TYPES[format];
    return settle<Answer, BatchAnswer>(
      () => cachedOrComputed(endpoint, part, body ?? NO_BODY, format, { view }, this.#context),
      ({ body, cursor }) => {
        waiter.end();
        return { status: 200, contentType, body, cursor };
      },
      (failure) => {
        waiter.end();
        throw failure;
      },
    );
  }
}

function methodOf({ body }: BatchRead): 'GET' | 'POST' {
  return body === undefined ? 'GET' : 'POST';
}

/** @throws ApiError for targets that the HTTP parser refuses */
function checkTarget(target: string, maxBytes: number): void {
  if (target.length > maxBytes) throw frameworkError(431, 'request header fields too large');
  if (TARGET.test(target)) return;
  throw frameworkError(
    400,
    'bad request: a path begins with / and has only visible ASCII characters',
  );
}
