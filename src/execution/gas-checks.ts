/** Checks of a transaction against the gas schedule before it runs (docs/spec/vm.md §8.5). */
import type { RawTransaction } from '../move/transactions/user-transaction.ts';
import { type GasPrices, scaleOf } from '../vm/gas/gas-meter.ts';
import type { StatusName } from '../vm/status/status.ts';
import type { GasSchedule } from './gas-settings.ts';

/**
 * The least internal gas of a transaction of some size.
 * @param schemes signature schemes that cost extra, by their names in the schedule
 */
export function intrinsicGas(
  prices: GasPrices,
  sizeBytes: number,
  schemes: readonly string[],
): number {
  const excess = Math.max(0, sizeBytes - prices.of('txn.large_transaction_cutoff'));
  const perByte = prices.of('txn.intrinsic_gas_per_byte');
  const size = prices.of('txn.min_transaction_gas_units') + perByte * excess;
  return schemes.reduce((sum, scheme) => sum + prices.of(`txn.${scheme}.base`), size);
}

/**
 * Why a transaction is refused for its size or its gas, in the order of the reference's checks.
 * @param sizeBytes of the transaction
 * @param intrinsic the least internal gas that it uses
 */
export function gasFailure(
  { maxGasAmount, gasUnitPrice }: RawTransaction,
  sizeBytes: number,
  intrinsic: number,
  prices: GasPrices,
): StatusName | undefined {
  const exceeds = (value: bigint, name: string): boolean => value > prices.limit(name);
  if (exceeds(BigInt(sizeBytes), 'txn.max_transaction_size_in_bytes')) {
    return 'EXCEEDED_MAX_TRANSACTION_SIZE';
  }
  if (exceeds(maxGasAmount, 'txn.maximum_number_of_gas_units')) {
    return 'MAX_GAS_UNITS_EXCEEDS_MAX_GAS_UNITS_BOUND';
  }
  if (maxGasAmount < Math.ceil(intrinsic / scaleOf(prices))) {
    return 'MAX_GAS_UNITS_BELOW_MIN_TRANSACTION_GAS_UNITS';
  }
  if (gasUnitPrice < prices.of('txn.min_price_per_gas_unit')) {
    return 'GAS_UNIT_PRICE_BELOW_MIN_BOUND';
  }
  if (exceeds(gasUnitPrice, 'txn.max_price_per_gas_unit')) return 'GAS_UNIT_PRICE_ABOVE_MAX_BOUND';
  return undefined;
}

/** The most gas units that a balance pays for at a price; not less than any transaction needs. */
export function largestGasAmount(schedule: GasSchedule, balance: bigint, price: bigint): bigint {
  const scale = schedule.get('txn.gas_unit_scaling_factor') ?? 1n;
  const least = (schedule.get('txn.min_transaction_gas_units') ?? 0n) / (scale === 0n ? 1n : scale);
  const paid = price === 0n ? balance : balance / price;
  const most = schedule.get('txn.maximum_number_of_gas_units') ?? paid;
  const affordable = paid > least ? paid : least;
  return affordable < most ? affordable : most;
}
