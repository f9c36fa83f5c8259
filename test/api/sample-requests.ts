/** Transactions of the sample as JSON, sent back as requests: their signing messages must be the original ones. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { bulkChunks } from '../../bench/bulk-ledger/bulk-ledger.ts';
import { buildApi } from '../../src/api/http/server.ts';
import { Committer } from '../../src/ingest/committer.ts';
import { BcsReader } from '../../src/move/bcs/bcs-reader.ts';
import { domainSeed } from '../../src/move/crypto/hash.ts';
import {
  readOnChainData,
  type TransactionOnChainData,
} from '../../src/move/transactions/transaction.ts';
import { RawTransaction } from '../../src/move/transactions/user-transaction.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { TestApi } from './client.ts';
import { DocumentSchemas, type Json } from './document-schemas.ts';
import { postEncode } from './encode-request.ts';
import { LogLines } from './error-answers.ts';
import { apiSettings } from './settings.ts';
import { openTestedLedger, openTestedStore } from './tested-ledger.ts';
import { NO_LOAD_BOUNDS } from './unbounded.ts';

const TRANSACTION = { $ref: '#/components/schemas/Transaction' };

/** The results: kinds that were encoded, and transactions that are not requests, by reason. */
export interface SampleRequests {
  readonly kinds: ReadonlySet<string>;
  readonly payloads: ReadonlySet<string>;
  readonly encodedBack: number;
  readonly others: ReadonlyMap<string, number>;
}

/** Renders all transactions of a new sample, and encodes those that are requests. */
export async function sampleRequests(seed: number, transactions: number): Promise<SampleRequests> {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-requests-'));
  const store = await openTestedStore({ directory: folder });
  const writer = await LedgerWriter.open(store);
  await new Committer(writer).pushAll(bulkChunks({ seed, transactions, accounts: 200 }));
  const log = new LogLines();
  const app = new TestApi(buildApi(openTestedLedger(store), apiSettings(NO_LOAD_BOUNDS), log));
  const document = (await app.request('/v1/spec.json')).json() as Json;
  const schemas = new DocumentSchemas(document);
  const kinds = new Set<string>();
  const payloads = new Set<string>();
  const others = new Map<string, number>();
  let encodedBack = 0;
  try {
    const head = Number(writer.head!.version);
    for (let start = 0; start <= head; start += 100) {
      const url = `/v1/transactions?start=${start}&limit=100`;
      const reader = new BcsReader(
        (await app.request({ url, headers: { accept: 'application/x-bcs' } })).bytes,
      );
      const items = reader.vector(1, readOnChainData);
      const shown = JSON.parse((await app.request(url)).body) as Record<string, unknown>[];
      expect(shown.length).toBe(items.length);
      for (const [index, { data }] of items.entries()) {
        const json = shown[index]!;
        expect(json['version']).toBe(String(data.version));
        expect([json['version'], schemas.problems(TRANSACTION, json as Json)]).toEqual([
          json['version'],
          [],
        ]);
        kinds.add(data.transaction.kind);
        const raw = rawOf(data);
        if (raw === undefined) continue;
        payloads.add(raw.payload.kind);
        const why = whyNoRequest(raw, json) ?? (await encoded(app, raw, json));
        if (why === undefined) encodedBack += 1;
        else others.set(why, (others.get(why) ?? 0) + 1);
      }
    }
    expect(log).toEqual(new LogLines());
    return { kinds, payloads, encodedBack, others };
  } finally {
    await app.close();
    await store.close();
    rmSync(folder, { recursive: true });
  }
}

function rawOf({ transaction }: TransactionOnChainData): RawTransaction | undefined {
  return transaction.kind === 'user' ? transaction.transaction.raw : undefined;
}

/** Why the JSON is not a request: stored values have other JSON forms than arguments (docs/spec/move.md §4.4). */
function whyNoRequest(raw: RawTransaction, json: Record<string, unknown>): string | undefined {
  const { payload } = raw;
  if (payload.kind === 'payload' && payload.extraConfig.replayProtectionNonce === undefined) {
    return 'extra configuration without a nonce';
  }
  const text = JSON.stringify(json['payload']);
  if (text.includes('"__variant__"')) return 'an enum';
  if (/"arguments":\[(.*,)?\{"inner":/.test(text)) return 'an object';
  if (/"arguments":\[(.*,)?\{"__fun/.test(text)) return 'a function value';
  return undefined;
}

/** Members of a user transaction's JSON that make a request, in their order (docs/spec/transactions.md §2.5). */
export const REQUEST_MEMBERS = [
  'sender',
  'sequence_number',
  'max_gas_amount',
  'gas_unit_price',
  'expiration_timestamp_secs',
  'payload',
  'signature',
  'replay_protection_nonce',
  'txn_limits_request',
];

/** Encodes a request. @returns why it is not a request */
async function encoded(
  app: TestApi,
  raw: RawTransaction,
  json: Record<string, unknown>,
): Promise<string | undefined> {
  const request = Object.fromEntries(REQUEST_MEMBERS.map((name) => [name, json[name]]));
  const { body } = await postEncode(app, request);
  // The JSON of an empty Option does not tell whether it is of u8.
  if (body.includes(SEQUENCE) && JSON.stringify(json['payload']).includes('"vec":[')) {
    return 'an Option<u8>';
  }
  const message = Buffer.concat([domainSeed('RawTransaction'), RawTransaction.encode(raw)]);
  expect([json['version'], body]).toEqual([
    json['version'],
    JSON.stringify(`0x${message.toString('hex')}`),
  ]);
  return undefined;
}

/** Arguments have hex where stored values have an array of bytes. */
const SEQUENCE = 'invalid type: sequence, expected a string';
