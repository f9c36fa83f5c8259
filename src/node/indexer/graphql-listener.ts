/** GraphQL over HTTP, at the path of Hasura (docs/indexer.md). */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { GraphqlFailure } from '../../indexer/graphql/failure.ts';
import { receivedBytes } from '../received-bytes.ts';
import { graphiqlFile } from './graphiql-files.ts';
import type { Indexing } from './indexing.ts';

const GRAPHQL_PATH = '/v1/graphql';
export const MAX_GRAPHQL_BODY_BYTES = 256 * 1024;
/** Requests that wait for the database, or whose answer is being sent, at a time; the others are refused. */
export const MAX_GRAPHQL_REQUESTS = 200;
/** After this time a client that does not take its answer is disconnected, in milliseconds. */
const SENDING_TIMEOUT_MS = 60_000;

/** @param onFailure gets errors that no request may cause */
export function graphqlListener(
  answerBody: Indexing['answer'],
  onFailure: (error: unknown) => void = () => undefined,
): RequestListener {
  const places: Places = { taken: 0 };
  return (request, response) => {
    allowOrigin(request, response);
    const pathname = request.url!.split('?', 1)[0]!;
    if (request.method === 'OPTIONS') response.writeHead(204).end();
    else if (request.method === 'GET' && pathname === '/healthz') send(response, 200, 'OK');
    else if (pathname !== GRAPHQL_PATH) sendFile(request, response, pathname);
    else if (request.method !== 'POST') {
      response.setHeader('allow', 'POST, OPTIONS');
      send(response, 405, `POST a query to ${GRAPHQL_PATH}`);
    } else {
      answer(answerBody, places, request, response).catch((error: unknown) => {
        // A client that disconnected is no failure.
        if (request.destroyed && !request.complete) return;
        onFailure(error);
        const failure = new GraphqlFailure('unexpected', 'internal error');
        send(response, 500, failure.toText());
      });
    }
  };
}

/** The taken places of MAX_GRAPHQL_REQUESTS. A body that arrives slowly takes none. */
interface Places {
  taken: number;
}

async function answer(
  answerBody: Indexing['answer'],
  places: Places,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const bytes = await receivedBytes(request, MAX_GRAPHQL_BODY_BYTES);
  if (bytes === undefined) {
    const message = `the body exceeds the limit of ${MAX_GRAPHQL_BODY_BYTES} bytes`;
    // The rest of the body is not received.
    response.setHeader('connection', 'close');
    send(response, 413, new GraphqlFailure('limit-exceeded', message).toText());
    return;
  }
  // Its `close` event has passed and could not release the place.
  if (request.socket.destroyed) return;
  if (places.taken >= MAX_GRAPHQL_REQUESTS) {
    send(response, 503, tooMany());
    return;
  }
  places.taken += 1;
  const closed = closing(request, response);
  try {
    send(response, 200, await answerBody(bytes));
  } finally {
    const timer = setTimeout(() => response.destroy(), SENDING_TIMEOUT_MS).unref();
    void closed.then(() => {
      clearTimeout(timer);
      places.taken -= 1;
    });
  }
}

/** Resolves when an answer is sent or its client is gone; a pipelined response gets no event. */
function closing({ socket }: IncomingMessage, response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const onClose = (): void => {
      for (const end of [socket, response]) end.off('close', onClose);
      resolve();
    };
    // One connection may have many requests.
    socket.setMaxListeners(0);
    for (const end of [socket, response]) end.once('close', onClose);
  });
}

function tooMany(): string {
  return new GraphqlFailure('limit-exceeded', 'too many requests at a time').toText();
}

/** Pages of any origin may ask: everything here is public. */
function allowOrigin({ headers }: IncomingMessage, response: ServerResponse): void {
  response.setHeader('access-control-allow-origin', headers.origin ?? '*');
  response.setHeader('vary', 'origin');
  response.setHeader('access-control-allow-methods', 'GET, POST, OPTIONS');
  response.setHeader(
    'access-control-allow-headers',
    headers['access-control-request-headers'] ?? '*',
  );
  response.setHeader('access-control-max-age', '1728000');
}

/** Sends GraphiQL to browsers that open the address. */
function sendFile({ method }: IncomingMessage, response: ServerResponse, pathname: string): void {
  const file = method === 'GET' ? graphiqlFile(pathname) : undefined;
  if (file === undefined) send(response, 404, 'resource does not exist');
  else response.writeHead(200, file.headers).end(file.bytes);
}

function send(response: ServerResponse, status: number, text: string): void {
  const type = text.startsWith('{') ? 'application/json' : 'text/plain';
  response.writeHead(status, { 'content-type': `${type}; charset=utf-8` }).end(text);
}
