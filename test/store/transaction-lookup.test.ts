/** Transactions by hash and by sender, on every engine: collisions, limits, heads, pruning. */

import { describe, expect, test } from 'vitest';
import { U64_MAX } from '../../src/move/bcs/bcs-reader.ts';
import { TransactionInfo } from '../../src/move/transactions/transaction-info.ts';
import type { ReplayProtector } from '../../src/move/transactions/transaction-origin.ts';
import { addressBytes } from '../../src/move/types/address.ts';
import { ACCOUNT_TRANSACTIONS, TRANSACTION_HASHES } from '../../src/store/columns/columns.ts';
import { Pruner } from '../../src/store/pruning/prune.ts';
import { openView, StoreView } from '../../src/store/read/view.ts';
import type { ChunkTransaction } from '../../src/store/write/chunk.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { address, block, chunk, transaction } from './chunks.ts';
import { ENGINES } from './engines.ts';
import { INFO_OF_TESTS, nonce, sentBy, sequence, storedTransaction } from './on-chain-data.ts';

const SENDER = address(0xabc);
const OTHER = address(0xdef);

/** A version sent by someone. */
function sent(version: number, sender: string, by: ReplayProtector): ChunkTransaction {
  return { ...transaction(version), ...storedTransaction(version, sentBy(sender, by)) };
}

/** A version whose info has the given hash. */
function hashed(version: number, hash: Buffer): ChunkTransaction {
  const info = TransactionInfo.encode({ ...INFO_OF_TESTS, transactionHash: hash });
  return { ...transaction(version), info };
}

const HASH = Buffer.alloc(32, 0x55);
/** The same first bytes as HASH. */
const TWIN = Buffer.concat([HASH.subarray(0, 8), Buffer.alloc(24, 0x66)]);

describe.each(ENGINES)('%s', (_, open) => {
  /** Versions 0 to 9. The sender's are 1 (#0), 2 (nonce 7), 4 (#1), 5 (nonce 3), 8 (#2). */
  async function ledger() {
    const store = await open();
    const writer = await LedgerWriter.open(store);
    const transactions = [
      transaction(0),
      sent(1, SENDER, sequence(0n)),
      sent(2, SENDER, nonce(7n)),
      hashed(3, HASH),
      sent(4, SENDER, sequence(1n)),
      sent(5, SENDER, nonce(3n)),
      sent(6, OTHER, sequence(5n)),
      hashed(7, TWIN),
      sent(8, SENDER, sequence(2n)),
      transaction(9),
    ];
    const blocks = [block(0, 0, 0), block(1, 4), block(2, 9)];
    await writer.append(chunk(0, transactions, { blocks }));
    return { store, writer };
  }

  const versions = (found: readonly { readonly version: bigint }[]) =>
    found.map(({ version }) => Number(version));

  test('by hash, also where hashes begin alike', async () => {
    const { store } = await ledger();
    const view = await openView(store);
    expect(await view.versionOfHash(HASH)).toBe(3n);
    expect(await view.versionOfHash(TWIN)).toBe(7n);
    const third = Buffer.concat([HASH.subarray(0, 8), Buffer.alloc(24, 0x77)]);
    expect(await view.versionOfHash(third)).toBeUndefined();
    expect(await view.versionOfHash(Buffer.alloc(32))).toBeUndefined();
    const before = new StoreView(store, { ...view.head, version: 6n });
    expect(await before.versionOfHash(TWIN)).toBeUndefined();
  });

  test('by sequence number', async () => {
    const { store } = await ledger();
    const view = await openView(store);
    const list = async (first: bigint, last: bigint, limit = 10) =>
      versions(await view.sender(SENDER).bySequenceNumber(first, last, limit));
    expect(await list(0n, 9n)).toEqual([1, 4, 8]);
    expect(await list(1n, 1n)).toEqual([4]);
    expect(await list(0n, U64_MAX, 2)).toEqual([1, 4]);
    expect(await list(3n, U64_MAX)).toEqual([]);
    const before = new StoreView(store, { ...view.head, version: 7n });
    expect(versions(await before.sender(SENDER).bySequenceNumber(0n, 9n, 10))).toEqual([1, 4]);
    expect(await view.sender(address(1)).bySequenceNumber(0n, 9n, 10)).toEqual([]);
  });

  test('by version, upwards and downwards, at every bound and limit', async () => {
    const { store } = await ledger();
    const newest = await openView(store);
    const all = [1, 2, 4, 5, 8];
    for (let head = 0; head <= 9; head += 1) {
      const view = new StoreView(store, { ...newest.head, version: BigInt(head) });
      const sender = view.sender(SENDER);
      const visible = all.filter((version) => version <= head);
      for (let bound = 0; bound <= 11; bound += 1) {
        for (let limit = 1; limit <= 6; limit += 1) {
          const up = visible.filter((version) => version >= bound).slice(0, limit);
          const down = visible.filter((version) => version <= bound).slice(-limit);
          const what = `head ${head}, bound ${bound}, limit ${limit}`;
          expect(versions(await sender.byVersion({ from: BigInt(bound) }, limit)), what).toEqual(
            up,
          );
          expect(versions(await sender.byVersion({ to: BigInt(bound) }, limit)), what).toEqual(
            down,
          );
        }
      }
    }
    const [first, second] = await newest.sender(SENDER).byVersion({ from: 0n }, 2);
    expect(first?.replayProtector).toEqual({ kind: 'sequenceNumber', value: 0n });
    expect(second?.replayProtector).toEqual({ kind: 'nonce', value: 7n });
    expect(await newest.sender(address(1)).byVersion({ to: U64_MAX }, 5)).toEqual([]);
    expect(await newest.sender(SENDER).byVersion({ from: U64_MAX }, 5)).toEqual([]);
  });

  test('pruned with the transactions', async () => {
    const { store, writer } = await ledger();
    await new Pruner(writer, { graceMs: 0, restFactor: 0 }).run({ versions: 6 });
    const view = await openView(store);
    expect(view.head.oldestVersion).toBe(4n);
    expect(await view.versionOfHash(HASH)).toBeUndefined();
    expect(await view.versionOfHash(TWIN)).toBe(7n);
    expect(versions(await view.sender(SENDER).bySequenceNumber(0n, 9n, 10))).toEqual([4, 8]);
    expect(versions(await view.sender(SENDER).byVersion({ from: 0n }, 9))).toEqual([4, 5, 8]);
    expect(versions(await view.sender(SENDER).byVersion({ to: 6n }, 9))).toEqual([4, 5]);
    const rows = await store.scan(ACCOUNT_TRANSACTIONS, { maxRows: 99, maxBytes: 1e6 });
    expect(rows).toHaveLength(4);
    expect(await store.scan(TRANSACTION_HASHES, { maxRows: 99, maxBytes: 1e6 })).toHaveLength(6);
  });

  test('a ledger without whole transactions has no indexes', async () => {
    const store = await open();
    const writer = await LedgerWriter.open(store);
    const { identity, ...genesis } = chunk(0, [
      { ...transaction(0), info: Buffer.of(1), transaction: undefined },
    ]);
    await writer.append({ ...genesis, identity: { ...identity!, keepsTransactions: false } });
    const partition = addressBytes(SENDER);
    expect(await store.range(ACCOUNT_TRANSACTIONS, partition, { limit: 1 })).toEqual([]);
    expect(await store.scan(TRANSACTION_HASHES, { maxRows: 9, maxBytes: 1e6 })).toEqual([]);
  });

  test('bytes that are no transaction are refused', async () => {
    const { writer } = await ledger();
    const refused = { code: 'chunk_transaction', version: 10n };
    for (const damage of [{ info: Buffer.of(9) }, { transaction: Buffer.alloc(9, 9) }]) {
      const chunkOfOne = chunk(10, [{ ...transaction(10), ...damage }]);
      await expect(writer.append(chunkOfOne)).rejects.toThrow(expect.objectContaining(refused));
    }
  });
});
