/** The route table: the row for a path and a method, and the response if there is none. */
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { type Exchange, type Route, type RouteRow, RouteTable } from '../../src/api/http/routes.ts';

const route = (operationId: string): Route => ({
  operationId,
  work: 'none',
  answer: () => undefined,
});
const row = (path: string, method: 'GET' | 'POST' = 'GET'): RouteRow => ({
  path,
  method,
  route: route(path),
});

const table = new RouteTable(
  [
    row('/v1'),
    row('/v1/'),
    row('/v1/a/{x}/b/{y}'),
    row('/v1/a/{x}/c'),
    row('/v1/d', 'POST'),
    row('/v1/e'),
    { ...row('/v1/e', 'POST'), route: route('post e') },
    { ...row('/file'), refusedMethods: ['POST'] },
  ],
  route('preflight'),
);

function find(method: string, url: string, headers: Record<string, string> = {}): Exchange {
  const request = new IncomingMessage(new Socket());
  Object.assign(request, { method, url, headers });
  return table.find(request, new ServerResponse(request));
}

/** The refusal of a request. */
function refusal(method: string, url: string): string {
  const exchange = find(method, url);
  expect(exchange.route.operationId).toBe('');
  try {
    void exchange.route.answer(exchange, Buffer.alloc(0));
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('not refused');
}

describe('a path', () => {
  it.each([
    ['/v1', '/v1', {}],
    ['/v1?q', '/v1', {}],
    ['/v1/', '/v1/', {}],
    ['/v1/a/1/b/2', '/v1/a/{x}/b/{y}', { x: '1', y: '2' }],
    ['/v1/a//b/2', '/v1/a/{x}/b/{y}', { x: '', y: '2' }],
    ['/v1/a/1/b/%2F', '/v1/a/{x}/b/{y}', { x: '1', y: '%2F' }],
    ['/v1/a/b/b/__proto__', '/v1/a/{x}/b/{y}', { x: 'b', y: '__proto__' }],
    ['http://host/v1/a/1/c#f', '/v1/a/{x}/c', { x: '1' }],
  ])('%s finds %s', (url, path, parameters) => {
    for (const method of ['GET', 'HEAD']) {
      const exchange = find(method, url);
      expect(exchange.route.operationId).toBe(path);
      expect(exchange.path).toEqual(parameters);
    }
  });

  it.each(['/', '/v1/a/1/b/', '/v1/d/', '/V1', '/v1/a/1/b/2/3', '/v1/%64', '/v1/a', '/v1//', '*'])(
    '%s is not found',
    (url) => {
      for (const method of ['GET', 'POST', 'TRACE']) expect(refusal(method, url)).toBe('not found');
    },
  );
});

describe('a method', () => {
  it('is not allowed where another is', () => {
    expect(refusal('POST', '/v1/a/1/c')).toBe('method not allowed');
    expect(refusal('PROPFIND', '/v1')).toBe('method not allowed');
    expect(refusal('HEAD', '/v1/d')).toBe('method not allowed');
    expect(find('POST', '/v1/d').route.operationId).toBe('/v1/d');
  });

  it('chooses among the rows of a path', () => {
    expect(find('GET', '/v1/e').route.operationId).toBe('/v1/e');
    expect(find('HEAD', '/v1/e').route.operationId).toBe('/v1/e');
    expect(find('POST', '/v1/e').route.operationId).toBe('post e');
    expect(refusal('PUT', '/v1/e')).toBe('method not allowed');
  });

  it('is not found where a row knows nothing of it', () => {
    expect(refusal('POST', '/file')).toBe('method not allowed');
    expect(refusal('TRACE', '/file')).toBe('not found');
  });

  it('OPTIONS with an origin is a preflight on any path', () => {
    for (const url of ['/v1', '/nowhere', '/v1/%FF']) {
      const { route: found } = find('OPTIONS', url, { origin: 'null' });
      expect(found.operationId).toBe('preflight');
    }
    expect(refusal('OPTIONS', '/v1')).toBe('method not allowed');
  });
});

it('bytes that are not UTF-8 are refused before paths and methods are', () => {
  for (const url of ['/v1/%FF', '/v1/a/%FF/c']) {
    for (const method of ['GET', 'POST']) expect(refusal(method, url)).toBe('invalid path params');
  }
  expect(refusal('GET', '/other/%FF')).toBe('not found');
});
