/** Requests to another node: URLs, waiting, and responses that are too large, too slow or truncated. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { interfaceBase } from '../../src/remote/node-url.ts';
import { RemoteError } from '../../src/remote/remote-error.ts';
import { type Bounds, RemoteServer } from '../../src/remote/remote-server.ts';
import {
  MAX_BACKOFF_MS,
  MAX_RETRY_AFTER_MS,
  parseRetryAfter,
  retryDelayMs,
} from '../../src/remote/retry.ts';

describe('the URL of an upstream', () => {
  it.each([
    ['http://node.example', 'http://node.example/v1'],
    ['http://127.0.0.1:8080/', 'http://127.0.0.1:8080/v1'],
    ['https://node.example/v1/', 'https://node.example/v1'],
    ['http://[::1]:8080/v1', 'http://[::1]:8080/v1'],
    ['https://gateway.example/mainnet', 'https://gateway.example/mainnet/v1'],
  ])('%s', (text, base) => {
    expect(interfaceBase(text).href).toBe(base);
  });

  it.each([
    '',
    'node.example',
    'ftp://node.example',
    'http://u:p@node.example',
    'http://n.example/?a=1',
    'http://',
  ])('is not %j', (text) => {
    expect(() => interfaceBase(text)).toThrow(
      expect.objectContaining({ code: 'bad_upstream_url' }),
    );
  });

  it.each([
    ['http://user:secret@n.example/v1', '"http://…@n.example/v1"'],
    ['http://user:se/cr/et@n.example', '"http://…@n.example"'],
    ['user:secret@n.example', '"…@n.example"'],
    ['https://n.example/v1?key=secret', '"https://n.example/v1?…"'],
  ])('%s is refused without its secrets', (text, shown) => {
    expect(() => interfaceBase(text)).toThrow(`${shown} is not the URL of a node`);
  });
});

describe('waiting', () => {
  it('doubles up to a limit, half of it by chance', () => {
    const delays = [1, 2, 3, 4, 100].map((failures) => retryDelayMs(failures, undefined, () => 1));
    expect(delays).toEqual([250, 500, 1_000, 2_000, MAX_BACKOFF_MS]);
    expect(retryDelayMs(1, undefined, () => 0)).toBe(125);
  });

  it('is never shorter than what the upstream asks for, up to a limit', () => {
    expect(retryDelayMs(1, 5_000, () => 1)).toBe(5_000);
    expect(retryDelayMs(5, 10, () => 1)).toBe(4_000);
    for (const more of [-1, 0, 1]) {
      const asked = MAX_RETRY_AFTER_MS + more;
      expect(retryDelayMs(1, asked, () => 1)).toBe(Math.min(asked, MAX_RETRY_AFTER_MS));
    }
  });

  it('reads both forms of Retry-After', () => {
    const now = Date.parse('2026-01-01T00:00:00Z');
    expect(parseRetryAfter('120', now)).toBe(120_000);
    expect(parseRetryAfter(' 0 ', now)).toBe(0);
    expect(parseRetryAfter('Thu, 01 Jan 2026 00:01:00 GMT', now)).toBe(60_000);
    expect(parseRetryAfter('Wed, 31 Dec 2025 00:00:00 GMT', now)).toBe(0);
    for (const bad of [undefined, '', '-1', '1.5', 'soon', '2026-01-01', '99999999999', 'Thu, x']) {
      expect(parseRetryAfter(bad, now)).toBeUndefined();
    }
  });
});

const BOUNDS: Bounds = { maxBytes: 1_000, silenceTimeoutMs: 5_000, totalTimeoutMs: 5_000 };

/** A client of a server with this response. */
async function clientOf(answer: RequestListener): Promise<RemoteServer> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = new RemoteServer(new URL(`http://127.0.0.1:${port}/`));
  onTestFinished(() => {
    client.close();
    server.close();
    server.closeAllConnections();
  });
  return client;
}

async function get(answer: RequestListener, bounds: Partial<Bounds> = {}) {
  const client = await clientOf(answer);
  const { body } = await client.send({ url: client.base }, { ...BOUNDS, ...bounds });
  return body.length;
}

function code(expected: string) {
  return expect.objectContaining({ code: expected });
}

describe('an answer', () => {
  it('has at most so many bytes, declared or not', async () => {
    for (const declared of [true, false]) {
      const answer = (byteLength: number): RequestListener => {
        return (_, response) => {
          if (declared) response.setHeader('content-length', byteLength);
          response.write(Buffer.alloc(1));
          response.end(Buffer.alloc(byteLength - 1));
        };
      };
      await expect(get(answer(999))).resolves.toBe(999);
      await expect(get(answer(1_000))).resolves.toBe(1_000);
      await expect(get(answer(1_001))).rejects.toThrow(code('page_too_large'));
    }
  });

  it('that never ends is cut, and so is one that drips', async () => {
    let sentBytes = 0;
    const endless: RequestListener = (_, response) => {
      const more = (): void => {
        sentBytes += 1_000_000;
        if (!response.destroyed) response.write(Buffer.alloc(1_000_000), more);
      };
      more();
    };
    await expect(get(endless, { maxBytes: 5_000_000 })).rejects.toThrow(code('page_too_large'));
    expect(sentBytes).toBeLessThan(100_000_000);
    const dripping: RequestListener = (_, response) => {
      const timer = setInterval(() => response.write('.'), 20);
      response.on('close', () => clearInterval(timer));
    };
    await expect(get(dripping, { totalTimeoutMs: 300 })).rejects.toThrow(code('upstream_timeout'));
    await expect(get(() => undefined, { silenceTimeoutMs: 100 })).rejects.toThrow(
      code('upstream_timeout'),
    );
  });

  it('is not waited for after an abort', async () => {
    const abort = new AbortController();
    const client = await clientOf(() => abort.abort(new Error('enough')));
    const request = { url: client.base, signal: abort.signal };
    await expect(client.send(request, BOUNDS)).rejects.toThrow('enough');
    await expect(client.send(request, BOUNDS)).rejects.toThrow('enough');
  });

  it('is not waited for after the client was closed', async () => {
    const client = await clientOf(() => client.close());
    await expect(client.send({ url: client.base }, BOUNDS)).rejects.toThrow(code('closed'));
    await expect(client.send({ url: client.base }, BOUNDS)).rejects.toThrow(code('closed'));
  });

  it('that broke off says what had come of it', async () => {
    const client = await clientOf((_, response) => {
      response.writeHead(206, { 'content-length': 9 });
      response.write('one', () => response.destroy());
    });
    const error = await client.send({ url: client.base }, BOUNDS).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ code: 'upstream_cut', received: { status: 206 } });
    expect((error as RemoteError).received!.body.toString()).toBe('one');
    expect(Object.keys(error as RemoteError)).not.toContain('received');
  });
});

describe('an error of another node', () => {
  it('says what may be done next', () => {
    expect(new RemoteError('upstream_busy', '').remedy).toBe('retry');
    expect(new RemoteError('page_unproved', '').remedy).toBe('refetch');
    expect(new RemoteError('other_chain', '').remedy).toBe('stop');
  });
});
