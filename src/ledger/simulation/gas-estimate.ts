/** What a simulated transaction is said to cost: not what it will cost (docs/spec/vm.md §8.6). */
import type { RawTransaction } from '../../move/transactions/user-transaction.ts';
import type { GasSchedule } from '../gas/gas-settings.ts';
import { intrinsicGas, unitsOf } from './gas-checks.ts';
import type { StorageFees } from './storage-fees.ts';

/** Gas units but where octas are named. */
export interface GasUsed {
  readonly total: bigint;
  readonly execution: bigint;
  readonly io: bigint;
  readonly storageFeeOctas: bigint;
  readonly refundOctas: bigint;
}

/** @param used what a transaction has done so far */
export function estimateGas(
  schedule: GasSchedule,
  { maxGasAmount, gasUnitPrice }: RawTransaction,
  sizeBytes: number,
  { fee: storageFeeOctas, refund: refundOctas }: StorageFees,
): GasUsed {
  const execution = unitsOf(schedule, intrinsicGas(schedule, sizeBytes));
  const io = 0n;
  const forStorage =
    gasUnitPrice === 0n ? 0n : (storageFeeOctas + gasUnitPrice - 1n) / gasUnitPrice;
  const used = execution + io + forStorage;
  const total = used < maxGasAmount ? used : maxGasAmount;
  return { total, execution, io, storageFeeOctas, refundOctas };
}
