/** Transactions of other ledgers of the reference, with its JSON for them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENDPOINTS } from '../../src/api/http/endpoint-list.ts';
import { openApiDocument } from '../../src/api/http/openapi.ts';
import { readRequest, writeRequest } from '../../src/ledger/transactions/request-json.ts';
import { BcsReader } from '../../src/move/bcs/bcs-reader.ts';
import { SignedTransaction } from '../../src/move/transactions/user-transaction.ts';
import { statusCodeName } from '../../src/vm/status/status.ts';
import { DocumentSchemas, type Json } from '../api/document-schemas.ts';
import { TransactionRendering, writtenBy } from '../ledger/transaction-rendering.ts';
import { type ReferenceLedger, recordedLines, serveReferenceChain } from './reference-chain.ts';

interface UserRequest {
  readonly kind: 'user_request';
  readonly id: string;
  readonly bcs_signed_transaction?: string;
  /** With the variant of user transactions before it. */
  readonly bcs_transaction?: string;
  readonly json: { readonly payload: { readonly function?: string } };
}

type Vector =
  | { readonly kind: 'render'; id: string; bcs: string; timestamp: string; json: string }
  | UserRequest
  | { readonly kind: 'status_codes'; codes: Readonly<Record<string, string>> };

const vectors = recordedLines<Vector>('vectors/transactions.jsonl');

const TRANSACTION = { $ref: '#/components/schemas/Transaction' };
const schemas = new DocumentSchemas(
  openApiDocument(ENDPOINTS, { headerPrefix: 'X-NODE' }) as unknown as Json,
);

describe('transactions of other ledgers', () => {
  let ledger: ReferenceLedger;
  let rendering: TransactionRendering;
  beforeAll(async () => {
    ledger = await serveReferenceChain();
    rendering = await TransactionRendering.over(ledger.store);
  });
  afterAll(() => ledger.close());

  const rendered = vectors.filter((vector) => vector.kind === 'render');
  it.each(rendered.map((vector) => [vector.id, vector] as const))('%s', async (_, vector) => {
    const json = await rendering.json(Buffer.from(vector.bcs, 'hex'), BigInt(vector.timestamp));
    expect(json).toBe(vector.json);
    // The OpenAPI document is valid for the reference's JSON.
    expect(schemas.problems(TRANSACTION, JSON.parse(json) as Json)).toEqual([]);
  });

  const signed = vectors.filter((vector) => vector.kind === 'user_request');
  it.each(signed.map((vector) => [vector.id, vector] as const))('%s', async (_, vector) => {
    const bytes = signedBytes(vector);
    const reader = new BcsReader(bytes);
    const members = await writtenBy((out) => {
      const request = readRequest(out, reader);
      reader.finish();
      return writeRequest(out, request, rendering.decoding());
    });
    expect(`{${members}}`).toBe(JSON.stringify(asSeenHere(vector.json, bytes)));
  });

  it('are all here', () => expect([rendered.length, signed.length]).toEqual([24, 41]));
});

function signedBytes(vector: UserRequest): Buffer {
  if (vector.bcs_signed_transaction !== undefined) {
    return Buffer.from(vector.bcs_signed_transaction, 'hex');
  }
  return Buffer.from(vector.bcs_transaction!, 'hex').subarray(1);
}

const FRAMEWORK = /^0x[1-9a]::/;

/** Arguments of functions outside the framework, which this ledger does not have, are shown as bytes. */
function asSeenHere(json: UserRequest['json'], bytes: Buffer): object {
  const { payload } = json;
  if (payload.function === undefined || FRAMEWORK.test(payload.function)) return json;
  const { raw } = SignedTransaction.decode(bytes);
  const call = raw.payload.kind === 'payload' ? raw.payload.executable : raw.payload;
  if (call.kind !== 'entryFunction') throw new Error(`a call of kind ${call.kind}`);
  const shown = call.args.map((argument) => `0x${argument.toString('hex')}`);
  return { ...json, payload: { ...payload, arguments: shown } };
}

it('names of all status codes', () => {
  const { codes } = vectors.find((vector) => vector.kind === 'status_codes')!;
  const ours = Object.keys(codes).map((code) => [code, statusCodeName(BigInt(code))]);
  expect(Object.fromEntries(ours)).toEqual(codes);
  expect(ours.length).toBe(273);
});
