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
import {
  readOnChainData,
  type TransactionOnChainData,
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
/** Where a sequence number is in the BCS of an account: behind its key of 32 bytes and their number. */
const SEQUENCE_NUMBER_OFFSET = 33;

interface UserTransaction {
  readonly version: number;
  readonly signed: SignedTransaction;
  readonly data: TransactionOnChainData;
}

function userTransactions(): UserTransaction[] {
  const found: UserTransaction[] = [];
  for (let version = 1; version <= NEWEST_VERSION; version += 1) {
    const { data } = readOnChainData(new BcsReader(referenceTransaction(version)));
    const { transaction } = data;
    if (transaction.kind !== 'user') continue;
    found.push({ version, signed: transaction.transaction, data });
  }
  return found;
}

function gasPayer({ raw, authenticator }: SignedTransaction): Address {
  return authenticator.kind === 'feePayer' ? authenticator.feePayerAddress : raw.sender;
}

function bytesOf({ op }: WriteSetEntry): Buffer | undefined {
  return writtenValue(op)?.bytes;
}

/** What the end of a transaction may write besides its function. */
type FeeWrite = 'account' | 'store' | 'supply' | 'nonce' | undefined;

function feeWriteOf(key: StateKey, signed: SignedTransaction): FeeWrite {
  const isOrderless = signed.raw.payload.kind === 'payload';
  if (key.kind === 'tableItem') return isOrderless ? 'nonce' : undefined;
  if (key.kind !== 'accessPath') return undefined;
  const { parsed, address } = key;
  if (parsed?.kind === 'resource') {
    const { module, name } = parsed.tag;
    const isAccount = module === 'account' && name === 'Account';
    return isAccount && address === signed.raw.sender ? 'account' : undefined;
  }
  if (address === ASSET) return 'supply';
  const store = primaryStoreOf(addressBytes(gasPayer(signed)), addressBytes(ASSET));
  return address === addressFromBytes(Buffer.from(store)) ? 'store' : undefined;
}

/** An account's BCS without its sequence number. */
function withoutNumber(bytes: Buffer): string {
  const end = SEQUENCE_NUMBER_OFFSET + 8;
  return bytes.toString('hex', 0, SEQUENCE_NUMBER_OFFSET) + bytes.toString('hex', end);
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
      const [left, right] = [bytesOf(own), bytesOf(theirs)];
      if (left === undefined || right === undefined || left.equals(right)) {
        expect(left, `${version}`).toEqual(right);
        equal += 1;
        continue;
      }
      const of = feeWriteOf(theirs.key, signed);
      if (of === 'account') {
        expect(withoutNumber(left), `${version}`).toBe(withoutNumber(right));
      } else if (of === 'store' || of === 'supply') {
        const fee = data.info.gasUsed * signed.raw.gasUnitPrice;
        expect(differByFee(left, right, fee), `${version}`).toBe(true);
      } else {
        expect.fail(`${version}: ${keyText(theirs.key)} is another`);
      }
    }
    return equal;
  }

  it('has the recorded outcome, events and writes', async () => {
    const view = await openTestedLedger(store).view();
    const storeView = new StoreView(store, { ...view.state, frozenRoots: [] });
    const counts = { equalWrites: 0, failures: 0, refused: [] as string[] };
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
      const events = data.events.filter(({ typeTag }) => formatTypeTag(typeTag) !== FEE_STATEMENT);
      if (ran.status.kind !== 'success') {
        expect(ran.writes).toEqual([]);
        expect(ran.events).toEqual([]);
        counts.failures += 1;
        continue;
      }
      expect(ran.events, `${version}`).toEqual(events);
      counts.equalWrites += expectWrites(ran, transaction);
      const ours = new Set(ran.writes.map(({ key }) => keyText(key)));
      for (const theirs of data.changes.writes) {
        if (ours.has(keyText(theirs.key)) || feeWriteOf(theirs.key, signed)) continue;
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
    expect(counts.equalWrites).toBe(1_169);
  }, 600_000);
});

function keyText(key: StateKey): string {
  return physicalStateKey(key).toString('hex');
}
