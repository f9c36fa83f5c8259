/** Limits of a simulated transaction's writes (docs/spec/vm.md §8.5), and their price (§8.6). */
import { describe, expect, it } from 'vitest';
import type { StateChange } from '../../src/execution/state-changes.ts';
import { isAboveWriteLimits, storageFees } from '../../src/execution/storage-fees.ts';
import { padAddress } from '../../src/move/types/address.ts';
import { StateKey } from '../../src/move/types/state-key.ts';
import type { StateValueMetadata } from '../../src/move/types/state-value.ts';
import { GasPrices } from '../../src/vm/gas/gas-meter.ts';

const SCHEDULE = new GasPrices(
  new Map([
    ['txn.max_write_ops_per_transaction', 3n],
    ['txn.max_bytes_per_write_op', 100n],
    ['txn.max_bytes_all_write_ops_per_transaction', 250n],
    ['txn.max_bytes_per_event', 50n],
    ['txn.max_bytes_all_events_per_transaction', 120n],
    ['txn.storage_fee_per_state_slot', 1_000n],
    ['txn.storage_fee_per_state_byte', 10n],
  ]),
  0,
);
/** Address and key of a table item. */
const KEY_BYTES = 33;

function change(
  nth: number,
  after: number | undefined,
  before?: number,
  metadata?: StateValueMetadata,
): StateChange {
  const key = { kind: 'tableItem', handle: padAddress('7'), key: Buffer.of(nth) } as const;
  return {
    key,
    keyBytes: StateKey.encode(key),
    before: { bytes: before === undefined ? undefined : Buffer.alloc(before), metadata },
    after: after === undefined ? undefined : Buffer.alloc(after),
    isCharged: true,
    isAggregate: false,
  };
}

const event = (bytes: number) =>
  ({ kind: 'v2', typeTag: { kind: 'u8' }, data: Buffer.alloc(bytes) }) as const;

describe('what is above the limits of writes', () => {
  const isAbove = (sizes: readonly number[]): boolean =>
    isAboveWriteLimits(
      sizes.map((size, nth) => change(nth, size - KEY_BYTES)),
      [],
      SCHEDULE,
    );
  const emits = (sizes: readonly number[]): boolean =>
    isAboveWriteLimits([], sizes.map(event), SCHEDULE);

  it.each([
    ['changes', isAbove([40, 40]), isAbove([40, 40, 40]), isAbove([40, 40, 40, 40])],
    ['bytes of a change', isAbove([99]), isAbove([100]), isAbove([101])],
    ['bytes of all', isAbove([90, 90, 69]), isAbove([90, 90, 70]), isAbove([90, 90, 71])],
    ['bytes of an event', emits([49]), emits([50]), emits([51])],
    ['bytes of all events', emits([50, 50, 19]), emits([50, 50, 20]), emits([50, 50, 21])],
  ])('%s', (_, below, at, above) => {
    expect([below, at, above]).toEqual([false, false, true]);
  });

  it('is a deletion as a change, not by its bytes', () => {
    const deleted = Array.from({ length: 3 }, (_, nth) => change(nth, undefined, 1_000));
    expect(isAboveWriteLimits(deleted, [], SCHEDULE)).toBe(false);
  });
});

describe('the storage fee', () => {
  const paid = {
    kind: 'v1',
    slotDeposit: 1_000n,
    bytesDeposit: 430n,
    creationTimeUsecs: 1n,
  } as const;
  const feeOf = (one: StateChange) => {
    const { fee, refund, metadata } = storageFees([one], SCHEDULE, 9n);
    return [fee, refund, metadata.get(one.keyBytes.toString('hex'))];
  };

  it('of a new value is for its slot and its bytes', () => {
    const made = { kind: 'v1', slotDeposit: 1_000n, bytesDeposit: 430n, creationTimeUsecs: 9n };
    expect(feeOf(change(1, 10))).toEqual([1_430n, 0n, made]);
  });

  it('of a longer value is for what was not paid', () => {
    expect(feeOf(change(1, 12, 10, paid))).toEqual([20n, 0n, { ...paid, bytesDeposit: 450n }]);
    expect(feeOf(change(1, 12, 13, paid))).toEqual([0n, 0n, paid]);
    const v0 = { kind: 'v0', deposit: 500n, creationTimeUsecs: 1n } as const;
    const priced = { kind: 'v1', slotDeposit: 500n, bytesDeposit: 20n, creationTimeUsecs: 1n };
    // Bytes that were never paid for remain free.
    expect(feeOf(change(1, 12, 10, v0))).toEqual([20n, 0n, priced]);
  });

  it('is given back with the value', () => {
    expect(feeOf(change(1, undefined, 10, paid))).toEqual([0n, 1_430n, paid]);
    expect(feeOf(change(1, undefined, 10))[1]).toBe(0n);
  });
});
