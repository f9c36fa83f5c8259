/** The indexes of transactions in their blocks (docs/spec/transactions.md §1.8). */
import { afterEach, describe, expect, it } from 'vitest';
import { MAX_TRIED_INDEXES } from '../../src/ledger/transactions/transaction-index.ts';
import { openContentLedger } from './content-ledger.ts';
import { expectError } from './error-answers.ts';
import { PricedLedger } from './priced-ledger.ts';

const PATH = '/v1/transactions/auxiliary_info';
let ledger: PricedLedger | undefined;
afterEach(async () => {
  await ledger?.close();
  ledger = undefined;
});

/** Genesis, then one block per list, whose transactions have these indexes. */
async function open(...blocks: readonly (readonly (number | undefined)[])[]): Promise<void> {
  ledger = await PricedLedger.open([]);
  await ledger.add(
    ...blocks.map((indexes) => ({ indexes, sent: indexes.slice(2).map(() => ({})) })),
  );
}

async function indexes(start: number, limit: number): Promise<(number | null)[]> {
  const { app } = ledger!;
  const reply = await app.request(`${PATH}?start_version=${start}&limit=${limit}`);
  expect(reply.statusCode).toBe(200);
  const bcs = await app.request({
    url: `${PATH}?start_version=${start}&limit=${limit}`,
    headers: { accept: 'application/x-bcs' },
  });
  const shown = reply.json<{ transaction_index: number | null }[]>();
  const found = shown.map(({ transaction_index: index }) => index);
  const bytes = found.flatMap((index) =>
    index === null ? [0] : [1, ...new Uint8Array(Uint32Array.of(index).buffer)],
  );
  expect([...bcs.bytes]).toEqual([found.length, ...bytes]);
  return found;
}

describe('an index', () => {
  it('is the place in the block, and null where the chain stored none', async () => {
    await open([0, 1, 2], [0, 1], [undefined, undefined, undefined]);
    expect(await indexes(0, 100)).toEqual([null, 0, 1, 2, 0, 1, null, null, null]);
    expect(await indexes(3, 2)).toEqual([2, 0]);
    expect(await indexes(8, 1)).toEqual([null]);
  });

  it('counts transactions that were discarded', async () => {
    await open([0, 2, 3, 7], [1, 2]);
    expect(await indexes(1, 100)).toEqual([0, 2, 3, 7, 1, 2]);
    expect(await indexes(4, 1)).toEqual([7]);
  });

  it.each([
    [MAX_TRIED_INDEXES - 2, MAX_TRIED_INDEXES - 2],
    [MAX_TRIED_INDEXES - 1, MAX_TRIED_INDEXES - 1],
    [MAX_TRIED_INDEXES, null],
  ])('%i of a block’s first transaction is found as %s', async (index, found) => {
    await open([index, undefined]);
    expect(await indexes(1, 100)).toEqual([found, null]);
  });
});

it('of what was pruned is a 410', async () => {
  const pruned = await openContentLedger();
  try {
    await pruned.prune();
    const reply = await pruned.app.request(`${PATH}?start_version=0`);
    expectError(reply, 410, 'version_pruned', 'Ledger version(0) has been pruned');
  } finally {
    await pruned.close();
  }
});
