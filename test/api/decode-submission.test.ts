/**
 * Decode submission over a real store: responses, refusals, headers, document (docs/extensions.md,
 * docs/spec/decisions.md D1, D2).
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENDPOINTS } from '../../src/api/http/endpoint-list.ts';
import { openApiDocument } from '../../src/api/http/openapi.ts';
import type { TestApi } from './client.ts';
import { DocumentSchemas, type Json } from './document-schemas.ts';
import { postEncode, REQUEST } from './encode-request.ts';
import { expectError } from './error-answers.ts';
import { openSmallLedger, type SmallLedger } from './small-ledger.ts';

const DECODE = '/v1/transactions/decode_submission';

let ledger: SmallLedger;
let app: TestApi;
let hex: string;
beforeAll(async () => {
  ledger = await openSmallLedger();
  app = ledger.app;
  hex = JSON.parse((await postEncode(app, REQUEST)).body) as string;
});
afterAll(() => ledger.close());

function post(to: TestApi, body: string | Buffer, headers: Record<string, string> = {}) {
  const sent = { 'content-type': 'application/json', ...headers };
  return to.request({ method: 'POST', url: DECODE, headers: sent, body });
}

const ANSWER = {
  ...REQUEST,
  daybook_notes: {
    encodes_back: true,
    signing_scheme: 'single_signer',
    replay_protection: 'sequence_number',
    chain_id: 42,
    max_fee_octas: '6',
    expires_at: '1970-01-01T00:00:04.000Z',
    parameter_types: ['u64'],
    warnings: [{ code: 'expired', message: "the transaction has expired by the ledger's time" }],
  },
};

describe('decode submission', () => {
  it('gives the request that was encoded, which encodes to the same bytes', async () => {
    const decoded = await post(app, JSON.stringify(hex));
    expect(decoded.statusCode).toBe(200);
    expect(decoded.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(decoded.headers['x-node-chain-id']).toBe('42');
    expect(decoded.body).toBe(JSON.stringify(ANSWER));
    expect((await postEncode(app, decoded.body)).body).toBe(JSON.stringify(hex));
    expect((await post(app, JSON.stringify(hex.slice(2).toUpperCase()))).body).toBe(decoded.body);
  });

  it('as BCS gives the text as a string (docs/spec/decisions.md D2)', async () => {
    const bcs = await post(app, JSON.stringify(hex), { accept: 'application/x-bcs' });
    expect(bcs.headers['content-type']).toBe('application/x-bcs');
    const text = Buffer.from(JSON.stringify(ANSWER));
    const length = Buffer.of((text.length & 0x7f) | 0x80, text.length >> 7);
    expect(bcs.bytes.equals(Buffer.concat([length, text]))).toBe(true);
  });

  it.each([
    ['', 'invalid type: null, expected a string'],
    ['7', 'invalid type: number, expected a string'],
    ['["0x00"]', 'invalid type: sequence, expected a string'],
    ['{"hex":"0x"}', 'invalid type: map, expected a string'],
  ])('%s is no string', async (body, why) => {
    const message = `parse request payload error: failed to parse "string(HexEncodedBytes)": ${why}`;
    expectError(await post(app, body), 400, 'web_framework_error', message);
  });

  it('a text that is no JSON', async () => {
    expectError(
      await post(app, '0x00'),
      400,
      'web_framework_error',
      'parse request payload error: trailing characters at line 1 column 2',
    );
  });

  it.each([
    ['0x0', 'no hex: Odd number of digits'],
    ['zz', "no hex: Invalid character 'z' at position 0"],
    ['', 'it begins with a hash of 32 bytes, but there are 0'],
    [
      '00'.repeat(40),
      'the first 32 bytes are neither the hash of APTOS::RawTransaction nor that of ' +
        'APTOS::RawTransactionWithData at byte 0',
    ],
  ])('%s is no signing message', async (text, why) => {
    const message = `The given signing message is invalid: ${why}`;
    const response = await post(app, JSON.stringify(text));
    expectError(response, 400, 'invalid_input', message);
    expect(response.headers['x-node-chain-id']).toBe('42');
  });

  it('says where the bytes go wrong', async () => {
    const message = 'The given signing message is invalid: remaining input at byte';
    const response = await post(app, JSON.stringify(`${hex}00`));
    const end = (hex.length - 2) / 2;
    expectError(response, 400, 'invalid_input', `${message} ${end}`);
  });

  it('other content types and methods are refused as everywhere', async () => {
    expect((await post(app, hex, { 'content-type': 'application/x-bcs' })).statusCode).toBe(415);
    expect((await app.request({ method: 'GET', url: DECODE })).statusCode).toBe(405);
  });

  it('is in the document as an extension, and answers as it says there', async () => {
    const document = openApiDocument(ENDPOINTS, { headerPrefix: 'X-NODE' }) as unknown as {
      paths: Record<string, { post: Record<string, unknown> }>;
    };
    const { post: operation } = document.paths['/transactions/decode_submission']!;
    expect(operation).toMatchObject({ operationId: 'decode_submission', 'x-extension': true });
    expect(document.paths['/transactions/encode_submission']!.post).not.toHaveProperty(
      'x-extension',
    );
    const schemas = new DocumentSchemas(document as unknown as Json);
    const schema = { $ref: '#/components/schemas/DecodedSubmission' };
    expect(schemas.problems(schema, ANSWER as unknown as Json)).toEqual([]);
    expect(schemas.problems(schema, REQUEST as unknown as Json)).not.toEqual([]);
    const request = { $ref: '#/components/schemas/EncodeSubmissionRequest' };
    expect(schemas.problems(request, ANSWER as unknown as Json)).toEqual([]);
  });
});
