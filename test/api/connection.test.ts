/**
 * Behaviour that only real connections show: the HTTP parser's refusals, raw paths, time limits (docs/spec/http.md
 * §1.7, §10).
 */
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withoutLedger } from './error-answers.ts';

const app = withoutLedger({ maxHeaderBytes: 16 * 1024, headersTimeoutMs: 300 });
beforeAll(() => app.port());
afterAll(() => app.close());

function open(): Socket {
  return connect((app.server.address() as AddressInfo).port, '127.0.0.1');
}

/** Sends raw bytes and resolves with everything received until the server closes. */
function talk(...parts: (string | Buffer)[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = open();
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
    });
    socket.on('close', () => resolve(received));
    socket.on('error', reject);
    for (const part of parts) socket.write(part);
  });
}

function get(target: string | Buffer): Promise<string> {
  const path = typeof target === 'string' ? Buffer.from(target) : target;
  return talk(Buffer.from('GET '), path, ' HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
}

function split(response: string): { status: number; head: string; body: string } {
  const end = response.indexOf('\r\n\r\n');
  const head = response.slice(0, end);
  return { status: Number(head.split(' ')[1]), head, body: response.slice(end + 4) };
}

function errorBody(message: string): string {
  return `{"message":${JSON.stringify(message)},"error_code":"web_framework_error","vm_error_code":null}`;
}

it('a client that asks while the node stops is told that its connection ends', async () => {
  const stopping = withoutLedger();
  await stopping.port();
  const socket = connect((stopping.server.address() as AddressInfo).port, '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
  });
  const ended = new Promise((resolve) => socket.on('close', resolve));
  socket.write('GET /v1 HTTP/1.1\r\nHost: x\r\n\r\nGET /v1 HTTP/1.1\r\nHost: x\r\n');
  while (!received.includes('web_framework_error') && !received.includes('error_code')) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect(received).toMatch(/^connection: keep-alive\r$/im);
  const closed = stopping.close();
  await new Promise((resolve) => setTimeout(resolve, 50));
  const before = received.length;
  socket.write('\r\n');
  await Promise.all([closed, ended]);
  expect(received.slice(before)).toMatch(/^connection: close\r$/im);
});

describe('targets as they are sent', () => {
  it.each([
    '/v1/accounts/g<>,/module/coin',
    'http://somewhere/v1/accounts/g/module/coin',
    '/v1/accounts/g/module/coin#fragment?x',
    '/v1/accounts/g`|^"{}\\/module/coin',
  ])('%s reaches its endpoint', async (target) => {
    const { status, body } = split(await get(target));
    expect(status).toBe(400);
    expect(body).toContain('failed to parse path `address`');
  });

  it('a raw type in a path is read as it is', async () => {
    const { status } = split(await get('/v1/accounts/1/balance/0x1::a::B<u8,vector<u8>>'));
    expect(status).toBe(503);
  });

  it('a fragment is no query', async () => {
    expect(split(await get('/v1/accounts/1/events/1#?start=x')).status).toBe(503);
  });

  it.each(['*', 'nothing'])('%s is no path of the interface', async (target) => {
    const response = await talk(
      `OPTIONS ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    );
    expect([400, 404]).toContain(split(response).status);
  });

  it('a Host header is not needed', async () => {
    const response = await talk('GET /v1/nowhere HTTP/1.1\r\nConnection: close\r\n\r\n');
    expect(split(response)).toMatchObject({ status: 404, body: errorBody('not found') });
  });
});

describe('what the HTTP parser refuses', () => {
  it.each([
    ['a blank', '/v1/a b'],
    ['a byte above 127', Buffer.from('/v1/é')],
    ['a control character', '/v1/\x01'],
  ])('%s in a path', async (_, target) => {
    const { status, head, body } = split(await get(target));
    expect(status).toBe(400);
    expect(body).toBe(errorBody('bad request'));
    expect(head.toLowerCase()).toContain('content-type: application/json\r\n');
    expect(head.toLowerCase()).toContain('connection: close');
  });

  it('headers over the limit', async () => {
    const headers = (bytes: number) =>
      `GET /v1/nowhere HTTP/1.1\r\nConnection: close\r\nx: ${'y'.repeat(bytes)}\r\n\r\n`;
    expect(split(await talk(headers(15 * 1024))).status).toBe(404);
    expect(split(await talk(headers(16 * 1024)))).toMatchObject({
      status: 431,
      body: errorBody('request header fields too large'),
    });
  });

  it('a long path is no reason below that', async () => {
    const { status } = split(await get(`/v1/accounts/1/module/${'a'.repeat(15 * 1024)}`));
    expect(status).toBe(503);
  });

  it('headers that do not come in time', async () => {
    const { status, body } = split(await talk('GET /v1 HTTP/1.1\r\nHost: x\r\n'));
    expect([status, body]).toEqual([408, errorBody('request timeout')]);
  });
});

describe('what Node would answer by itself', () => {
  it('an expectation that nobody knows is passed over', async () => {
    const request =
      'GET /v1/nowhere HTTP/1.1\r\nHost: x\r\nExpect: tea\r\nConnection: close\r\n\r\n';
    const { status, body } = split(await talk(request));
    expect([status, body]).toEqual([404, errorBody('not found')]);
  });

  it('CONNECT is an unknown route', async () => {
    const { status, body } = split(await talk('CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n'));
    expect([status, body]).toEqual([404, errorBody('not found')]);
  });
});

describe('bodies over connections', () => {
  const head =
    'POST /v1/transactions/encode_submission HTTP/1.1\r\nHost: x\r\nConnection: close\r\n' +
    'Content-Type: application/json\r\n';

  it('chunks are taken, split anywhere', async () => {
    const response = await talk(
      `${head}Transfer-Encoding: chunked\r\n\r\n`,
      '2\r\n[1\r\n',
      '2\r\n 2\r\n0\r\n\r\n',
    );
    expect(split(response).body).toContain('parse request payload error: ');
  });

  it('are asked for only when they may come', async () => {
    const fits = await talk(`${head}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n`, '{}');
    expect(fits).toMatch(/^HTTP\/1\.1 100 Continue\r\n/);
    const length = 9 * 1024 * 1024;
    const socket = open();
    const first = new Promise<string>((resolve) => {
      socket.once('data', (chunk) => resolve(chunk.toString('latin1')));
    });
    const open100 = head.replace('Connection: close\r\n', '');
    socket.write(`${open100}Expect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`);
    const refused = await first;
    expect(split(refused)).toMatchObject({ status: 413, body: errorBody('payload too large') });
    // The client may still send the body, and the server could not tell it from the next request.
    expect(refused).toMatch(/\r\nconnection: close\r\n/i);
    socket.destroy();
  });

  const expecting =
    'POST /v1/nowhere HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nConnection: close\r\n' +
    'Content-Length: 0\r\n\r\n';
  const keepAlive = head.replace('Connection: close\r\n', '');
  const statuses = (response: string) => response.match(/HTTP\/1\.1 \d+/g);

  it('are not asked for behind other requests, where that would be in the middle of an answer', async () => {
    // When the body's bytes are read, its end is not known yet, so it is answered after the next head.
    const chunked = `${keepAlive}Transfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n\r\n`;
    const response = await talk(chunked + expecting);
    expect(statuses(response)).toEqual(['HTTP/1.1 400', 'HTTP/1.1 404']);
    expect(split(response.slice(response.lastIndexOf('HTTP/1.1'))).body).toBe(
      errorBody('not found'),
    );
  });

  it('are asked for behind an answer that was written whole', async () => {
    const response = await talk(`${keepAlive}Content-Length: 2\r\n\r\n[]${expecting}`);
    expect(statuses(response)).toEqual(['HTTP/1.1 400', 'HTTP/1.1 100', 'HTTP/1.1 404']);
    const [, second] = response.split('HTTP/1.1 100 Continue\r\n\r\n');
    expect(split(second!).body).toBe(errorBody('not found'));
  });

  it.each([
    ['GET', '', 2],
    ['GET', 'Content-Length: 2\r\n', 1],
    ['GET', 'Content-Length: 0\r\n', 2],
    ['GET', 'Origin: https://a.example\r\n', 2],
    ['HEAD', '', 2],
    ['OPTIONS', 'Origin: https://a.example\r\nAccess-Control-Request-Method: GET\r\n', 2],
  ])('are not asked for where nobody reads them: %s with %j', async (method, headers, count) => {
    const first = `${method} /v1/nowhere HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n${headers}\r\n`;
    const last = 'GET /v1/nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    const response = await talk(first + last);
    const status = method === 'OPTIONS' ? '200' : '404';
    expect(statuses(response)).toEqual([`HTTP/1.1 ${status}`, 'HTTP/1.1 404'].slice(0, count));
  });

  it.each(['Expect: 100-continue\r\n', 'Expect: tea\r\n', ''])(
    'what is no request is refused behind all answers to those before it; with %j',
    async (expectation) => {
      const chunked = `${keepAlive}Transfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n\r\n`;
      const small = `GET /v1/nowhere HTTP/1.1\r\nHost: x\r\n${expectation}\r\n`;
      for (const requests of [[small], [small, small], [chunked, small, chunked]]) {
        const response = await talk(`${requests.join('')}\r\nNONSENSE\r\n\r\n`);
        const answers = requests.map((one) => (one === small ? '404' : '400'));
        expect(response.match(/(?<=HTTP\/1\.1 )[2-5]\d+/g)).toEqual([...answers, '400']);
      }
    },
  );

  it('are answered in order, with their heads, after them or in pieces', async () => {
    const whole = (body: string) => `Content-Length: ${body.length}\r\n\r\n${body}`;
    const response = await talk(
      `${keepAlive}${whole('[1]')}${keepAlive}${whole('')}${keepAlive}Content-Length: 3\r\n\r\n`,
      '[',
      `2]${keepAlive}Content-Length: 3\r\n\r\n[3`,
      `]${head}${whole('[4]')}`,
    );
    expect(statuses(response)).toEqual(Array(5).fill('HTTP/1.1 400'));
    const found = ['[1]', 'null', '[2]', '[3]', '[4]'].map((value) => `found ${value}`);
    expect(response.match(/found [^.]*/g)).toEqual(found);
  });

  it('that end early harm nobody', async () => {
    const socket = open();
    await new Promise((resolve) => socket.write(`${head}Content-Length: 9\r\n\r\n{`, resolve));
    socket.destroy();
    expect(split(await get('/v1/nowhere')).status).toBe(404);
  });

  it('are read to their end after a refusal, so that the connection can go on', async () => {
    const body = 'x'.repeat(9 * 1024 * 1024);
    const keepAlive = head.replace('Connection: close\r\n', '');
    const response = await talk(
      `${keepAlive}Content-Length: ${body.length}\r\n\r\n${body}`,
      'GET /v1/nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    );
    expect(response.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 404']);
  });
});

describe('clients that are slow', () => {
  it('lose their connection when they do not read', async () => {
    const impatient = withoutLedger({ requestTimeoutMs: 400 });
    const port = await impatient.port();
    const socket = connect(port, '127.0.0.1');
    // Together the responses exceed the buffers on both sides.
    socket.write('GET /v1/spec.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(500));
    socket.pause();
    const connections = () =>
      new Promise<number>((resolve) => {
        impatient.server.getConnections((_, count) => resolve(count));
      });
    await expect.poll(connections).toBe(1);
    // Before the default timeout of a minute.
    await expect.poll(connections, { timeout: 30_000 }).toBe(0);
    socket.on('error', () => {}).destroy();
    await impatient.close();
  });

  it('may be idle between requests for longer than a request may take', async () => {
    const patient = withoutLedger({ requestTimeoutMs: 200, keepAliveTimeoutMs: 60_000 });
    const socket = connect(await patient.port(), '127.0.0.1');
    const ended = new Promise((resolve) => socket.on('close', () => resolve('closed')));
    const answered = new Promise((resolve) => socket.on('data', resolve));
    socket.write('GET /v1 HTTP/1.1\r\nHost: x\r\n\r\n');
    await answered;
    const later = new Promise((resolve) => setTimeout(resolve, 600, 'open'));
    expect(await Promise.race([ended, later])).toBe('open');
    socket.destroy();
    await patient.close();
  });
});
