/** Charges besides those for code: transaction bytes, writes, events, deposits (docs/spec/gas.md §5). */
import { encodeBcs } from '../move/bcs/bcs-writer.ts';
import type { ContractEvent } from '../move/transactions/event.ts';
import { writeTypeTag } from '../move/types/type-tag.ts';
import type { GasMeter } from '../vm/gas/gas-meter.ts';
import type { StateChange } from './state-changes.ts';
import { isAboveWriteLimits, keySize, type StorageFees, storageFees } from './storage-fees.ts';
import { vmError } from './view-error.ts';

/** In gas units except where octas are named. */
export interface GasUsed {
  readonly total: bigint;
  readonly execution: bigint;
  readonly io: bigint;
  readonly storageFeeOctas: bigint;
  readonly refundOctas: bigint;
}

export interface ChangeSet {
  readonly changes: readonly StateChange[];
  readonly events: readonly ContractEvent[];
}

export interface ChargeTerms {
  readonly sizeBytes: number;
  /** Octas. */
  readonly gasUnitPrice: bigint;
  /** The time of the state, in microseconds since 1970, which new values record. */
  readonly timeUsecs: bigint;
}

/** Key and sequence number of an event of a handle. */
const EVENT_HANDLE_BYTES = 40 + 8;

/** Charges for what a transaction has changed. @throws VmError, ViewError STORAGE_WRITE_LIMIT_REACHED */
export function chargeChanges(gas: GasMeter, changed: ChangeSet, terms: ChargeTerms): StorageFees {
  const { prices } = gas;
  const { events } = changed;
  const changes = changed.changes.filter(({ isCharged }) => isCharged);
  if (isAboveWriteLimits(changes, events, prices)) throw vmError('STORAGE_WRITE_LIMIT_REACHED');
  gas.chargeIo(prices.of('txn.storage_io_per_transaction_byte_write') * terms.sizeBytes);
  const perEventByte = prices.of('txn.storage_io_per_event_byte_write');
  for (const event of events) gas.chargeIo(perEventByte * eventBytes(event));
  const perSlot = prices.of('txn.storage_io_per_state_slot_write');
  const perByte = prices.of('txn.storage_io_per_state_byte_write');
  for (const { key, after } of changes) {
    gas.chargeIo(perSlot + perByte * (keySize(key) + (after?.length ?? 0)));
  }
  const fees = storageFees(changes, prices, terms.timeUsecs);
  if (terms.gasUnitPrice > 0n) gas.chargeStorageFee(Number(fees.fee), Number(terms.gasUnitPrice));
  return fees;
}

function eventBytes({ kind, typeTag, data }: ContractEvent): number {
  const tag = encodeBcs((writer) => writeTypeTag(writer, typeTag));
  return (kind === 'v1' ? EVENT_HANDLE_BYTES : 0) + tag.length + data.length;
}

export function gasUsed(gas: GasMeter, maxGasAmount: bigint, refundOctas: bigint): GasUsed {
  const { totals, balance, scale } = gas;
  const units = (amount: number): bigint => BigInt(Math.ceil(amount / scale));
  return {
    total: maxGasAmount - BigInt(Math.floor(balance / scale)),
    execution: units(totals.execution),
    io: units(totals.io),
    storageFeeOctas: BigInt(totals.storageFeeOctas),
    refundOctas,
  };
}
