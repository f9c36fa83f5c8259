/**
 * Limits for the writes of one transaction, and what stored values cost: deposits for a slot and for its bytes, which
 * are refunded to whoever deletes the value (docs/spec/vm.md §8.6).
 */
import type { ContractEvent } from '../move/transactions/event.ts';
import type { WriteOp, WriteSetEntry } from '../move/transactions/write-set.ts';
import { ADDRESS_BYTES } from '../move/types/address.ts';
import type { StateKey } from '../move/types/state-key.ts';
import type { StateValueMetadata } from '../move/types/state-value.ts';
import type { GasPrices } from '../vm/gas/gas-meter.ts';
import type { World } from '../vm/world.ts';
import type { StateChange } from './state-changes.ts';

/** A feature flag of the reference: values have metadata. */
const SLOT_METADATA_FLAG = 19;

/** In octas. */
export interface StorageFees {
  readonly fee: bigint;
  readonly refund: bigint;
  /** New metadata of the values, by the BCS of their keys in hex. */
  readonly metadata: ReadonlyMap<string, StateValueMetadata>;
}

/** Metadata of values that are older than deposits. */
const NO_DEPOSIT: StateValueMetadata = { kind: 'v0', deposit: 0n, creationTimeUsecs: 0n };

/** @param timeUsecs of the state, in microseconds since 1970 */
export function storageFees(
  changes: readonly StateChange[],
  prices: GasPrices,
  timeUsecs: bigint,
): StorageFees {
  const perSlot = BigInt(prices.of('txn.storage_fee_per_state_slot'));
  const perByte = BigInt(prices.of('txn.storage_fee_per_state_byte'));
  const metadata = new Map<string, StateValueMetadata>();
  let fee = 0n;
  let refund = 0n;
  for (const { key, keyBytes, before, after, isAggregate } of changes) {
    const old = before.metadata ?? NO_DEPOSIT;
    if (after === undefined) {
      refund += depositOf(old);
      metadata.set(keyBytes.toString('hex'), old);
      continue;
    }
    const bytesDeposit = BigInt(keySize(key) + after.length) * perByte;
    if (before.bytes === undefined) {
      fee += perSlot + bytesDeposit;
      const deposits = { slotDeposit: perSlot, bytesDeposit, creationTimeUsecs: timeUsecs };
      metadata.set(keyBytes.toString('hex'), { kind: 'v1', ...deposits });
      continue;
    }
    const paid = old.kind === 'v1' ? old.bytesDeposit : 0n;
    if (after.length <= before.bytes.length || bytesDeposit <= paid) {
      if (!isAggregate) metadata.set(keyBytes.toString('hex'), old);
      continue;
    }
    const increase = BigInt(after.length - before.bytes.length) * perByte;
    const charge = increase < bytesDeposit - paid ? increase : bytesDeposit - paid;
    fee += charge;
    const { creationTimeUsecs } = old;
    const slotDeposit = old.kind === 'v1' ? old.slotDeposit : old.deposit;
    metadata.set(keyBytes.toString('hex'), {
      kind: 'v1',
      slotDeposit,
      bytesDeposit: paid + charge,
      creationTimeUsecs,
    });
  }
  return { fee, refund, metadata };
}

/** Whether changes or events exceed the gas schedule's limits for the writes of one transaction. */
export function isAboveWriteLimits(
  changes: readonly StateChange[],
  events: readonly ContractEvent[],
  prices: GasPrices,
): boolean {
  const exceeds = (count: number, name: string): boolean => count > prices.limit(`txn.max_${name}`);
  const exceedBytes = (sizes: readonly number[], one: string, all: string): boolean =>
    sizes.some((size) => exceeds(size, one)) ||
    exceeds(
      sizes.reduce((sum, size) => sum + size, 0),
      all,
    );
  const written = changes.flatMap(({ key, after }) =>
    after === undefined ? [] : [keySize(key) + after.length],
  );
  const emitted = events.map(({ data }) => data.length);
  return (
    exceeds(changes.length, 'write_ops_per_transaction') ||
    exceedBytes(written, 'bytes_per_write_op', 'bytes_all_write_ops_per_transaction') ||
    exceedBytes(emitted, 'bytes_per_event', 'bytes_all_events_per_transaction')
  );
}

/** The size of a key as the chain counts it, in bytes. */
export function keySize(key: StateKey): number {
  if (key.kind === 'accessPath') return ADDRESS_BYTES + key.path.length;
  if (key.kind === 'tableItem') return ADDRESS_BYTES + key.key.length;
  return key.kind === 'raw' ? key.bytes.length : 3 * ADDRESS_BYTES;
}

export function depositOf(metadata: StateValueMetadata): bigint {
  return metadata.kind === 'v0' ? metadata.deposit : metadata.slotDeposit + metadata.bytesDeposit;
}

/** Metadata of new values that nobody pays for. @param timeUsecs of the state, in microseconds since 1970 */
export function unpaidMetadata(world: World, timeUsecs: bigint): StateValueMetadata | undefined {
  if (!world.isFeatureEnabled(SLOT_METADATA_FLAG)) return undefined;
  return { kind: 'v0', deposit: 0n, creationTimeUsecs: timeUsecs };
}

/**
 * Converts changes to the entries of a write set.
 * @param priced metadata of values that were paid for, by the BCS of their keys in hex
 * @param unpaid metadata of other new values
 */
export function writesOf(
  changes: readonly StateChange[],
  priced: StorageFees['metadata'],
  unpaid: StateValueMetadata | undefined,
): WriteSetEntry[] {
  return changes.map(({ key, keyBytes, before, after }): WriteSetEntry => {
    const isNew = before.bytes === undefined;
    const metadata = priced.get(keyBytes.toString('hex')) ?? (isNew ? unpaid : before.metadata);
    const kind = isNew ? 'creation' : 'modification';
    const op: WriteOp =
      after === undefined ? { kind: 'deletion', metadata } : { kind, bytes: after, metadata };
    return { key, op };
  });
}
