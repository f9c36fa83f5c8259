/** `GET /v1/spec.json` and `GET /v1/spec.yaml` (docs/spec/http.md §1.2). */
import { andThen } from '../../maybe-promise.ts';
import { contentDigest } from '../../move/crypto/hash.ts';
import type { Answer, AnyEndpoint } from '../endpoints/endpoint.ts';
import { bytesOfAnswer } from '../http/caches.ts';
import { type ApiContext, openView } from '../http/request-handler.ts';
import { BASE_PATH } from '../http/request-target.ts';
import type { HeaderList } from '../http/response-writing.ts';
import type { Route, RouteRow } from '../http/routes.ts';
import { openApiDocument } from './openapi.ts';

/** The rows of the document in both forms; each is generated on first request. */
export function documentRows(endpoints: readonly AnyEndpoint[], context: ApiContext): RouteRow[] {
  const document = (): object => openApiDocument(endpoints, context.settings);
  const disposition = ['content-disposition', 'inline; filename="spec.yaml"'];
  return [
    documentRow('spec.json', 'application/json', [], context, async () =>
      JSON.stringify(document()),
    ),
    documentRow('spec.yaml', 'application/x-yaml', disposition, context, async () => {
      // Loading the library takes longer than everything else that the node does before it can answer.
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
