/** The OpenAPI 3.1 document, generated from the endpoints and their schemas, so it documents exactly what is served. */

import { andThen } from '../../maybe-promise.ts';
import { contentDigest } from '../../move/crypto/hash.ts';
import {
  type Answer,
  type AnyEndpoint,
  bytesOfAnswer,
  type FailureStatus,
} from '../endpoints/endpoint.ts';
import type { Parameters } from '../endpoints/parameters.ts';
import { BCS_MEDIA_TYPE, EVENT_STREAM_MEDIA_TYPE } from '../negotiation.ts';
import { BASE_PATH } from '../request-target.ts';
import { referenceTo, type Schema } from '../schemas/json-schema.ts';
import { ErrorSchema, U64Schema } from '../schemas/schemas.ts';
import type { ApiSettings } from '../settings.ts';
import {
  CURSOR_SUFFIX,
  GAS_USED_SUFFIX,
  LEDGER_HEADERS,
  UPSTREAM_SUFFIX,
} from './ledger-headers.ts';
import { type ApiContext, openView } from './request-handler.ts';
import type { HeaderList } from './response-writing.ts';
import type { Route, RouteRow } from './routes.ts';
import { MIN_VERSION_SUFFIX } from './version-waiting.ts';

/** A part of the document: plain JSON. */
type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type JsonObject = { readonly [key: string]: Json };

/** The reference's version of the API. */
const INTERFACE_VERSION = '1.2.0';

const FAILURE_DESCRIPTIONS: Readonly<Record<FailureStatus, string>> = {
  400: 'The request is not understood: a parameter, the body, or what they ask for.',
  403: 'The operation or the asked output is switched off on this node.',
  404: 'There is no such thing, or no such ledger version yet.',
  410: 'What is asked for was pruned.',
  413: 'The body is larger than the node takes.',
  415: 'The body is not sent as a content type that the operation takes.',
  500: 'The node failed.',
  503: 'The node has no ledger to answer from, or is behind.',
  507: 'Too many transactions wait for a block.',
};

const DESCRIPTION =
  'Reads a Move ledger and encodes transactions. Answers come as JSON or BCS by the Accept header; ' +
  'errors are JSON always. Every response carries the state of the ledger in its headers. An unknown ' +
  'path is answered with 404, a wrong method with 405, an oversized body with 413.';

/** Sent only with pages, and not with the last one. */
const CURSOR_HEADER: JsonObject = {
  description: 'Where the next page begins: to be given as `start`. Absent on the last page.',
  required: false,
  schema: { type: 'string' },
};

const EVENT_STREAM: JsonObject = {
  schema: {
    type: 'string',
    description:
      'Extension: server-sent events without end, first those there are, then each as it comes. The `data` of an ' +
      'event is one record, its `id` is for `Last-Event-ID`. An event `error` has an error body; the stream ends ' +
      'after it.',
  },
};

const LAST_EVENT_PARAMETER: JsonObject = {
  name: 'Last-Event-ID',
  in: 'header',
  description:
    'Extension, for server-sent events: the stream goes on after this one, whatever `start` says.',
  required: false,
  schema: { type: 'string' },
  example: '0',
};

/** Headers on answers of operations that may be passed on. */
function upstreamHeaders(prefix: string): JsonObject {
  return {
    [headerName(prefix, GAS_USED_SUFFIX)]: {
      description: 'Gas that the execution used, where the upstream tells.',
      required: false,
      schema: { type: 'integer', format: 'uint64', minimum: 0 },
    },
    [headerName(prefix, UPSTREAM_SUFFIX)]: {
      description: 'Extension: scheme, host and port of the node that answered; absent: this one.',
      required: false,
      schema: { type: 'string' },
    },
  };
}

class Components {
  readonly schemas = new Map<string, Json>();

  /** The schema in the document's form: a named one becomes a `$ref`. */
  use(schema: Schema): Json {
    const { $id: id, ...keywords } = schema as { $id?: string };
    if (id === undefined) return this.#inline(keywords);
    if (!this.schemas.has(id)) {
      this.schemas.set(id, null);
      this.schemas.set(id, this.#inline(keywords));
    }
    return { $ref: referenceTo(schema) };
  }

  #inline(keywords: Schema): Json {
    const members = Object.entries(keywords);
    return Object.fromEntries(members.map(([name, value]) => [name, this.#value(value)]));
  }

  #value(value: unknown): Json {
    if (Array.isArray(value)) return value.map((item) => this.#value(item));
    return typeof value === 'object' && value !== null
      ? this.use(value as Schema)
      : (value as Json);
  }
}

export function openApiDocument(
  endpoints: readonly AnyEndpoint[],
  settings: Pick<ApiSettings, 'headerPrefix'>,
): JsonObject {
  const components = new Components();
  const error = components.use(ErrorSchema);
  const paths = new Map<string, JsonObject>();
  for (const endpoint of endpoints) {
    const { path, method } = endpoint;
    const described = operation(endpoint, components, settings.headerPrefix);
    paths.set(path, { ...paths.get(path), [method.toLowerCase()]: described });
  }
  const failures = Object.entries(FAILURE_DESCRIPTIONS).map(([status, description]) => [
    `Error${status}`,
    {
      description,
      headers: headerReferences(settings.headerPrefix),
      content: { 'application/json': { schema: error } },
    },
  ]);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Daybook node API',
      version: INTERFACE_VERSION,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: BASE_PATH }],
    tags: [...new Set(endpoints.map(({ tag }) => tag))].map((name) => ({ name })),
    paths: Object.fromEntries(paths),
    components: {
      schemas: Object.fromEntries([...components.schemas].sort(([a], [b]) => (a < b ? -1 : 1))),
      responses: Object.fromEntries(failures),
      headers: headerObjects(settings.headerPrefix),
    },
  };
}

function operation(endpoint: AnyEndpoint, components: Components, headerPrefix: string): Json {
  const { results, body } = endpoint;
  const success = {
    description: results.description,
    headers: {
      ...headerReferences(headerPrefix),
      ...(endpoint.isForwarded && upstreamHeaders(headerPrefix)),
      ...(endpoint.hasCursor && { [headerName(headerPrefix, CURSOR_SUFFIX)]: CURSOR_HEADER }),
    },
    content: {
      ...(results.json && { 'application/json': { schema: components.use(results.json) } }),
      ...(endpoint.stream !== undefined && { [EVENT_STREAM_MEDIA_TYPE]: EVENT_STREAM }),
      ...(results.bcs !== undefined && {
        [BCS_MEDIA_TYPE]: {
          schema: { type: 'string', format: 'binary', description: results.bcs },
        },
      }),
    },
  };
  const notModified = {
    description: 'The client has this answer already (If-None-Match).',
    headers: headerReferences(headerPrefix),
  };
  const failures = endpoint.failures.map((status) => [
    String(status),
    { $ref: `#/components/responses/Error${status}` },
  ]);
  return {
    operationId: endpoint.operationId,
    tags: [endpoint.tag],
    summary: endpoint.summary,
    description: endpoint.description,
    ...(endpoint.isExtension && { 'x-extension': true }),
    parameters: [
      ...parameterObjects({ ...endpoint.parameters, ...endpoint.laterParameters }, components),
      minVersionParameter(headerPrefix, components),
      ...(endpoint.stream === undefined ? [] : [LAST_EVENT_PARAMETER]),
    ],
    ...(body && {
      requestBody: {
        required: true,
        content: {
          'application/json': { schema: components.use(body.schema) },
          ...(body.bcs && {
            [body.bcs.contentType]: {
              schema: { type: 'string', format: 'binary', description: body.bcs.description },
            },
          }),
        },
      },
    }),
    responses: {
      [results.status ?? 200]: success,
      ...(endpoint.method === 'GET' && { '304': notModified }),
      ...Object.fromEntries(failures),
    },
  };
}

const { $id: _id, examples: _examples, ...WITHOUT_EXAMPLES } = U64Schema;

function minVersionParameter(headerPrefix: string, components: Components): Json {
  return {
    name: headerName(headerPrefix, MIN_VERSION_SUFFIX),
    in: 'header',
    description: 'Extension: wait a bounded time for this version; 503 when it does not come.',
    required: false,
    // No example: the request would wait for a version that is not reached.
    schema: components.use(WITHOUT_EXAMPLES),
  };
}

function parameterObjects(parameters: Parameters, components: Components): readonly JsonObject[] {
  return Object.entries(parameters).map(([name, parameter]) => ({
    name,
    in: parameter.in,
    description: parameter.description,
    required: parameter.in === 'path' || parameter.isRequired === true,
    schema: components.use(parameter.type.schema),
    example: parameter.example ?? (parameter.type.schema['examples'] as readonly string[])[0]!,
  }));
}

function headerName(prefix: string, suffix: string): string {
  return `${prefix}-${suffix}`.toUpperCase();
}

function headerObjects(prefix: string): Json {
  return Object.fromEntries(
    LEDGER_HEADERS.map(({ suffix, description }) => {
      const format = suffix === 'CHAIN-ID' ? 'uint8' : 'uint64';
      const schema = { type: 'integer', format, minimum: 0 };
      return [headerName(prefix, suffix), { description, required: true, schema }];
    }),
  );
}

function headerReferences(prefix: string): JsonObject {
  return Object.fromEntries(
    LEDGER_HEADERS.map(({ suffix }) => {
      const name = headerName(prefix, suffix);
      return [name, { $ref: `#/components/headers/${name}` }];
    }),
  );
}

/** The rows of the document in both forms; each is generated on first request. */
export function documentRows(endpoints: readonly AnyEndpoint[], context: ApiContext): RouteRow[] {
  const document = (): object => openApiDocument(endpoints, context.settings);
  const disposition = ['content-disposition', 'inline; filename="spec.yaml"'];
  return [
    documentRow('spec.json', 'application/json', [], context, async () =>
      JSON.stringify(document()),
    ),
    documentRow('spec.yaml', 'application/x-yaml', disposition, context, async () => {
      // Loaded on demand: it takes longer than everything else that the node does before it can answer.
      const { stringify } = await import('yaml');
      return stringify(document());
    }),
  ];
}

function documentRow(
  name: string,
  contentType: string,
  extraHeaders: HeaderList,
  { ledger, responder, caches }: ApiContext,
  write: () => Promise<string>,
): RouteRow {
  const make = async (): Promise<Answer> => {
    const body = await write();
    return { body, tagCore: contentDigest(body), isReused: true };
  };
  const answer: Route['answer'] = async ({ response }) => {
    const found = await caches.bodies.getOrMake(name, make, bytesOfAnswer);
    const content = { answer: found, contentType, isTagged: true, extraHeaders };
    await andThen(openView(ledger), ({ view }) => responder.send(response, content, view?.state));
  };
  const route: Route = { operationId: '', work: 'none', answer };
  return { path: `${BASE_PATH}/${name}`, method: 'GET', route };
}
