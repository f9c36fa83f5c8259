/**
 * An endpoint defines method, path, parameters, body, responses, failures and handler in one place.
 * src/api/http/request-handler.ts does what is the same for all endpoints.
 */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Cache } from '../../cache.ts';
import type { LedgerState, LedgerView } from '../../ledger/ledger-view.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import type { JsonValue } from '../../move/json/json-text.ts';
import type { YieldBudget } from '../../yield-budget.ts';
import { ApiError } from '../error-table.ts';
import type { WorkKind } from '../load/admission.ts';
import type { HeldBytes } from '../load/held-bytes.ts';
import type { Format } from '../negotiation.ts';
import type { StreamStart } from '../push/sources.ts';
import type { Schema } from '../schemas/json-schema.ts';
import type { ApiSettings } from '../settings.ts';
import type { SnapshotOffer } from '../snapshot-offer.ts';
import type { Submissions } from '../submissions.ts';
import type { Parameters, ParameterValues } from './parameters.ts';
import type { PendingTransactions } from './pending-transactions.ts';

export interface BatchRead {
  readonly target: string;
  readonly accept: string;
  readonly body: JsonValue | undefined;
  /** The version to read at if the query names none; absent: the view's. */
  readonly version: bigint | undefined;
}

export interface BatchAnswer {
  readonly status: number;
  readonly contentType: string;
  /** JSON text, or BCS if the content type says so. */
  readonly body: string | Uint8Array;
  readonly cursor?: string | undefined;
}

/** Calls the other endpoints, for an answer that is composed of theirs. */
export interface BatchReads {
  /** Answers a read at a call's view; errors are returned, not thrown. */
  answer(read: BatchRead, call: ReadCall): MaybePromise<BatchAnswer>;
  /** Whether answers come from another process or node, so that the next read can begin before they arrive. */
  isRemote(call: ReadCall): boolean;
  /** Counts the bytes of answers until they are sent. */
  readonly held: Pick<HeldBytes, 'hold' | 'grow' | 'release' | 'isFull'>;
}

export interface Call<P extends Parameters, B> {
  readonly parameters: ParameterValues<P>;
  /** The body, as the body reader returned it; undefined without one. */
  readonly body: B;
  readonly format: Format;
  readonly view: LedgerView;
  readonly settings: ApiSettings;
  /** For bodies that are the same at many views. */
  readonly bodies: Cache<Answer>;
  readonly headers: IncomingHttpHeaders;
  /** Absent if no transaction can be pending: without a chain and without an upstream. */
  readonly pending: PendingTransactions | undefined;
  /** Absent if this process has no chain. */
  readonly chain: Submissions | undefined;
  readonly snapshots: SnapshotOffer | undefined;
  readonly client: ServerResponse;
  /** The budget of this answer; its work ends when the client leaves. */
  readonly pace: YieldBudget;
  readonly batchReads: BatchReads;
}

/** The part of a call that all reads of a batch share. */
export type ReadCall = Pick<Call<Parameters, unknown>, 'view' | 'client'>;

export interface Answer {
  readonly status?: 202 | 206;
  /** JSON text, or the bytes to send, in the requested format. */
  readonly body: string | Uint8Array;
  /** The state of a newer view, if the answer was read from one. */
  readonly state?: LedgerState | undefined;
  /** Whether the answer never changes, because it is for a fixed version. */
  readonly isImmutable?: boolean | undefined;
  /** A text that determines the body among all answers to its URL; absent: the body's hash. */
  readonly tagCore?: string | undefined;
  /** Cursor of the next page; absent on the last page and for unpaginated responses. */
  readonly cursor?: string | undefined;
  /** Gas units that computing the answer used, or that the transaction would use. */
  readonly gasUsed?: string | undefined;
  /**
   * Whether the same body is sent repeatedly, so that its compressed forms are cached; `tagCore` is its hash then.
   */
  readonly isReused?: boolean | undefined;
}

/** Memory of an answer without its URL, its body and its tag, in bytes; measured. */
const ANSWER_OVERHEAD_BYTES = 100;

export function bytesOfAnswer({ body, tagCore, cursor }: Answer): number {
  return ANSWER_OVERHEAD_BYTES + body.length + (tagCore?.length ?? 0) + (cursor?.length ?? 0);
}

/** Reads a request body. This happens before `checkFormat` and before the ledger is read. */
export interface BodyReader<B> {
  readonly schema: Schema;
  /** Content type and description of its BCS form; absent: JSON only. */
  readonly bcs?: { readonly contentType: string; readonly description: string };
  /** Throws the failures of docs/spec/http.md §5.1 steps b to e. */
  read(bytes: Buffer, headers: IncomingHttpHeaders): B;
  /** Throws the remaining errors of the body. Called before a request is refused for a reason other than its body. */
  check?(body: B): void;
}

export type FailureStatus = 400 | 403 | 404 | 410 | 413 | 415 | 500 | 503 | 507;

type NoParameters = Readonly<Record<never, never>>;

/** `P` are the parameters that are checked before the body `B`, `L` those checked after it. */
export interface Endpoint<
  P extends Parameters = Parameters,
  B = unknown,
  L extends Parameters = NoParameters,
> {
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  /** Not in the reference's interface; the document marks it with `x-extension`. */
  readonly isExtension?: boolean;
  readonly method: 'GET' | 'POST';
  /** The kind of work that it counts as under load (admission.ts). Absent: `read`. `none` is never refused. */
  readonly work?: WorkKind | 'none';
  /** Whether a GET runs code; a POST is always assumed to. */
  readonly runsCode?: boolean;
  readonly path: string;
  readonly parameters: P;
  readonly laterParameters?: L;
  readonly body?: BodyReader<B>;
  /** Whether a batch refuses it: it is not a plain read, or it depends on the process or the clock. */
  readonly isNeverBatched?: boolean;
  /** Whether the upstream answers instead of this node, if there is one. */
  readonly isForwarded?: boolean;
  /** Its name in the refusal of JSON; only for an endpoint without a JSON form. */
  readonly operation?: string;
  /** Schema of the JSON response, and description of the BCS form; an absent form is never sent. */
  readonly results: {
    /** 200 when absent. */
    readonly status?: 202;
    readonly description: string;
    readonly json?: Schema;
    readonly bcs?: string;
  };
  readonly hasCursor?: boolean;
  /** Statuses that a failure of the operation can have. */
  readonly failures: readonly FailureStatus[];
  /**
   * Whether responses depend only on URL, format and view (and not on the clock, for example), so that they are cached.
   * With `whereFrozen`, they are cached only if the ledger never moves; a balance takes more than one read there.
   */
  readonly isDecidedByView?: boolean | 'whereFrozen';
  answer(call: Call<P & L, B>): MaybePromise<Answer>;
  /**
   * Answers a request for server-sent events, an extension; absent: it is answered like any other. Each record has the
   * form of `results.json`, or of an item in it.
   */
  stream?(call: Call<P & L, B>): MaybePromise<StreamStart>;
}

// biome-ignore lint/suspicious/noExplicitAny: endpoints take what their own parameters give
export type AnyEndpoint = Endpoint<any, any, any>;

type Defaults = 'method' | 'failures';
/** The argument of the functions below: members with defaults are optional. */
type Definition<P extends Parameters, B, L extends Parameters> = Omit<Endpoint<P, B, L>, Defaults> &
  Partial<Pick<Endpoint<P, B, L>, Defaults>>;

export function defineRead<P extends Parameters>(
  definition: Definition<P, undefined, NoParameters>,
): Endpoint<P, undefined> {
  return { method: 'GET', failures: [400, 403, 404, 410, 500, 503], ...definition };
}

/** An endpoint that takes a body: POST. */
export function defineSubmission<
  B,
  P extends Parameters = NoParameters,
  L extends Parameters = NoParameters,
>(definition: Definition<P, B, L>): Endpoint<P, B, L> {
  const failures: readonly FailureStatus[] = [400, 403, 413, 415, 500, 503];
  return { method: 'POST', failures, ...definition };
}

/** @throws ApiError 403 `api_disabled` for JSON if there is only BCS (docs/spec/http.md §5.10) */
export function checkFormat({ operation, results }: AnyEndpoint, format: Format): void {
  if (results.json !== undefined || format === 'bcs') return;
  throw disabled(`${operation} is not allowed. Only BCS is supported as an AcceptType.`);
}

export function disabled(message: string): ApiError {
  return new ApiError(403, 'api_disabled', message);
}
