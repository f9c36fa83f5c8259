/** How often a request reads the store, on an engine that answers later: never twice, and never for cached data. */
import { expect, test } from 'vitest';
import { assembleText } from '../../bench/bulk-ledger/framework/framework.ts';
import { CoinAsset } from '../../src/ledger/balances/balance.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { parseJson } from '../../src/move/json/json-text.ts';
import { APTOS_COIN_TAG, coinStoreTag } from '../../src/move/types/framework-tag.ts';
import {
  moduleStateKey,
  physicalStateKey,
  resourceStateKey,
} from '../../src/move/types/state-key.ts';
import { TypeTag } from '../../src/move/types/type-tag.ts';
import type { ChunkStreamEvent, StateWrite } from '../../src/store/write/chunk.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { encodeValue } from '../../src/submission/encode/index.ts';
import { AnsweringLater } from '../store/answering-later.ts';
import { address, block, chunk, transaction } from '../store/chunks.ts';
import { MemoryStore } from '../store/memory-store.ts';

const ADDRESS = address(0xa);
const MODULE = assembleText(
  `module 0xa::m {
    struct Note has copy, drop, store { text: u64 }
    public entry fun write(sender: &signer, to: address, note: Note);
  }`,
  new Map(),
)[0]!.bytes;
const STRUCT = { address: ADDRESS, module: 'm', name: 'Note', typeArguments: [] };
const REQUEST = parseJson(
  Buffer.from(
    JSON.stringify({
      sender: '0xa',
      sequence_number: '0',
      max_gas_amount: '1',
      gas_unit_price: '1',
      expiration_timestamp_secs: '1',
      payload: {
        type: 'entry_function_payload',
        function: '0xa::m::write',
        type_arguments: [],
        arguments: ['0xb', { text: '5' }],
      },
    }),
  ),
);

function event(sequenceNumber: number): ChunkStreamEvent {
  return {
    kind: 'stream',
    ...{ address: ADDRESS, creationNumber: 2n, sequenceNumber: BigInt(sequenceNumber) },
    typeTag: TypeTag.encode({ kind: 'struct', struct: STRUCT }),
    data: encodeBcs((writer) => writer.u64(7n)),
  };
}

/** A ledger with a module, a balance and three events, and a function that adds a version. */
async function ledger() {
  const writer = await LedgerWriter.open(new MemoryStore());
  const coins = encodeBcs((writer) => {
    writer.u64(5n).bool(false);
    for (const _ of ['deposits', 'withdrawals']) writer.u64(0n).u64(2n).address(ADDRESS);
  });
  const writes: StateWrite[] = [
    { key: physicalStateKey(moduleStateKey(ADDRESS, 'm')), value: MODULE },
    {
      key: physicalStateKey(resourceStateKey(ADDRESS, coinStoreTag(APTOS_COIN_TAG))),
      value: coins,
    },
  ];
  const events = [event(0), event(1), event(2)];
  await writer.append(chunk(0, [transaction(0, { writes, events })]));
  const store = new AnsweringLater(writer.reader);
  const opened = openLedger(store);
  /** The reads of the store that `ask` causes. */
  const readsOf = async (ask: () => unknown): Promise<string[]> => {
    store.reads.length = 0;
    await ask();
    return [...store.reads];
  };
  const grow = async (version: number) => {
    const next = chunk(version, [transaction(version)], { blocks: [block(version, version)] });
    await writer.append(next);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { opened, readsOf, grow };
}

test('a view is one read, as long as the ledger does not grow', async () => {
  const { opened, readsOf, grow } = await ledger();
  await opened.view();
  await new Promise((resolve) => setImmediate(resolve));
  expect(await readsOf(() => opened.view())).toEqual(['get head']);
  await grow(1);
  expect(await readsOf(() => opened.view())).toEqual(['get head']);
});

test('a balance is one read', async () => {
  const { opened, readsOf } = await ledger();
  const view = await opened.view();
  const asset = new CoinAsset(APTOS_COIN_TAG);
  const ask = async () => expect(await view.balance(ADDRESS, asset, 0n)).toBe(5n);
  for (let round = 0; round < 2; round += 1) {
    expect(await readsOf(ask)).toEqual(['get balances']);
  }
});

test('a module is one read at a view, and none when it is asked again', async () => {
  const { opened, readsOf, grow } = await ledger();
  const view = await opened.view();
  const ask = async () => (await view.module(ADDRESS, 'm', 0n)).json();
  expect(await readsOf(ask)).toEqual(['seekLast state']);
  expect(await readsOf(ask)).toEqual([]);
  await grow(1);
  const next = await opened.view();
  expect(next).not.toBe(view);
  expect(await readsOf(() => next.module(ADDRESS, 'm', 1n))).toEqual(['seekLast state']);
});

test('encoding a call of a cached function reads its module once at a view, then nothing', async () => {
  const { opened, readsOf, grow } = await ledger();
  const reads = async () => {
    const { state, lookupModule } = await opened.view();
    return readsOf(() => encodeValue(REQUEST, { chainId: state.chainId, lookupModule }));
  };
  // The module, and the feature flags that decide whether it loads.
  expect(await reads()).toEqual(['seekLast state', 'seekLast state']);
  expect(await reads()).toEqual([]);
  await grow(1);
  expect(await reads()).toEqual(['seekLast state', 'seekLast state']);
  expect(await reads()).toEqual([]);
});

test('an event page is read until it is asked for again, then only the end of the stream where the page reaches it', async () => {
  const { opened, readsOf } = await ledger();
  const view = await opened.view();
  const stream = { address: ADDRESS, creationNumber: 2n };
  const full = () => view.pages.page({ ...stream, start: 0n, limit: 2 }, 'json');
  const newest = () => view.pages.page({ ...stream, limit: 2 }, 'json');
  const first = await readsOf(full);
  expect(first.filter((read) => read.startsWith('range'))).toEqual(['range events']);
  expect(await readsOf(full)).toEqual(['range events']);
  expect(await readsOf(full)).toEqual([]);
  expect(await readsOf(newest)).toEqual(['range events']);
  expect(await readsOf(newest)).toEqual(['range events']);
  expect(await readsOf(newest)).toEqual(['seekLast events']);
});
