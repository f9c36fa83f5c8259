/** `GET /v1/spec.json` and `GET /v1/spec.yaml` (docs/spec/http.md §1.2). */
import type { FastifyInstance } from 'fastify';
import type { AnyEndpoint } from '../endpoints/endpoint.ts';
import { type ApiContext, takeReading } from '../http/registration.ts';
import { BASE_PATH } from '../http/request-target.ts';
import type { Content } from '../http/responder.ts';
import { openApiDocument } from './openapi.ts';

const JSON_PATH = '/spec.json';
const YAML_PATH = '/spec.yaml';

/** Where the document lies, below `/v1`. */
export const DOCUMENT_PATHS: readonly string[] = [JSON_PATH, YAML_PATH];

/** Registers the document in both forms; each is made when it is first asked for. */
export function registerDocument(
  app: FastifyInstance,
  endpoints: readonly AnyEndpoint[],
  context: ApiContext,
): void {
  const document = () => openApiDocument(endpoints, context.settings);
  registerContent(app, JSON_PATH, context, async () => ({
    contentType: 'application/json',
    answer: { body: JSON.stringify(document()), compressed: new Map() },
    tagged: true,
  }));
  registerContent(app, YAML_PATH, context, async () => {
    // Loading the library takes longer than everything else that the node does before it can
    // answer.
    const { stringify } = await import('yaml');
    return {
      contentType: 'application/x-yaml',
      answer: { body: stringify(document()), compressed: new Map() },
      tagged: true,
      extraHeaders: ['content-disposition', 'inline; filename="spec.yaml"'],
    };
  });
}

function registerContent(
  app: FastifyInstance,
  path: string,
  { ledger, responder }: ApiContext,
  make: () => Promise<Content>,
): void {
  let content: Promise<Content> | undefined;
  app.route({
    method: ['GET', 'HEAD'],
    url: BASE_PATH + path,
    handler: async (_request, reply) => {
      content ??= make();
      const [ready, reading] = [await content, await takeReading(ledger)];
      reply.hijack();
      await responder.send(reply.raw, ready, reading.view?.state);
    },
  });
}
