/** `GET /v1/info` (docs/spec/transactions.md §8). */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PricedLedger } from './priced-ledger.ts';

let ledger: PricedLedger;
beforeAll(async () => {
  ledger = await PricedLedger.open([]);
});
afterAll(() => ledger.close());

it('tells how the node works, always in JSON and in one order', async () => {
  for (const headers of [{}, { accept: 'application/x-bcs' }]) {
    const reply = await ledger.app.request({ url: '/v1/info', headers });
    expect(reply.statusCode).toBe(200);
    expect(reply.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(reply.headers['x-node-ledger-version']).toBe('0');
    expect(reply.body).toBe(
      '{"chain_id":"7","node_type":"PublicFullnode",' +
        '"bootstrapping_mode":"ApplyTransactionOutputsFromGenesis",' +
        '"continuous_syncing_mode":"ApplyTransactionOutputs","new_storage_format":true,' +
        '"internal_indexer_config":{"enable_transaction":true,"enable_event":true,' +
        '"enable_event_v2_translation":true,"event_v2_translation_ignores_below_version":0,' +
        '"enable_statekeys":true,"batch_size":10000,"runtime_threads":null}}',
    );
  }
});
