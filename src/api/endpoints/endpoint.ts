/**
 * What an endpoint is: method, path, parameters, body, results, statuses and the function that
 * answers, said in one place (src/api/endpoints/). registration.ts does the rest for all of them.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { KeptBody, LedgerView } from '../../ledger/api-contract.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import type { CompressedForms } from '../http/compression.ts';
import type { Format } from '../http/negotiation.ts';
import type { WorkKind } from '../http/overload.ts';
import type { TSchema } from '../schemas/json-schema.ts';
import type { ApiSettings } from '../settings.ts';
import type { Parameters, ParameterValues } from './parameters.ts';

/** What a handler may use. */
export interface Call<P extends Parameters, B> {
  readonly parameters: ParameterValues<P>;
  /** What the body reader made of the body; undefined where there is none. */
  readonly body: B;
  readonly format: Format;
  /** One reading of the ledger for the whole call. */
  readonly view: LedgerView;
  readonly settings: ApiSettings;
}

/** A successful answer. */
export interface Answer {
  /** JSON text, or the bytes to send, in the asked format. */
  readonly body: string | Uint8Array;
  /** Asked for at a version, so it never changes. */
  readonly pinned?: boolean | undefined;
  /** A text that determines the body among all answers to its URL; absent: the body's hash. */
  readonly tagCore?: string | undefined;
  /** Where the next page begins; absent on the last page and where there are no pages. */
  readonly cursor?: string | undefined;
  /** Where the same bytes can be had again, for a body that is kept outside of memory. */
  readonly kept?: KeptBody | undefined;
  /** Whether the body is lent by `kept`, so that it must be taken at once. */
  readonly isLent?: boolean;
  /** Where to keep compressed forms, for a body that is itself kept. */
  readonly compressed?: CompressedForms;
}

/** How a request body is read, before any switch is looked at and before the ledger is. */
export interface BodyReader<B> {
  readonly schema: TSchema;
  /** Throws the failures of docs/spec/http.md §5.1 steps b to e. */
  read(bytes: Buffer, headers: IncomingHttpHeaders): B;
  /**
   * What else is wrong with a body that is read: asked before a request is refused for what is no
   * fault of its body, so that the body's comes first.
   */
  check?(body: B): void;
}

/** What answers look like. */
export interface Results {
  readonly description: string;
  readonly json: TSchema;
  /** What the BCS form holds. */
  readonly bcs: string;
  /** Whether answers are pages that a cursor goes on from. */
  readonly hasCursor?: boolean;
}

/** Statuses of documented failures. */
export type FailureStatus = 400 | 403 | 404 | 410 | 413 | 415 | 500 | 503;

/** One endpoint. */
export interface Endpoint<P extends Parameters = Parameters, B = unknown> {
  /** Unique; snake_case. */
  readonly operationId: string;
  /** Heading in the documentation. */
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  /** Not in the reference's interface; the document marks it with `x-extension`. */
  readonly isExtension?: boolean;
  readonly method: 'GET' | 'POST';
  /** In which queue it stands under load (overload.ts): `read` when absent, `none` is never refused. */
  readonly work?: WorkKind | 'none';
  /** Below `/v1`, parameters in braces. */
  readonly path: string;
  /** In the order in which they are checked. */
  readonly parameters: P;
  readonly body?: BodyReader<B>;
  /**
   * Looks at switches, after the request was read: those of the operation first, then those of the
   * output. Throws 403 `api_disabled`. `requireOutput` (output-switches.ts) is what most take.
   */
  checkSwitches(settings: ApiSettings, format: Format): void;
  readonly results: Results;
  /** Statuses that a failure of the operation can have. */
  readonly failures: readonly FailureStatus[];
  /** Whether answers depend on nothing but their URL, their format and the view: not on a clock, say. */
  readonly isDecidedByView?: boolean;
  answer(call: Call<P, B>): MaybePromise<Answer>;
}

/** An endpoint whatever its parameters and body are. */
// biome-ignore lint/suspicious/noExplicitAny: handlers take what their own parameters give
export type AnyEndpoint = Endpoint<any, any>;

/** Checks an endpoint's types where it is written. */
export function defineEndpoint<P extends Parameters, B = undefined>(
  endpoint: Endpoint<P, B>,
): Endpoint<P, B> {
  return endpoint;
}
