/**
 * What one transaction may write, and what stored values cost: deposits for a slot and for its bytes, which whoever
 * deletes the value gets back (docs/spec/vm.md §8.6).
 */
import type { ContractEvent } from '../../move/transactions/event.ts';
import type { WriteOp, WriteSetEntry } from '../../move/transactions/write-set.ts';
import { ADDRESS_BYTES } from '../../move/types/address.ts';
import type { StateKey } from '../../move/types/state-key.ts';
import type { StateValueMetadata } from '../../move/types/state-value.ts';
import type { GasSchedule } from '../gas/gas-settings.ts';
import type { StateChange } from './state-changes.ts';

/** In octas. */
export interface StorageFees {
  readonly fee: bigint;
  readonly refund: bigint;
  /** What the values have then, by the BCS of their keys in hex. */
  readonly metadata: ReadonlyMap<string, StateValueMetadata>;
}

/** Of values that are older than deposits. */
const NO_DEPOSIT: StateValueMetadata = { kind: 'v0', deposit: 0n, creationTimeUsecs: 0n };

/** @param timeUsecs of the state, in microseconds since 1970 */
export function storageFees(
  changes: readonly StateChange[],
  schedule: GasSchedule,
  timeUsecs: bigint,
): StorageFees {
  const perSlot = schedule.get('txn.storage_fee_per_state_slot') ?? 0n;
  const perByte = schedule.get('txn.storage_fee_per_state_byte') ?? 0n;
  const metadata = new Map<string, StateValueMetadata>();
  let fee = 0n;
  let refund = 0n;
  for (const { key, keyBytes, before, after } of changes) {
    const old = before.metadata ?? NO_DEPOSIT;
    if (after === undefined) {
      refund += depositOf(old);
      metadata.set(keyBytes.toString('hex'), old);
      continue;
    }
    const bytesDeposit = BigInt(sizeOf(key) + after.length) * perByte;
    if (before.bytes === undefined) {
      fee += perSlot + bytesDeposit;
      const made = { slotDeposit: perSlot, bytesDeposit, creationTimeUsecs: timeUsecs };
      metadata.set(keyBytes.toString('hex'), { kind: 'v1', ...made });
      continue;
    }
    const paid = old.kind === 'v1' ? old.bytesDeposit : 0n;
    if (after.length <= before.bytes.length || bytesDeposit <= paid) {
      metadata.set(keyBytes.toString('hex'), old);
      continue;
    }
    fee += bytesDeposit - paid;
    const { creationTimeUsecs } = old;
    const slotDeposit = old.kind === 'v1' ? old.slotDeposit : old.deposit;
    metadata.set(keyBytes.toString('hex'), {
      kind: 'v1',
      slotDeposit,
      bytesDeposit,
      creationTimeUsecs,
    });
  }
  return { fee, refund, metadata };
}

/** Whether changes or events are more, or larger, than the gas schedule lets one transaction write. */
export function isAboveWriteLimits(
  changes: readonly StateChange[],
  events: readonly ContractEvent[],
  schedule: GasSchedule,
): boolean {
  const exceeds = (count: number, name: string): boolean => {
    const most = schedule.get(`txn.max_${name}`);
    return most !== undefined && BigInt(count) > most;
  };
  const exceedBytes = (sizes: readonly number[], one: string, all: string): boolean =>
    sizes.some((size) => exceeds(size, one)) ||
    exceeds(
      sizes.reduce((sum, size) => sum + size, 0),
      all,
    );
  const written = changes.flatMap(({ key, after }) =>
    after === undefined ? [] : [sizeOf(key) + after.length],
  );
  const emitted = events.map(({ data }) => data.length);
  return (
    exceeds(changes.length, 'write_ops_per_transaction') ||
    exceedBytes(written, 'bytes_per_write_op', 'bytes_all_write_ops_per_transaction') ||
    exceedBytes(emitted, 'bytes_per_event', 'bytes_all_events_per_transaction')
  );
}

/** The size of a key as the chain counts it, in bytes: code changes resources and table items only. */
function sizeOf(key: StateKey): number {
  if (key.kind === 'accessPath') return ADDRESS_BYTES + key.path.length;
  if (key.kind === 'tableItem') return ADDRESS_BYTES + key.key.length;
  throw new RangeError(`code does not write a key of kind ${key.kind}`);
}

function depositOf(metadata: StateValueMetadata): bigint {
  return metadata.kind === 'v0' ? metadata.deposit : metadata.slotDeposit + metadata.bytesDeposit;
}

/** Changes as a write set has them. */
export function writesOf(
  changes: readonly StateChange[],
  { metadata: priced }: StorageFees,
): WriteSetEntry[] {
  return changes.map(({ key, keyBytes, before, after }): WriteSetEntry => {
    // The epilogue changes values that are not priced.
    const metadata = priced.get(keyBytes.toString('hex')) ?? before.metadata;
    const kind = before.bytes === undefined ? 'creation' : 'modification';
    const op: WriteOp =
      after === undefined ? { kind: 'deletion', metadata } : { kind, bytes: after, metadata };
    return { key, op };
  });
}
