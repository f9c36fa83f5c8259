/**
 * What a simulated transaction is said to use. The storage fee is that of the chain; the rest is an estimate, because
 * this machine does not price instructions (docs/spec/vm.md §8.6).
 */
import type { RawTransaction } from '../../move/transactions/user-transaction.ts';
import type { RunWork } from '../../vm/run-effects.ts';
import type { GasSchedule } from '../gas/gas-settings.ts';
import { intrinsicGas, unitsOf } from './gas-checks.ts';
import type { StateChange } from './state-changes.ts';
import type { StorageFees } from './storage-fees.ts';

/** Gas units but where octas are named. */
export interface GasUsed {
  readonly total: bigint;
  readonly execution: bigint;
  readonly io: bigint;
  readonly storageFeeOctas: bigint;
  readonly refundOctas: bigint;
}

/** Internal gas for a unit of work, at a minimum price of 100 octas: fitted to recorded transactions. */
const GAS_PER_UNIT = 23_000n;
/** Slots that a transaction reads besides those that its function looks at, and for each of these. */
const COMMON_READS = 6n;
const SLOTS_PER_READ = 2n;

/** What a transaction has done. */
interface Work {
  /** Before and after its function. */
  readonly before: RunWork;
  readonly after: RunWork;
  readonly changes: readonly StateChange[];
  readonly fees: StorageFees;
}

/** @param sizeBytes of the raw transaction */
export function estimateGas(
  schedule: GasSchedule,
  { maxGasAmount, gasUnitPrice }: RawTransaction,
  sizeBytes: number,
  { before, after, changes, fees }: Work,
): GasUsed {
  const of = (name: string): bigint => schedule.get(`txn.storage_io_per_${name}`) ?? 0n;
  const units = BigInt(before.unitsLeft - after.unitsLeft);
  const executed = intrinsicGas(schedule, sizeBytes) + units * GAS_PER_UNIT;
  const slotsRead = COMMON_READS + SLOTS_PER_READ * BigInt(after.reads - before.reads);
  let writtenBytes = 0;
  for (const { keyBytes, after: bytes } of changes) {
    writtenBytes += keyBytes.length + (bytes?.length ?? 0);
  }
  const moved =
    slotsRead * of('state_slot_read') +
    BigInt(changes.length) * of('state_slot_write') +
    BigInt(writtenBytes) * of('state_byte_write') +
    BigInt(sizeBytes) * of('transaction_byte_write');
  const { fee: storageFeeOctas, refund: refundOctas } = fees;
  const forStorage =
    gasUnitPrice === 0n ? 0n : (storageFeeOctas + gasUnitPrice - 1n) / gasUnitPrice;
  const execution = unitsOf(schedule, executed);
  const io = unitsOf(schedule, moved);
  const used = execution + io + forStorage;
  const total = used < maxGasAmount ? used : maxGasAmount;
  return { total, execution, io, storageFeeOctas, refundOctas };
}
