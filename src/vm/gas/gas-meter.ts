/**
 * Counts the gas of one run (docs/spec/gas.md §2). Amounts are internal gas: a gas unit is
 * `txn.gas_unit_scaling_factor` of it. They stay far below 2^53, because the balance does.
 */
import { type Address, isReservedAddress } from '../../move/types/address.ts';
import { type ModuleId, moduleKey } from '../../move/types/module-id.ts';
import type { Layout } from '../../move/values/layout.ts';
import { VmError } from '../status/status.ts';

/**
 * The gas schedule of a chain by which the machine charges (docs/spec/gas.md §1): numbers by name, such as
 * `instr.add`.
 */
export type GasSchedule = ReadonlyMap<string, bigint>;

/** The highest version of the schedule that names nothing the machine would charge for. */
const NO_VERSION = 0;

export class GasPrices {
  /** Decides what is charged at all; 0 for a chain without one. */
  readonly featureVersion: number;
  readonly #numbers = new Map<string, number>();

  constructor(schedule: GasSchedule, featureVersion: number) {
    this.featureVersion = featureVersion;
    for (const [name, number] of schedule) this.#numbers.set(name, Number(number));
  }

  /** The number of a name; 0 if the chain has none. */
  of(name: string): number {
    return this.#numbers.get(name) ?? 0;
  }

  /** A limit by its name; infinite if the chain has none. */
  limit(name: string): number {
    return this.#numbers.get(name) ?? Number.POSITIVE_INFINITY;
  }
}

/** Internal gas of a gas unit. */
export function scaleOf(prices: GasPrices): number {
  return prices.of('txn.gas_unit_scaling_factor') || 1;
}

/** Everything is free: for code that the chain runs for itself. */
export const NO_PRICES = new GasPrices(new Map(), NO_VERSION);

/** The first version of the schedule that limits each kind of gas. */
const LIMITS_SINCE = 7;
/** The first version that charges for modules that are loaded. */
const DEPENDENCIES_SINCE = 15;
/** The first version that counts the remaining gas as used when gas runs out. */
const REST_COUNTED_SINCE = 12;
const PAGE_BYTES = 4_096;

/** Gas used, in internal gas; the storage fee also in octas. */
interface GasTotals {
  readonly execution: number;
  readonly io: number;
  readonly storage: number;
  readonly storageFeeOctas: number;
}

export class GasMeter {
  readonly prices: GasPrices;
  /** All internal gas that was granted. */
  #granted: number;
  #balance: number;
  #execution = 0;
  #io = 0;
  #storage = 0;
  #storageFeeOctas = 0;
  readonly #maxExecution: number;
  readonly #maxIo: number;
  readonly #maxStorageFee: number;
  readonly #visited = new Set<string>();
  #dependencies = 0;
  #dependencyBytes = 0;

  /** @param balance internal gas that may be used */
  constructor(prices: GasPrices, balance: number) {
    this.prices = prices;
    this.#granted = balance;
    this.#balance = balance;
    const limit = (name: string) =>
      prices.featureVersion < LIMITS_SINCE ? Number.POSITIVE_INFINITY : prices.limit(name);
    this.#maxExecution = limit('txn.max_execution_gas');
    this.#maxIo = limit('txn.max_io_gas');
    this.#maxStorageFee = limit('txn.max_storage_fee');
  }

  get balance(): number {
    return this.#balance;
  }

  /** All that was charged, in internal gas. */
  get spent(): number {
    // Nothing is charged if the balance is unlimited.
    return this.#balance === Number.POSITIVE_INFINITY ? 0 : this.#granted - this.#balance;
  }

  /** Internal gas of a gas unit. */
  get scale(): number {
    return scaleOf(this.prices);
  }

  get totals(): GasTotals {
    return {
      execution: this.#execution,
      io: this.#io,
      storage: this.#storage,
      storageFeeOctas: this.#storageFeeOctas,
    };
  }

  /** @throws VmError OUT_OF_GAS, EXECUTION_LIMIT_REACHED */
  charge(amount: number): void {
    const left = this.#balance - amount;
    if (left < 0) {
      this.#execution += this.#rest();
      throw new VmError('OUT_OF_GAS');
    }
    this.#balance = left;
    this.#execution += amount;
    if (this.#execution > this.#maxExecution) throw new VmError('EXECUTION_LIMIT_REACHED');
  }

  /** Adds internal gas that may be used. */
  add(amount: number): void {
    this.#granted += amount;
    this.#balance += amount;
  }

  /** Refunds the price of an instruction that has not run yet. */
  refund(amount: number): void {
    this.#balance += amount;
    this.#execution -= amount;
  }

  /** Charges by a name of the schedule, for each of some units. */
  chargeFor(name: string, units = 1): void {
    this.charge(this.prices.of(name) * units);
  }

  /** @throws VmError OUT_OF_GAS, IO_LIMIT_REACHED */
  chargeIo(amount: number): void {
    const left = this.#balance - amount;
    if (left < 0) {
      this.#io += this.#rest();
      throw new VmError('OUT_OF_GAS');
    }
    this.#balance = left;
    this.#io += amount;
    if (this.#io > this.#maxIo) throw new VmError('IO_LIMIT_REACHED');
  }

  /** Charges for the first read of a value of state, in whole pages. @param bytes 0 if it does not exist */
  chargeRead(bytes: number): void {
    const { prices } = this;
    const pages = Math.ceil(bytes / PAGE_BYTES);
    this.chargeIo(
      prices.of('txn.storage_io_per_state_slot_read') +
        prices.of('txn.storage_io_per_state_byte_read') * pages * PAGE_BYTES,
    );
  }

  /** Charges for the first read of a table item. @param bytes `undefined` if it does not exist */
  chargeTableRead(bytes: number | undefined): void {
    const { prices } = this;
    const last = bytes === undefined ? 'table.common.load.failure' : 'table.common.load.per_byte';
    const units = bytes === undefined ? 1 : Math.ceil(bytes / PAGE_BYTES) * PAGE_BYTES;
    this.charge(prices.of('table.common.load.base_new') + prices.of(last) * units);
  }

  /** Charges the storage fee, in octas at a price of a gas unit. @throws VmError OUT_OF_GAS, STORAGE_LIMIT_REACHED */
  chargeStorageFee(octas: number, gasUnitPrice: number): void {
    const amount = Number(
      (BigInt(octas) * BigInt(this.scale) + BigInt(gasUnitPrice) - 1n) / BigInt(gasUnitPrice),
    );
    const left = this.#balance - amount;
    if (left < 0) {
      this.#storage += this.#rest();
      if (this.prices.featureVersion >= REST_COUNTED_SINCE) this.#storageFeeOctas += octas;
      throw new VmError('OUT_OF_GAS');
    }
    this.#balance = left;
    this.#storage += amount;
    this.#storageFeeOctas += octas;
    if (this.#storageFeeOctas > this.#maxStorageFee) throw new VmError('STORAGE_LIMIT_REACHED');
  }

  /**
   * Charges for a module on its first load in a run; those at the chain's own addresses are free.
   * @throws VmError OUT_OF_GAS, EXECUTION_LIMIT_REACHED, DEPENDENCY_LIMIT_REACHED
   */
  chargeModule(id: ModuleId, bytes: number): void {
    const key = moduleKey(id);
    if (this.#visited.has(key)) return;
    this.#visited.add(key);
    this.#chargeDependency(id.address, bytes);
  }

  /** The same for a module that is published, even if the one that it replaces was charged. */
  chargeNewModule(id: ModuleId, bytes: number): void {
    this.#visited.add(moduleKey(id));
    this.#chargeDependency(id.address, bytes);
  }

  #chargeDependency(address: Address, bytes: number): void {
    const { prices } = this;
    if (prices.featureVersion < DEPENDENCIES_SINCE || isReservedAddress(address)) return;
    this.charge(
      prices.of('txn.dependency_per_module') + prices.of('txn.dependency_per_byte') * bytes,
    );
    this.#dependencies += 1;
    this.#dependencyBytes += bytes;
    const isOverLimit =
      this.#dependencies > prices.limit('txn.max_num_dependencies') ||
      this.#dependencyBytes > prices.limit('txn.max_total_dependency_size');
    if (isOverLimit) throw new VmError('DEPENDENCY_LIMIT_REACHED');
  }

  #rest(): number {
    const rest = this.#balance;
    this.#balance = 0;
    return this.prices.featureVersion < REST_COUNTED_SINCE ? 0 : rest;
  }
}

/** Layouts live as long as their program. */
const known = new WeakMap<Layout, readonly ModuleId[]>();

/**
 * The modules that a layout is built from and that reading a value of it loads (docs/spec/gas.md §2.3): those that are
 * charged for, in the order in which they are encountered.
 */
export function modulesOf(layout: Layout): readonly ModuleId[] {
  let modules = known.get(layout);
  if (modules === undefined) {
    const found = new Map<string, ModuleId>();
    collect(layout, found);
    modules = [...found.values()];
    known.set(layout, modules);
  }
  return modules;
}

function collect(layout: Layout, found: Map<string, ModuleId>): void {
  switch (layout.kind) {
    case 'vector':
      collect(layout.element, found);
      return;
    case 'struct':
    case 'enum': {
      const { tag } = layout;
      if (tag !== undefined && !isReservedAddress(tag.address)) {
        const { address, module: name } = tag;
        found.set(`${address}::${name}`, { address, name });
      }
      const fields =
        layout.kind === 'struct' ? layout.fields : layout.variants.flatMap((one) => one.fields);
      for (const field of fields) collect(field.layout, found);
      return;
    }
    default:
  }
}
