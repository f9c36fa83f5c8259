/**
 * Recorded user transactions, simulated on the state before them: the same status, events and writes, except for
 * effects of fees and sequence numbers (docs/spec/vm.md §8).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BcsReader } from '../../src/move/bcs/bcs-reader.ts';
import {
  readOnChainData,
  TransactionOnChainData,
} from '../../src/move/transactions/transaction.ts';
import type { SignedTransaction } from '../../src/move/transactions/user-transaction.ts';
import type { WriteSetEntry } from '../../src/move/transactions/write-set.ts';
import { physicalStateKey } from '../../src/move/types/state-key.ts';
import type { StoreReader } from '../../src/store/store.ts';
import { openTestedLedger, openTestedReader } from '../api/tested-ledger.ts';
import { someOf } from '../random.ts';
import { NEWEST_VERSION, referenceTransaction, storeReferenceChain } from './reference-chain.ts';

interface UserTransaction {
  readonly version: number;
  readonly signed: SignedTransaction;
  /** BCS. */
  readonly signedBytes: Buffer;
  readonly data: TransactionOnChainData;
}

function userTransactions(): UserTransaction[] {
  const found: UserTransaction[] = [];
  for (let version = 1; version <= NEWEST_VERSION; version += 1) {
    const { data, bytes } = readOnChainData(new BcsReader(referenceTransaction(version)));
    const { transaction } = data;
    if (transaction.kind !== 'user') continue;
    const signedBytes = bytes.transaction.subarray(1);
    found.push({ version, signed: transaction.transaction, signedBytes, data });
  }
  return found;
}

describe('a simulated transaction', () => {
  let folder: string;
  let store: StoreReader;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'daybook-simulation-'));
    await storeReferenceChain(folder);
    store = await openTestedReader({ directory: folder });
  });
  afterAll(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });

  it('is written as the reference writes what it has committed', () => {
    for (const { version, data } of userTransactions()) {
      const item = TransactionOnChainData.encode(data);
      expect(item.equals(referenceTransaction(version)), `${version}`).toBe(true);
    }
  });

  it('has the recorded outcome, gas, events and writes', async () => {
    const view = await openTestedLedger(store).view();
    const transactions = userTransactions();
    expect(transactions.length).toBe(1236);
    const failed = transactions.filter(({ data }) => data.info.status.kind !== 'success');
    expect(failed.length).toBe(156);
    for (const { version, signed, data } of someOf(transactions, 300)) {
      const ran = await view.simulate(signed, BigInt(version - 1));
      expect(ran.status, `${version}`).toEqual(data.info.status);
      expect(ran.gasUsed, `${version}`).toBe(data.info.gasUsed);
      expect(ran.events, `${version}`).toEqual(data.events);
      expect(written(ran.writes), `${version}`).toEqual(written(data.changes.writes));
    }
  });
});

/** Writes by key. No metadata counts as a zero deposit, which aggregator values have. */
function written(writes: readonly WriteSetEntry[]): Record<string, unknown> {
  return Object.fromEntries(
    writes.map(({ key, op }) => [
      physicalStateKey(key).toString('hex'),
      { ...op, metadata: op.metadata ?? { kind: 'v0', deposit: 0n, creationTimeUsecs: 0n } },
    ]),
  );
}
