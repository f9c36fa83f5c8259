/**
 * The chain's settings for gas prices: the gas schedule and the execution configuration
 * (docs/spec/transactions.md §7).
 */

import { copiedBytes } from '../cache.ts';
import { andThen, type MaybePromise, settle } from '../maybe-promise.ts';
import { BcsError, BcsReader, decodeBcs } from '../move/bcs/bcs-reader.ts';
import { ADDRESS_ONE } from '../move/types/address.ts';
import { frameworkTag } from '../move/types/framework-tag.ts';
import { type HashedStateKey, hashedStateKey, resourceStateKey } from '../move/types/state-key.ts';
import { LedgerError } from '../state/ledger-error.ts';
import type { PruningGuard } from '../state/pruning-guard.ts';
import { GasPrices } from '../vm/gas/gas-meter.ts';
import { InstructionPrices } from '../vm/gas/instruction-prices.ts';

function keyOf(module: string, name: string): HashedStateKey {
  return hashedStateKey(resourceStateKey(ADDRESS_ONE, frameworkTag(module, name)));
}

const SCHEDULE_V2 = keyOf('gas_schedule', 'GasScheduleV2');
const SCHEDULE_V1 = keyOf('gas_schedule', 'GasSchedule');
const EXECUTION_CONFIG = keyOf('execution_config', 'ExecutionConfig');

const MIN_PRICE = 'txn.min_price_per_gas_unit';
/** Bytes of an entry with an empty name. */
const MIN_ENTRY_BYTES = 9;

/** Settings that decide whether a block is full. */
export interface BlockLimits {
  /** Gas that fills a block; `undefined` for a chain without a limit. */
  readonly gas: bigint | undefined;
  /** Whether transactions are ordered so that one application does not fill a block for others. */
  readonly isUseCaseAware: boolean;
}

const NO_LIMITS: BlockLimits = { gas: undefined, isUseCaseAware: false };

/** Numbers of the chain by their names, such as `txn.maximum_number_of_gas_units`. */
export type GasSchedule = ReadonlyMap<string, bigint>;

/** The lowest gas price that the chain accepts. @throws LedgerError `internal_error` if the chain has none */
export function minGasPrice(guard: PruningGuard, version: bigint): MaybePromise<bigint> {
  return andThen(gasSchedule(guard, version), (schedule) => schedule.get(MIN_PRICE)!);
}

/** The gas schedule, which has the lowest price. @throws LedgerError `internal_error` for a chain without one */
export function gasSchedule(guard: PruningGuard, version: bigint): MaybePromise<GasSchedule> {
  const isV2 = true;
  return andThen(readSchedule(guard, SCHEDULE_V2, isV2, version), (schedule) =>
    andThen(schedule ?? readSchedule(guard, SCHEDULE_V1, !isV2, version), (found) => {
      if (found !== undefined) return found;
      throw new LedgerError('internal_error', 'Failed to retrieve gas schedule');
    }),
  );
}

/** The prices of the newest schedule that was requested: nearly all transactions run under it. */
let newest: { readonly bytes: Buffer; readonly prices: InstructionPrices } | undefined;

/** The gas schedule in the machine's form. @throws LedgerError `internal_error` for a chain without one */
export function gasPrices(guard: PruningGuard, version: bigint): MaybePromise<InstructionPrices> {
  return andThen(guard.state(ADDRESS_ONE, SCHEDULE_V2, version), (entry) => {
    const bytes = entry?.bytes ?? Buffer.alloc(0);
    if (newest?.bytes.equals(bytes) === true && bytes.length > 0) return newest.prices;
    return andThen(gasSchedule(guard, version), (schedule) => {
      const featureVersion = bytes.length === 0 ? 0n : new BcsReader(bytes).u64();
      const prices = new InstructionPrices(new GasPrices(schedule, Number(featureVersion)));
      if (bytes.length > 0) newest = { bytes: copiedBytes(bytes), prices };
      return prices;
    });
  });
}

/** The same for views, which run on a ledger without a schedule, too. */
export function viewPrices(
  guard: PruningGuard,
  version: bigint,
): MaybePromise<InstructionPrices | undefined> {
  return settle<InstructionPrices, InstructionPrices | undefined>(
    () => gasPrices(guard, version),
    (prices) => prices,
    (failure) => {
      if (failure instanceof LedgerError && failure.code === 'internal_error') return undefined;
      throw failure;
    },
  );
}

function readSchedule(
  guard: PruningGuard,
  key: HashedStateKey,
  hasFeatureVersion: boolean,
  version: bigint,
): MaybePromise<GasSchedule | undefined> {
  return readConfig(guard, key, version, (reader) => {
    if (hasFeatureVersion) reader.u64();
    const entries = reader.vector(
      MIN_ENTRY_BYTES,
      (inner) => [inner.string(), inner.u64()] as const,
    );
    // If a name occurs twice, the last entry counts.
    const schedule = new Map(entries);
    return schedule.has(MIN_PRICE) ? schedule : undefined;
  });
}

/** The limits of blocks; no limits if the chain sets none. */
export function blockLimits(guard: PruningGuard, version: bigint): MaybePromise<BlockLimits> {
  const found = readConfig(guard, EXECUTION_CONFIG, version, (reader) =>
    decodeBcs(reader.bytes(), readExecutionConfig),
  );
  return andThen(found, (limits) => limits ?? NO_LIMITS);
}

/** A resource of the framework; `undefined` if it is missing or does not decode. */
function readConfig<T>(
  guard: PruningGuard,
  key: HashedStateKey,
  version: bigint,
  read: (reader: BcsReader) => T,
): MaybePromise<T | undefined> {
  return andThen(guard.state(ADDRESS_ONE, key, version), (entry) => {
    if (entry?.bytes === undefined) return undefined;
    try {
      return decodeBcs(entry.bytes, read);
    } catch (error) {
      if (error instanceof BcsError) return undefined;
      throw error;
    }
  });
}

/** Variants of the configuration; the settings after the gas limit do not matter here. */
const CONFIG_VARIANTS = 8;
const CONFIG_MISSING = 3;

function readExecutionConfig(reader: BcsReader): BlockLimits {
  const variant = reader.variant(CONFIG_VARIANTS, 'OnChainExecutionConfig');
  if (variant === CONFIG_MISSING) return NO_LIMITS;
  const isUseCaseAware = readShuffler(reader);
  const gas =
    variant === 0
      ? undefined
      : variant < CONFIG_MISSING
        ? reader.option((inner) => inner.u64())
        : readGasLimit(reader);
  reader.skip(reader.remaining);
  return { gas, isUseCaseAware };
}

/** Whether the shuffler takes use cases into account. */
function readShuffler(reader: BcsReader): boolean {
  const variant = reader.variant(6, 'TransactionShufflerType');
  if (variant === 1 || variant === 2) reader.u32();
  if (variant < 4) return false;
  for (let field = 0; field < 3; field += 1) reader.u64();
  return true;
}

function readGasLimit(reader: BcsReader): bigint | undefined {
  const variant = reader.variant(3, 'BlockGasLimitType');
  return variant === 0 ? undefined : reader.u64();
}
