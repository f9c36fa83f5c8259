/** Gas price estimates over real stores (docs/spec/transactions.md §7). */
import { afterEach, describe, expect, it } from 'vitest';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import type { TransactionPayload } from '../../src/move/transactions/payload.ts';
import { padAddress } from '../../src/move/types/address.ts';
import type { StateWrite } from '../../src/store/write/chunk.ts';
import { expectError } from './error-answers.ts';
import {
  callOf,
  executionConfig,
  type PricedBlock,
  PricedLedger,
  type Sent,
  schedule,
} from './priced-ledger.ts';

let ledger: PricedLedger | undefined;
afterEach(async () => {
  await ledger?.close();
  ledger = undefined;
});

/** Commits the blocks and one more, since the newest one does not count. */
async function open(
  blocks: readonly PricedBlock[],
  writes: readonly StateWrite[] = [schedule(100n)],
  keepsTransactions = true,
): Promise<PricedLedger> {
  await ledger?.close();
  ledger = await PricedLedger.open(writes, keepsTransactions);
  await ledger.add(...blocks, {});
  return ledger;
}

async function estimate({ app }: PricedLedger): Promise<number[]> {
  const reply = await app.request('/v1/estimate_gas_price');
  expect(reply.statusCode).toBe(200);
  const shown = reply.json<Record<string, number>>();
  expect(Object.keys(shown)).toEqual([
    'deprioritized_gas_estimate',
    'gas_estimate',
    'prioritized_gas_estimate',
  ]);
  return Object.values(shown);
}

function sent(count: number, one: Sent = {}): Sent[] {
  return Array.from({ length: count }, () => one);
}

/** A block with just enough transactions to be full. Other blocks have the price of its bucket. */
function full(price: bigint): PricedBlock {
  return { sent: [...sent(249, { price: price + 1n }), { price }] };
}

const NOTHING_FULL = [100, 100, 150];

describe('the minimum', () => {
  it('is the schedule’s, of either form', async () => {
    expect(await estimate(await open([{}]))).toEqual(NOTHING_FULL);
    expect(await estimate(await open([{}], [schedule(149n)]))).toEqual([149, 149, 150]);
    expect(await estimate(await open([{}], [schedule(150n)]))).toEqual([150, 150, 300]);
    expect(await estimate(await open([{}], [schedule(7n, 'V1')]))).toEqual([7, 7, 150]);
    const both = [schedule(7n, 'V1'), schedule(8n)];
    expect(await estimate(await open([{}], both))).toEqual([8, 8, 150]);
  });

  it('above all buckets stays as it is, with all its digits', async () => {
    const { app } = await open([{}], [schedule(2n ** 64n - 1n)]);
    const digits = '18446744073709551615';
    expect((await app.request('/v1/estimate_gas_price')).body).toBe(
      `{"deprioritized_gas_estimate":${digits},"gas_estimate":${digits},` +
        `"prioritized_gas_estimate":${digits}}`,
    );
  });

  it('is missing where the chain has no schedule that can be read', async () => {
    const broken = { ...schedule(1n), value: Buffer.of(1) };
    for (const writes of [[], [broken]]) {
      const reply = await (await open([{}], writes)).app.request('/v1/estimate_gas_price');
      expectError(reply, 500, 'internal_error', 'Failed to retrieve gas schedule');
    }
    expect(await estimate(await open([{}], [broken, schedule(7n, 'V1')]))).toEqual([7, 7, 150]);
  });

  it('is the answer without stored transactions', async () => {
    const limited = [schedule(100n), executionConfig(Buffer.of(1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0))];
    expect(await estimate(await open([full(1_000n)], limited, false))).toEqual(NOTHING_FULL);
  });
});

it('as BCS is the middle estimate', async () => {
  const { app } = await open([full(200n)]);
  const headers = { accept: 'application/x-bcs' };
  const reply = await app.request({ url: '/v1/estimate_gas_price', headers });
  expect(reply.headers['content-type']).toBe('application/x-bcs');
  expect(reply.bytes).toEqual(encodeBcs((writer) => writer.u64(300n)));
});

describe('a block', () => {
  it('is full from 250 user transactions on', async () => {
    for (const [count, low] of [
      [249, 100],
      [250, 300],
      [251, 300],
    ] as const) {
      const estimates = await estimate(await open([{ sent: sent(count, { price: 200n }) }]));
      expect([count, estimates[0]]).toEqual([count, low]);
    }
  });

  it('gives the bucket above its lowest price', async () => {
    expect(await estimate(await open([full(150n)]))).toEqual([300, 300, 500]);
    expect(await estimate(await open([full(0n)]))).toEqual([150, 150, 300]);
    expect(await estimate(await open([full(2_000_000n)]))).toEqual(sent(3).map(() => 2_000_000));
  });

  it('that is the newest does not count, nor does one of another epoch', async () => {
    const one = await open([full(200n)]);
    await one.add(full(5_000n));
    expect((await estimate(one))[0]).toBe(100);
    expect(await estimate(await open([full(5_000n), { epoch: 2n }]))).toEqual(NOTHING_FULL);
    const last = await open([full(200n), { ...full(500n), epoch: 2n }]);
    await last.add({ epoch: 2n });
    expect((await estimate(last))[0]).toBe(100);
  });

  const V2_LIMIT = (gas: number) => Buffer.of(1, 0, 1, gas, 0, 0, 0, 0, 0, 0, 0);

  it.each([
    ['in the second configuration', V2_LIMIT(50)],
    [
      'in the third',
      Buffer.concat([Buffer.of(2, 1, 9, 0, 0, 0, 1, 50), Buffer.alloc(7), Buffer.of(1)]),
    ],
    [
      'in the fourth',
      Buffer.concat([Buffer.of(4, 2, 9, 0, 0, 0, 1, 50), Buffer.alloc(7), Buffer.of(1)]),
    ],
    ['of many parts', Buffer.concat([Buffer.of(7, 0, 2, 50), Buffer.alloc(60)])],
  ])('is full when its gas reaches the limit %s', async (_where, config) => {
    const writes = [schedule(100n), executionConfig(config)];
    for (const [gas, low] of [
      [9n, 100],
      [10n, 300],
      [11n, 300],
    ] as const) {
      const others = sent(4, { price: 200n, gas: 10n });
      const block = { sent: [...others, { price: 201n, gas }] };
      const estimates = await estimate(await open([block], writes));
      expect([gas, estimates[0]]).toEqual([gas, low]);
    }
  });

  it.each([
    ['is missing', undefined],
    ['says so', Buffer.of(3)],
    ['has no limit', Buffer.of(1, 0, 0)],
    ['has no limit in its newer form', Buffer.of(4, 3, 0, 1)],
    ['is only a shuffler', Buffer.of(0, 0)],
    ['does not decode', Buffer.of(9)],
  ])('has no limit of gas where the configuration %s', async (_what, config) => {
    const writes = [schedule(100n), ...(config === undefined ? [] : [executionConfig(config)])];
    const block = { sent: sent(249, { gas: 2n ** 60n, price: 200n }) };
    expect(await estimate(await open([block], writes))).toEqual(NOTHING_FULL);
  });

  describe('that one contract fills has room for others', () => {
    const contract = callOf('c0de');
    const multisig: TransactionPayload = {
      kind: 'multisig',
      multisigAddress: padAddress('5'),
      payload: contract as TransactionPayload & { readonly kind: 'entryFunction' },
    };
    const orderless: TransactionPayload = {
      kind: 'payload',
      executable: contract as TransactionPayload & { readonly kind: 'entryFunction' },
      extraConfig: { kind: 'v1', multisigAddress: padAddress('5'), replayProtectionNonce: 1n },
    };
    const aware = Buffer.concat([Buffer.of(0, 4), Buffer.alloc(24)]);
    const otherwiseAware = Buffer.concat([Buffer.of(0, 5), Buffer.alloc(24)]);

    it.each([
      ['more than half', 126, contract, aware, 100],
      ['more than half, in the other form', 126, contract, otherwiseAware, 100],
      ['exactly half', 125, contract, aware, 300],
      ['orderless ones count', 126, orderless, aware, 100],
      ['those of multisig accounts do not', 126, multisig, aware, 300],
      ['nor do those of the framework', 250, callOf('f'), aware, 300],
      ['unless nobody shuffles', 250, contract, Buffer.of(0, 2, 9, 0, 0, 0), 300],
    ])('%s', async (_what, count, payload, config, low) => {
      const others = sent(250 - count, { price: 201n });
      const block = { sent: [...sent(count, { price: 200n, payload }), ...others] };
      const writes = [schedule(100n), executionConfig(config)];
      expect((await estimate(await open([block], writes)))[0]).toBe(low);
    });
  });
});

describe('the estimates look', () => {
  const blocks = (count: number, block: PricedBlock = {}) =>
    Array.from({ length: count }, () => block);
  const busy = full(150n);

  it('at the lowest of ten blocks', async () => {
    expect((await estimate(await open([{}, ...blocks(9, busy)])))[0]).toBe(100);
    expect((await estimate(await open([{}, ...blocks(10, busy)])))[0]).toBe(300);
  });

  it('at the middle of thirty', async () => {
    const beyond = blocks(20, busy);
    const most = await estimate(await open([...beyond, ...blocks(14, busy), ...blocks(16)]));
    expect(most.slice(0, 2)).toEqual([100, 100]);
    const half = await estimate(await open([...blocks(20), ...blocks(15, busy), ...blocks(15)]));
    expect(half.slice(0, 2)).toEqual([100, 300]);
  });

  it('at the ninth tenth of a hundred and twenty', async () => {
    const quiet = (count: number) => blocks(count);
    const all = (fulls: number, beyond: number) => [
      ...blocks(beyond, full(5_000n)),
      ...quiet(60),
      ...blocks(fulls, busy),
      ...quiet(60 - fulls),
    ];
    expect(await estimate(await open(all(11, 5)))).toEqual(NOTHING_FULL);
    expect(await estimate(await open(all(12, 5)))).toEqual([100, 100, 500]);
  });
});

it('after a commit only what is new is read', async () => {
  const reads: string[] = [];
  const one = await open(Array.from({ length: 5 }, () => full(200n)));
  const { store } = one;
  for (const method of ['get', 'range'] as const) {
    const original = store[method].bind(store) as (...args: unknown[]) => unknown;
    Object.assign(store, {
      [method]: (column: { name: string }, ...rest: unknown[]) => {
        reads.push(column.name);
        return original(column, ...rest);
      },
    });
  }
  const transactionReads = () => reads.splice(0).filter((name) => name === 'transactions').length;
  expect((await estimate(one))[0]).toBe(300);
  const first = transactionReads();
  await one.add(full(200n));
  await estimate(one);
  expect([first > 0, transactionReads()]).toEqual([true, 0]);
  await one.add({});
  await estimate(one);
  expect(transactionReads()).toBe(first / 5);
});
