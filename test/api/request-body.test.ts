/** Sizes and encodings of request bodies (docs/spec/http.md §5.1, §10.2, §10.3; docs/spec/decisions.md D8). */
import { Readable } from 'node:stream';
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { API_CONSTANTS } from '../../src/api/settings.ts';
import { expectError, withoutLedger } from './error-answers.ts';

const ENCODE = '/v1/transactions/encode_submission';
const LIMIT = API_CONSTANTS.contentLengthLimitBytes;

const app = withoutLedger();
afterAll(() => app.close());

function post(
  body: Buffer | Readable | undefined,
  headers: Record<string, string> = {},
  url = ENCODE,
) {
  return app.request({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
}

/** A body of exactly `byteLength` bytes that is not a valid request; its refusal shows that it was read. */
function blanks(byteLength: number): Buffer {
  return Buffer.alloc(byteLength, ' ');
}

function readMessage(byteLength: number): string {
  return `parse request payload error: EOF while parsing a value at line 1 column ${byteLength}`;
}

const compressors = {
  br: (bytes: string | Buffer) =>
    brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  gzip: gzipSync,
  deflate: deflateRawSync,
};

describe('the size limit of bodies', () => {
  it.each([LIMIT - 1, LIMIT])('lets %d bytes pass', async (size) => {
    expectError(await post(blanks(size)), 400, 'web_framework_error', readMessage(size));
    const chunked = await post(Readable.from([blanks(size - 10), blanks(10)]));
    expectError(chunked, 400, 'web_framework_error', readMessage(size));
  });

  it('refuses one byte more, declared or chunked', async () => {
    for (const payload of [blanks(LIMIT + 1), Readable.from([blanks(LIMIT), blanks(1)])]) {
      expectError(await post(payload), 413, 'web_framework_error', 'payload too large');
    }
  });

  it('refuses it before anything else is looked at', async () => {
    for (const url of ['/v1/nowhere', '/v1', '/v1/%FF']) {
      for (const payload of [blanks(LIMIT + 1), Readable.from([blanks(LIMIT), blanks(1)])]) {
        const response = await post(payload, { 'content-type': 'invalid' }, url);
        expectError(response, 413, 'web_framework_error', 'payload too large');
      }
    }
  });

  it('is a setting', async () => {
    const small = withoutLedger({ contentLengthLimitBytes: 2 });
    const send = (body: string) =>
      small.request({
        method: 'POST',
        url: ENCODE,
        headers: { 'content-type': 'application/json' },
        body,
      });
    expect((await send('  ')).statusCode).toBe(400);
    expect((await send('   ')).statusCode).toBe(413);
    await small.close();
  });

  it('takes an empty body as absent', async () => {
    expectError(
      await post(undefined),
      400,
      'web_framework_error',
      'parse request payload error: Expected input type "EncodeSubmissionRequest", found null.',
    );
  });
});

describe.each(['br', 'gzip', 'deflate'] as const)('a body in %s', (coding) => {
  const compress = compressors[coding];

  it('is decompressed', async () => {
    const response = await post(compress('[1 2]'), { 'content-encoding': coding });
    expectError(
      response,
      400,
      'web_framework_error',
      'parse request payload error: expected `,` or `]` at line 1 column 4',
    );
  });

  it.each([LIMIT - 1, LIMIT])('may have %d bytes', async (size) => {
    const response = await post(compress(blanks(size)), { 'content-encoding': coding });
    expectError(response, 400, 'web_framework_error', readMessage(size));
  });

  it.each([LIMIT + 1, LIMIT * 16])('may not have %d bytes', async (size) => {
    const compressed = compress(blanks(size));
    const response = await post(compressed, { 'content-encoding': coding });
    expectError(response, 413, 'web_framework_error', 'payload too large');
  });

  it('is refused when it is broken', async () => {
    const whole = compress('{"a":1}'.repeat(100));
    for (const broken of [whole.subarray(0, whole.length - 9), Buffer.from('{"a":1}')]) {
      const response = await post(broken, { 'content-encoding': coding });
      expect(response.statusCode).toBe(400);
      expect(response.json()).toMatchObject({
        error_code: 'web_framework_error',
        message: expect.stringMatching(/^io: ./),
      });
    }
  });
});

describe('other codings of bodies', () => {
  it.each(['GZIP', 'zstd', 'gzip, br', 'identity', 'toString', ''])(
    '%s leaves the body as it is',
    async (coding) => {
      const response = await post(Buffer.from('[1 2]'), { 'content-encoding': coding });
      expect(response.json<{ message: string }>().message).toContain('expected `,` or `]`');
    },
  );

  it('a zlib wrapper is not raw DEFLATE', async () => {
    const response = await post(deflateSync('[1 2]'), { 'content-encoding': 'deflate' });
    expect(response.json<{ message: string }>().message).toMatch(/^io: /);
  });

  it('nothing is decompressed when compression is off', async () => {
    const off = withoutLedger({ compressionEnabled: false });
    const response = await off.request({
      method: 'POST',
      url: ENCODE,
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      body: gzipSync('[1 2]'),
    });
    expect(response.json<{ message: string }>().message).toContain('expected value');
    await off.close();
  });
});
