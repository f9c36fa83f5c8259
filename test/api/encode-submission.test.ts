/**
 * Encode submission over a real store (docs/spec/http.md §5.8, §12; docs/spec/encode.md §A0; docs/spec/decisions.md D2,
 * D10).
 */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestApi } from './client.ts';
import { postEncode, REQUEST } from './encode-request.ts';
import { expectError } from './error-answers.ts';
import { openSmallLedger, type SmallLedger } from './small-ledger.ts';

const BCS = { accept: 'application/x-bcs' };

let ledger: SmallLedger;
let app: TestApi;
beforeAll(async () => {
  ledger = await openSmallLedger();
  app = ledger.app;
});
afterAll(() => ledger.close());

describe('encode submission', () => {
  const HEX =
    '0xb5e97db07fa0bd0e5598aa3643a9bc6f6693bddc1a9fec9e674a461eaa00b193' +
    'cafe'.padStart(64, '0') +
    '0100000000000000' +
    `02${'1'.padStart(64, '0')}016d01660001080500000000000000` +
    '0200000000000000' +
    '0300000000000000' +
    '0400000000000000' +
    '2a';

  it('gives the bytes to sign, as hex and as BCS (docs/spec/decisions.md D2)', async () => {
    const json = await postEncode(app, REQUEST);
    expect(json.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(json.body).toBe(JSON.stringify(HEX));
    const bcs = await postEncode(app, REQUEST, BCS);
    const bytes = Buffer.from(HEX.slice(2), 'hex');
    expect(bcs.headers['content-type']).toBe('application/x-bcs');
    expect(bcs.bytes.equals(Buffer.concat([Buffer.from([bytes.length, 1]), bytes]))).toBe(
      bytes.length > 127 && bytes.length < 256,
    );
  });

  const changed = (change: object) => ({ ...REQUEST, ...change });
  const T =
    ' (occurred while parsing "UserTransactionRequestInner") ' +
    '(occurred while parsing "EncodeSubmissionRequest")';

  it.each([
    [
      'a bad u64',
      changed({ sequence_number: 'invalid' }),
      'web_framework_error',
      'parse request payload error: failed to parse "string(U64)": Parsing u64 string "invalid" ' +
        `failed, caused by error: invalid digit found in string${T}`,
    ],
    [
      'a payload that is a number',
      changed({ payload: 1234 }),
      'web_framework_error',
      `parse request payload error: Expected input type "TransactionPayload", found 1234.${T}`,
    ],
    [
      'a payload that is no more',
      changed({ payload: { type: 'module_bundle_payload' } }),
      'invalid_input',
      "'UserTransactionRequest' invalid: Module bundle payload has been removed",
    ],
  ])('%s is refused', async (_, body, code, message) => {
    expectError(await postEncode(app, body), 400, code, message);
  });

  it('what the ledger does not know is refused after that', async () => {
    const payload = { ...REQUEST.payload, function: '0x1::m::nope' };
    const response = await postEncode(app, changed({ payload }));
    expect(response.statusCode).toBe(400);
    expect(response.json()).toMatchObject({
      error_code: 'invalid_input',
      message: expect.stringMatching(/^The given transaction is invalid: /) as string,
    });
  });
});
