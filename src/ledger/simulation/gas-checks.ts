/** What the gas schedule says of a transaction before it runs (docs/spec/vm.md §8.5). */
import type { RawTransaction } from '../../move/transactions/user-transaction.ts';
import type { StatusName } from '../../vm/status.ts';
import type { GasSchedule } from '../gas/gas-settings.ts';

/** Gas units of a transaction of some size, at least; a unit is the schedule's scaling factor of internal gas. */
export function intrinsicGas(schedule: GasSchedule, sizeBytes: number): bigint {
  const { min, cutoff, perByte } = {
    min: schedule.get('txn.min_transaction_gas_units') ?? 0n,
    cutoff: schedule.get('txn.large_transaction_cutoff') ?? 0n,
    perByte: schedule.get('txn.intrinsic_gas_per_byte') ?? 0n,
  };
  const size = BigInt(sizeBytes);
  return size > cutoff ? min + (size - cutoff) * perByte : min;
}

/** Gas units for internal gas. */
export function unitsOf(schedule: GasSchedule, internalGas: bigint): bigint {
  const scale = schedule.get('txn.gas_unit_scaling_factor') ?? 1n;
  return scale === 0n ? internalGas : (internalGas + scale - 1n) / scale;
}

/**
 * Why a transaction is refused for its size or its gas, in the order of the reference's checks.
 * @param sizeBytes of the raw transaction
 */
export function gasFailure(
  { maxGasAmount, gasUnitPrice }: RawTransaction,
  sizeBytes: number,
  schedule: GasSchedule,
): StatusName | undefined {
  const exceeds = (value: bigint, name: string): boolean => {
    const most = schedule.get(name);
    return most !== undefined && value > most;
  };
  if (exceeds(BigInt(sizeBytes), 'txn.max_transaction_size_in_bytes')) {
    return 'EXCEEDED_MAX_TRANSACTION_SIZE';
  }
  if (exceeds(maxGasAmount, 'txn.maximum_number_of_gas_units')) {
    return 'MAX_GAS_UNITS_EXCEEDS_MAX_GAS_UNITS_BOUND';
  }
  if (maxGasAmount < unitsOf(schedule, intrinsicGas(schedule, sizeBytes))) {
    return 'MAX_GAS_UNITS_BELOW_MIN_TRANSACTION_GAS_UNITS';
  }
  if (gasUnitPrice < (schedule.get('txn.min_price_per_gas_unit') ?? 0n)) {
    return 'GAS_UNIT_PRICE_BELOW_MIN_BOUND';
  }
  if (exceeds(gasUnitPrice, 'txn.max_price_per_gas_unit')) return 'GAS_UNIT_PRICE_ABOVE_MAX_BOUND';
  return undefined;
}

/** The largest amount of gas units that a balance pays for at a price; not less than any transaction needs. */
export function largestGasAmount(schedule: GasSchedule, balance: bigint, price: bigint): bigint {
  const scale = schedule.get('txn.gas_unit_scaling_factor') ?? 1n;
  const least = (schedule.get('txn.min_transaction_gas_units') ?? 0n) / (scale === 0n ? 1n : scale);
  const paid = price === 0n ? balance : balance / price;
  const most = schedule.get('txn.maximum_number_of_gas_units') ?? paid;
  const wanted = paid > least ? paid : least;
  return wanted < most ? wanted : most;
}
