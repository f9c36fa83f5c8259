/**
 * Creates the genesis of a network: runs a framework's functions that initialize it in the VM, on a state that has only
 * the framework's modules (docs/spec/genesis.md). The build does this (scripts/build-genesis.mjs).
 */

import { systemSession } from '../../execution/sessions.ts';
import { stateChanges } from '../../execution/state-changes.ts';
import { writesOf } from '../../execution/storage-fees.ts';
import { type CompiledModule, moduleIdOf } from '../../move/modules/compiled.ts';
import { loadModule } from '../../move/modules/read.ts';
import { encodeWriteSetTransaction } from '../../move/transactions/transaction.ts';
import { ADDRESS_ONE, type Address } from '../../move/types/address.ts';
import { type ModuleId, moduleKey } from '../../move/types/module-id.ts';
import { loaderLimitsOf } from '../../state/features.ts';
import { Machine } from '../../vm/machine/machine.ts';
import { runIn, VIEW_LIMITS } from '../../vm/machine/run.ts';
import { frameworkNative } from '../../vm/natives/index.ts';
import type { LoadedFunction } from '../../vm/program/loaded-module.ts';
import { Program } from '../../vm/program/program.ts';
import { effectsOf } from '../../vm/run-effects.ts';
import { Reference, type Value } from '../../vm/value.ts';
import { decodeValue } from '../../vm/value-bcs.ts';
import type { World } from '../../vm/world.ts';
import { nextTurn, YieldBudget } from '../../yield-budget.ts';
import { DEFAULT_FEATURES } from './features.ts';
import {
  type GenesisSettings,
  type GenesisStep,
  initialSteps,
  packageSteps,
} from './genesis-steps.ts';

interface GenesisParts extends GenesisSettings {
  readonly modules: readonly Buffer[];
}

interface BuiltGenesis {
  /** BCS of the transaction, as in a genesis file. */
  readonly transaction: Buffer;
  /** Steps that were left out because the framework lacks their function, such as `jwks::initialize`. */
  readonly skipped: readonly string[];
}

/** Ids of the two sessions; they differ so that tables created in both have different handles. */
const SESSIONS = [0, 1].map((last) => Buffer.alloc(32).fill(last, 31));

/** Rejects with VmError if a function of the framework fails. */
export async function buildGenesis({ modules, ...settings }: GenesisParts): Promise<BuiltGenesis> {
  const framework = readFramework(modules);
  const ids = framework.map(({ id }) => id);
  const run = new GenesisRun(framework);
  await run.session(SESSIONS[0]!, initialSteps(settings));
  await run.session(SESSIONS[1]!, packageSteps(ids));
  return { transaction: await run.transaction(), skipped: run.skipped };
}

interface FrameworkModule {
  readonly id: ModuleId;
  readonly bytes: Buffer;
  readonly module: CompiledModule;
}

function readFramework(modules: readonly Buffer[]): FrameworkModule[] {
  const limits = loaderLimitsOf((flag) => DEFAULT_FEATURES.has(flag));
  return modules.map((bytes) => {
    const module = loadModule(bytes, limits);
    return { id: moduleIdOf(module), bytes, module };
  });
}

/** A state with only modules. */
function worldOf(framework: readonly FrameworkModule[]): World {
  const byKey = new Map(framework.map(({ id, module }) => [moduleKey(id), module]));
  return {
    modules: (id) => byKey.get(moduleKey(id)),
    nextTurn,
    isFeatureEnabled: (flag) => DEFAULT_FEATURES.has(flag),
    resource: () => undefined,
    tableItem: () => undefined,
    stateUsage: () => ({ items: 0n, bytes: 0n }),
  };
}

class GenesisRun {
  readonly skipped: string[] = [];
  readonly #framework: readonly FrameworkModule[];
  readonly #machine: Machine;

  constructor(framework: readonly FrameworkModule[]) {
    const world = worldOf(framework);
    const program = new Program(world.modules);
    const parts = { program, world, natives: frameworkNative, limits: VIEW_LIMITS };
    this.#framework = framework;
    this.#machine = new Machine(parts);
  }

  /** @param id 32 bytes */
  async session(id: Buffer, steps: readonly GenesisStep[]): Promise<void> {
    this.#machine.beginSession(systemSession('genesis', id));
    for (const step of steps) await this.#run(step);
  }

  async #run({ module, name, signers, args }: GenesisStep): Promise<void> {
    const { program, world } = this.#machine;
    const id = { address: ADDRESS_ONE, name: module };
    if ((await world.modules(id)) === undefined || !(await program.module(id)).function(name)) {
      this.skipped.push(`${module}::${name}`);
      return;
    }
    const target = await program.function(id, name);
    const values = signers.map((address, index) => signerFor(target, index, address));
    for (const bytes of args) values.push(await this.#argument(target, values.length, bytes));
    await runIn(this.#machine, { function: target, typeArguments: [], args: values });
  }

  async #argument(target: LoadedFunction, index: number, bytes: Buffer): Promise<Value> {
    const { program, meter } = this.#machine;
    const type = program.typeOfToken(target.module.compiled, target.parameters[index]!, []);
    meter.beginOperation();
    return decodeValue(await program.layout(type), bytes, meter);
  }

  async transaction(): Promise<Buffer> {
    const { resources, items, events } = await effectsOf(this.#machine);
    const modules = { version: 0n, lookup: this.#machine.world.modules };
    const guard = { state: () => undefined };
    const place = { guard, modules, places: new WeakMap(), pace: new YieldBudget() };
    const changes = await stateChanges({ resources, items, events }, this.#framework, place);
    const writes = writesOf(changes, new Map(), undefined);
    return encodeWriteSetTransaction(writes, events);
  }
}

function signerFor({ parameters }: LoadedFunction, index: number, address: Address): Value {
  const signer: Value = [address];
  return parameters[index]!.kind === 'reference' ? new Reference([signer], 0) : signer;
}
