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

interface DocumentForm {
  readonly path: string;
  readonly contentType: string;
  readonly extraHeaders?: HeaderList;
  write(document: object): Promise<string>;
}

const FORMS: readonly DocumentForm[] = [
  {
    path: `${BASE_PATH}/spec.json`,
    contentType: 'application/json',
    write: async (document) => JSON.stringify(document),
  },
  {
    path: `${BASE_PATH}/spec.yaml`,
    contentType: 'application/x-yaml',
    extraHeaders: ['content-disposition', 'inline; filename="spec.yaml"'],
    async write(document) {
      // Loading the library takes longer than everything else that the node does before it can answer.
      const { stringify } = await import('yaml');
      return stringify(document);
    },
  },
];

/** The rows of the document in both forms; each is generated on first request. */
export function documentRows(endpoints: readonly AnyEndpoint[], context: ApiContext): RouteRow[] {
  const { ledger, settings, responder, caches } = context;
  return FORMS.map((form) => {
    const make = async (): Promise<Answer> => {
      const body = await form.write(openApiDocument(endpoints, settings));
      return { body, tagCore: contentDigest(body), isReused: true };
    };
    const { path, contentType, extraHeaders = [] } = form;
    const route: Route = {
      operationId: '',
      work: 'none',
      answer: async ({ response }) => {
        const answer = await caches.bodies.getOrMake(path, make, bytesOfAnswer);
        const content = { answer, contentType, isTagged: true, extraHeaders };
        await andThen(openView(ledger), ({ view }) =>
          responder.send(response, content, view?.state),
        );
      },
    };
    return { path, method: 'GET', route };
  });
}
