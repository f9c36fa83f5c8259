/** Pending transactions, their order in a block, and refusals (docs/spec/transactions.md §9.5). */
import { describe, expect, it } from 'vitest';
import { MEMPOOL_LIMITS, Mempool, type MempoolLimits } from '../../src/chain/mempool.ts';
import {
  type PendingTransaction,
  pendingTransaction,
} from '../../src/chain/pending-transaction.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import type { EntryFunction } from '../../src/move/transactions/executable.ts';
import { RawTransaction } from '../../src/move/transactions/user-transaction.ts';
import { ADDRESS_ONE, padAddress } from '../../src/move/types/address.ts';

const ALICE = padAddress('a11ce');
const BOB = padAddress('b0b');

interface Facts {
  readonly sender?: string;
  readonly price?: bigint;
  readonly nonce?: bigint;
  readonly expiration?: bigint;
  readonly maxGas?: bigint;
  readonly argument?: number;
}

function transactionOf(
  sequenceNumber: bigint,
  {
    sender = ALICE,
    price = 100n,
    nonce,
    expiration = 1_000n,
    maxGas = 5n,
    argument = 0,
  }: Facts = {},
): PendingTransaction {
  const call: EntryFunction = {
    kind: 'entryFunction',
    module: { address: ADDRESS_ONE, name: 'm' },
    function: 'f',
    typeArguments: [],
    args: [Buffer.of(argument)],
  };
  const config = { kind: 'v1', multisigAddress: undefined } as const;
  const raw = {
    ...{ sender, sequenceNumber, maxGasAmount: maxGas, gasUnitPrice: price, chainId: 4 },
    expirationTimestampSecs: expiration,
    payload:
      nonce === undefined
        ? call
        : ({
            kind: 'payload',
            executable: call,
            extraConfig: { ...config, replayProtectionNonce: nonce },
          } as const),
  };
  const authenticator = {
    kind: 'ed25519',
    publicKey: Buffer.alloc(32),
    signature: Buffer.alloc(64),
  } as const;
  const signed = encodeBcs((writer) => {
    RawTransaction.write(writer, raw);
    writer.uleb32(0).bytes(authenticator.publicKey).bytes(authenticator.signature);
  });
  return pendingTransaction({ raw, authenticator }, signed);
}

/** The sequence numbers or nonces in the order of the next block. */
function order(mempool: Mempool): string[] {
  return mempool.candidates().map(({ transaction: { raw }, nonce, sender }) => {
    const name = sender === ALICE ? 'alice' : 'bob';
    return nonce === undefined ? `${name} ${raw.sequenceNumber}` : `${name} nonce ${nonce}`;
  });
}

const limited = (limits: Partial<MempoolLimits>) => new Mempool({ ...MEMPOOL_LIMITS, ...limits });

describe('a mempool', () => {
  it('orders by price, and each account’s by their numbers', () => {
    const mempool = new Mempool();
    mempool.insert(transactionOf(1n, { price: 300n }), 0n);
    mempool.insert(transactionOf(0n), 0n);
    mempool.insert(transactionOf(7n, { sender: BOB, price: 200n }), 7n);
    mempool.insert(transactionOf(0n, { nonce: 9n, price: 250n }), 0n);
    expect(order(mempool)).toEqual(['alice nonce 9', 'bob 7', 'alice 0', 'alice 1']);
  });

  it('keeps what comes behind a gap until the gap is closed', () => {
    const mempool = new Mempool();
    mempool.insert(transactionOf(2n), 0n);
    mempool.insert(transactionOf(0n), 0n);
    expect(order(mempool)).toEqual(['alice 0']);
    expect(mempool.nextSequenceNumber(ALICE, 0n)).toBe(1n);
    mempool.insert(transactionOf(1n), 0n);
    expect(order(mempool)).toEqual(['alice 0', 'alice 1', 'alice 2']);
    for (const pending of mempool.candidates().slice(0, 2)) mempool.committed(pending);
    expect(order(mempool)).toEqual(['alice 2']);
    mempool.committed(mempool.candidates()[0]!);
    expect(mempool.hasCandidates).toBe(false);
    expect(mempool.size).toBe(0);
  });

  it('refuses a number that was used', () => {
    const text = 'transaction sequence number is 3, current sequence number is  4';
    const refused = { code: 'sequence_number_too_old', message: text };
    expect(() => new Mempool().insert(transactionOf(3n), 4n)).toThrow(
      expect.objectContaining(refused),
    );
  });

  it('takes the same again, replaces it for a higher price, and nothing else', () => {
    const mempool = new Mempool();
    mempool.insert(transactionOf(0n), 0n);
    mempool.insert(transactionOf(0n), 0n);
    expect(mempool.size).toBe(1);
    const refused = (facts: Facts, what: string) => {
      const message = `Transaction already in mempool with ${what}`;
      expect(() => mempool.insert(transactionOf(0n, facts), 0n)).toThrow(
        expect.objectContaining({ code: 'invalid_transaction_update', message }),
      );
    };
    refused({ argument: 1, price: 101n }, 'a different payload');
    refused({ expiration: 1_001n, price: 101n }, 'a different expiration timestamp');
    refused({ maxGas: 6n, price: 101n }, 'a different max gas amount');
    refused({ price: 99n }, 'a higher gas price');
    const dearer = transactionOf(0n, { price: 101n });
    mempool.insert(dearer, 0n);
    expect(mempool.size).toBe(1);
    expect(mempool.find(dearer.hash)).toBe(dearer);
    expect(mempool.find(transactionOf(0n).hash)).toBeUndefined();
  });

  it.each([99, 100, 101])('takes 100 of an account: %i', (count) => {
    const mempool = new Mempool();
    const insert = () => {
      for (let at = 0; at < count; at += 1) mempool.insert(transactionOf(BigInt(at) + 1n), 0n);
    };
    const text =
      'Mempool over capacity for account. Number of seq number transactions from account: 100 Capacity per account: 100';
    if (count <= 100) insert();
    else
      expect(insert).toThrow(expect.objectContaining({ code: 'mempool_is_full', message: text }));
    expect(mempool.size).toBe(Math.min(count, 100));
  });

  it.each([-1, 0, 1])('takes as many, and as many bytes, as its limits say: %i', (excess) => {
    const full = expect.objectContaining({ code: 'mempool_is_full' });
    const [first, second] = [transactionOf(0n), transactionOf(1n)];
    const bytes = first.bytes.length + second.bytes.length;
    const byCount = limited({ maxTransactions: 2 - excess });
    byCount.insert(first, 0n);
    if (excess === 1) expect(() => byCount.insert(second, 0n)).toThrow(full);
    else byCount.insert(second, 0n);
    const byBytes = limited({ maxBytes: bytes - excess });
    byBytes.insert(first, 0n);
    if (excess === 1) expect(() => byBytes.insert(second, 0n)).toThrow(full);
    else byBytes.insert(second, 0n);
    const byNonces = limited({ maxOrderlessOfAccount: 2 - excess });
    byNonces.insert(transactionOf(0n, { nonce: 1n }), 0n);
    const nonce = transactionOf(0n, { nonce: 2n });
    if (excess === 1) expect(() => byNonces.insert(nonce, 0n)).toThrow(full);
    else byNonces.insert(nonce, 0n);
  });

  it('gives up what waits for a missing one when it is full, for what can be executed', () => {
    const mempool = limited({ maxTransactions: 2 });
    const [first, second, parked] = [0n, 1n, 7n].map((number) => transactionOf(number));
    mempool.insert(first!, 0n);
    mempool.insert(parked!, 0n);
    const full = expect.objectContaining({ code: 'mempool_is_full' });
    expect(() => mempool.insert(transactionOf(5n), 0n)).toThrow(full);
    expect(mempool.find(parked!.hash)).toBe(parked);
    mempool.insert(second!, 0n);
    expect(mempool.all()).toEqual([first, second]);
    expect(() => mempool.insert(transactionOf(2n), 0n)).toThrow(full);
  });

  it('loses what has expired by the ledger’s time', () => {
    const mempool = new Mempool();
    mempool.insert(transactionOf(0n, { expiration: 10n }), 0n);
    mempool.insert(transactionOf(1n, { expiration: 11n }), 0n);
    mempool.expire(10n);
    expect(mempool.size).toBe(2);
    mempool.expire(11n);
    expect(mempool.size).toBe(1);
    const impatient = limited({ maxWaitMs: -1 });
    impatient.insert(transactionOf(0n), 0n);
    impatient.expire(0n);
    expect(impatient.size).toBe(0);
  });

  it('forgets all at once', () => {
    const mempool = new Mempool();
    mempool.insert(transactionOf(5n), 5n);
    expect(mempool.clear()).toBe(1);
    mempool.insert(transactionOf(0n), 0n);
    expect(order(mempool)).toEqual(['alice 0']);
  });
});
