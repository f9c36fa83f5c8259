/**
 * Recorded transactions of users, run again on the state before them: the same outcome, the same events and the same
 * writes, but for what comes from fees and sequence numbers (docs/spec/vm.md §8).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Simulated } from '../../src/ledger/simulation/simulate.ts';
import { ViewError } from '../../src/ledger/views/view-error.ts';
import { BcsReader } from '../../src/move/bcs/bcs-reader.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import {
  readOnChainData,
  type TransactionOnChainData,
  writeUserTransactionItem,
} from '../../src/move/transactions/transaction.ts';
import type { SignedTransaction } from '../../src/move/transactions/user-transaction.ts';
import { type WriteSetEntry, writtenValue } from '../../src/move/transactions/write-set.ts';
import {
  type Address,
  addressBytes,
  addressFromBytes,
  padAddress,
} from '../../src/move/types/address.ts';
import { primaryStoreOf } from '../../src/move/types/derived-address.ts';
import { hashedStateKey, physicalStateKey, type StateKey } from '../../src/move/types/state-key.ts';
import { formatTypeTag } from '../../src/move/types/type-tag.ts';
import type { StoreReader } from '../../src/store/store.ts';
import { StoreView } from '../../src/store/view.ts';
import { openTestedLedger, openTestedReader } from '../api/tested-ledger.ts';
import { NEWEST_VERSION, referenceTransaction, storeReferenceChain } from './reference-chain.ts';

const FEE_STATEMENT = '0x1::transaction_fee::FeeStatement';
const ASSET = padAddress('a');
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

function gasPayer({ raw, authenticator }: SignedTransaction): Address {
  return authenticator.kind === 'feePayer' ? authenticator.feePayerAddress : raw.sender;
}

function bytesOf({ op }: WriteSetEntry): Buffer | undefined {
  return writtenValue(op)?.bytes;
}

/** Whether a key is of what pays the fee: the store of the payer, or the supply. */
function isOfFee(key: StateKey, signed: SignedTransaction): boolean {
  if (key.kind !== 'accessPath' || key.parsed?.kind !== 'resourceGroup') return false;
  if (key.address === ASSET) return true;
  const store = primaryStoreOf(addressBytes(gasPayer(signed)), addressBytes(ASSET));
  return key.address === addressFromBytes(Buffer.from(store));
}

/** Whether two values differ by one u64 that is smaller by the fee. */
function differByFee(ours: Buffer, theirs: Buffer, fee: bigint): boolean {
  if (ours.length !== theirs.length) return false;
  const first = ours.findIndex((byte, index) => byte !== theirs[index]);
  for (let at = Math.max(0, first - 7); at <= Math.min(first, ours.length - 8); at += 1) {
    if (ours.readBigUInt64LE(at) - fee !== theirs.readBigUInt64LE(at)) continue;
    if (ours.subarray(at + 8).equals(theirs.subarray(at + 8))) return true;
  }
  return false;
}

/** Nothing is the same as a deposit of nothing: values that only aggregators change have either. */
function depositOf({ op }: WriteSetEntry): unknown {
  return op.metadata ?? { kind: 'v0', deposit: 0n, creationTimeUsecs: 0n };
}

/** Events, without the numbers in what says the fee. */
function withoutFees(events: Simulated['events']): unknown[] {
  return events.map((event) =>
    formatTypeTag(event.typeTag) === FEE_STATEMENT ? FEE_STATEMENT : event,
  );
}

/** What the fee statement says: gas units, and octas of the storage fee and its refund. */
function feesIn(events: Simulated['events']): { total: number; storage: readonly bigint[] } {
  const statement = events.find(({ typeTag }) => formatTypeTag(typeTag) === FEE_STATEMENT)!;
  const numbers = [0, 1, 2, 3, 4].map((index) => statement.data.readBigUInt64LE(index * 8));
  return { total: Number(numbers[0]), storage: numbers.slice(3) };
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

  function expectWrites(ran: Simulated, { data, signed, version }: UserTransaction): number {
    const ours = new Map(ran.writes.map((entry) => [keyText(entry.key), entry]));
    const recorded = data.changes.writes.filter(({ key }) => ours.has(keyText(key)));
    expect([...ours.keys()], `${version}`).toEqual(recorded.map(({ key }) => keyText(key)));
    let equal = 0;
    for (const theirs of data.changes.writes) {
      const own = ours.get(keyText(theirs.key));
      if (own === undefined) continue;
      expect(own.op.kind).toBe(theirs.op.kind);
      expect(depositOf(own), `${version} ${keyText(theirs.key)}`).toEqual(depositOf(theirs));
      const [left, right] = [bytesOf(own), bytesOf(theirs)];
      if (left === undefined || right === undefined || left.equals(right)) {
        expect(left, `${version}`).toEqual(right);
        equal += 1;
        continue;
      }
      expect(isOfFee(theirs.key, signed), `${version} ${keyText(theirs.key)}`).toBe(true);
      const fee = (data.info.gasUsed - ran.gasUsed) * signed.raw.gasUnitPrice;
      expect(differByFee(left, right, fee), `${version}`).toBe(true);
    }
    return equal;
  }

  it('is written as the reference writes what it has committed', () => {
    for (const { version, data, signedBytes } of userTransactions()) {
      const { writes } = data.changes;
      const item = encodeBcs((writer) =>
        writeUserTransactionItem(writer, signedBytes, { ...data, writes }),
      );
      expect(item.equals(referenceTransaction(version)), `${version}`).toBe(true);
    }
  });

  it('has the recorded outcome, events and writes', async () => {
    const view = await openTestedLedger(store).view();
    const storeView = new StoreView(store, { ...view.state, frozenRoots: [] });
    const counts = {
      equalWrites: 0,
      failures: 0,
      refused: [] as string[],
      farEstimates: 0,
      highest: 1,
      lowest: 1,
    };
    const transactions = userTransactions();
    expect(transactions.length).toBe(1236);
    for (const transaction of transactions) {
      const { version, signed, data } = transaction;
      const before = BigInt(version - 1);
      let ran: Simulated;
      try {
        ran = await view.simulate(signed, before);
      } catch (error) {
        if (!(error instanceof ViewError)) throw error;
        counts.refused.push(error.message);
        continue;
      }
      expect(ran.status, `${version}`).toEqual(data.info.status);
      if (ran.status.kind !== 'success') counts.failures += 1;
      expect(withoutFees(ran.events), `${version}`).toEqual(withoutFees(data.events));
      const [ours, theirs] = [feesIn(ran.events), feesIn(data.events)];
      expect(ours.storage, `${version}`).toEqual(theirs.storage);
      if (Math.abs(ours.total / theirs.total - 1) > 0.1) counts.farEstimates += 1;
      counts.highest = Math.max(counts.highest, ours.total / theirs.total);
      counts.lowest = Math.min(counts.lowest, ours.total / theirs.total);
      counts.equalWrites += expectWrites(ran, transaction);
      const written = new Set(ran.writes.map(({ key }) => keyText(key)));
      for (const theirs of data.changes.writes) {
        if (written.has(keyText(theirs.key))) continue;
        // Written as it was: no change.
        const { key } = theirs;
        const entry = await storeView.state(hashedStateKey(key), before);
        expect(entry?.bytes, `${version} ${keyText(key)}`).toEqual(bytesOf(theirs));
      }
    }
    expect(counts.refused.sort()).toEqual([
      'native function code::request_publish is not supported',
      'native function code::request_publish is not supported',
      'native function code::request_publish is not supported',
      'native function consensus_config::validator_txn_enabled_internal is not supported',
    ]);
    expect(counts.failures).toBe(156);
    expect(counts.equalWrites).toBe(3_629);
    // Gas is an estimate but for the storage fee; those that fail do less than is guessed.
    expect(counts.farEstimates).toBe(161);
    expect(counts.lowest).toBeGreaterThan(0.89);
    expect(counts.highest).toBeLessThan(1.7);
  }, 600_000);
});

function keyText(key: StateKey): string {
  return physicalStateKey(key).toString('hex');
}
