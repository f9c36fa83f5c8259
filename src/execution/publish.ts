/** Publishes the modules that a transaction requests at the end of its session (docs/spec/vm.md §8.7). */
import type { MaybePromise } from '../maybe-promise.ts';
import { type CompiledModule, moduleIdOf, moduleIdOfHandle } from '../move/modules/compiled.ts';
import { BinaryFormatError } from '../move/modules/format.ts';
import { loadModule } from '../move/modules/read.ts';
import { isReservedAddress } from '../move/types/address.ts';
import { type ModuleId, moduleKey } from '../move/types/module-id.ts';
import { loaderLimitsOf } from '../state/features.ts';
import type { GasMeter } from '../vm/gas/gas-meter.ts';
import type { Machine } from '../vm/machine/machine.ts';
import { runIn } from '../vm/machine/run.ts';
import { Publishing } from '../vm/natives/dispatch.ts';
import { missingModule, Program } from '../vm/program/program.ts';
import { DEFAULT_COMPATIBILITY } from '../vm/publish/compatibility.ts';
import { groupModulesOf } from '../vm/publish/metadata-check.ts';
import { hasInitModule, INIT_MODULE } from '../vm/publish/module-checks.ts';
import {
  dependenciesOf,
  publicationChecks,
  type StoredModuleLookup,
} from '../vm/publish/publication.ts';
import { continueIn } from '../vm/run-effects.ts';
import { VmError } from '../vm/status/status.ts';
import { Reference, type Value } from '../vm/value.ts';
import type { World } from '../vm/world.ts';
import { doInTurns, type YieldBudget } from '../yield-budget.ts';
import { isMainnet, verifierConfigIn } from './chain-rules.ts';
import type { VisibleModules } from './ledger-world.ts';
import type { NewModule } from './state-changes.ts';

/** A feature flag of the reference. */
const TREAT_FRIEND_AS_PRIVATE = 2;
/** The work of finding and reading a module, in bytes. */
const LOOKUP_WORK = 8_192;

interface PublishPlace {
  readonly modules: VisibleModules;
  readonly pace: YieldBudget;
  /** The state, with resources located through some modules. */
  openWorld(modules: VisibleModules): MaybePromise<World>;
}

export interface Publication {
  readonly modules: VisibleModules;
  readonly added: readonly NewModule[];
}

type Bundle = readonly (NewModule & { readonly module: CompiledModule })[];

/**
 * Publishes what the current session has requested and charges that session for it.
 * Rejects with VmError, LedgerError.
 * @returns `undefined` if nothing was requested
 */
export async function publishRequested(
  machine: Machine,
  place: PublishPlace,
): Promise<Publication | undefined> {
  const { request } = machine.extensions.of(Publishing);
  if (request === undefined) return undefined;
  const { modules, pace } = place;
  const isFeatureEnabled = (flag: number): boolean => machine.world.isFeatureEnabled(flag);
  const limits = loaderLimitsOf(isFeatureEnabled);
  const bundle = request.bundle.map((bytes) => {
    const module = readPublished(() => loadModule(bytes, limits));
    return { id: moduleIdOf(module), bytes: Buffer.from(bytes), module };
  });
  const stored = await storedModules(bundle, place);
  charge(bundle, stored, machine.gas);
  const rules = {
    verifier: verifierConfigIn(machine),
    compatibility: {
      ...DEFAULT_COMPATIBILITY,
      checkFriendLinking: !isFeatureEnabled(TREAT_FRIEND_AS_PRIVATE),
    },
    isUnstableAllowed: !isMainnet(machine),
  };
  // Reads are charged for; except for modules of resource groups they already have been.
  const paid: StoredModuleLookup = (id) => {
    const module = stored.get(moduleKey(id));
    if (module !== undefined) machine.gas.chargeModule(id, module.sizeBytes ?? 0);
    return module;
  };
  const checked = bundle.map(({ module, bytes }) => ({ module, byteLength: bytes.length }));
  await doInTurns(publicationChecks(checked, paid, rules, request), () => pace.nextTurn());
  const published = { modules: withModules(modules, bundle), added: bundle };
  await initialize(machine, bundle, stored, published.modules, place);
  return published;
}

/** @throws VmError CODE_DESERIALIZATION_ERROR */
function readPublished(read: () => CompiledModule): CompiledModule {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof BinaryFormatError)) throw error;
    throw new VmError('CODE_DESERIALIZATION_ERROR');
  }
}

/** All stored modules that the checks may read. */
async function storedModules(
  bundle: Bundle,
  { modules, pace }: PublishPlace,
): Promise<ReadonlyMap<string, CompiledModule>> {
  const found = new Map<string, CompiledModule>();
  for (const { id, module } of bundle) {
    for (const one of [id, ...dependenciesOf(module), ...groupModulesOf(module)]) {
      const key = moduleKey(one);
      if (found.has(key)) continue;
      const known = await modules.lookup(one);
      if (known !== undefined) found.set(key, known);
      if (pace.mustYield(LOOKUP_WORK)) await pace.nextTurn();
    }
  }
  return found;
}

/**
 * Charges for the modules that are replaced, for the new ones and for those that they name.
 * @throws VmError also LINKER_ERROR, FRIEND_NOT_FOUND_IN_MODULE_BUNDLE
 */
function charge(bundle: Bundle, stored: ReadonlyMap<string, CompiledModule>, gas: GasMeter): void {
  for (const { id } of bundle) {
    const old = stored.get(moduleKey(id));
    if (old !== undefined) gas.chargeModule(id, old.sizeBytes ?? 0);
  }
  for (const { id, bytes } of bundle) gas.chargeNewModule(id, bytes.length);
  const own = new Set(bundle.map(({ id }) => moduleKey(id)));
  for (const dependency of bundle.flatMap(({ module }) => dependenciesOf(module))) {
    const key = moduleKey(dependency);
    if (own.has(key) || isReservedAddress(dependency.address)) continue;
    const found = stored.get(key);
    if (found === undefined) throw missingModule(dependency);
    gas.chargeModule(dependency, found.sizeBytes ?? 0);
  }
  for (const { module } of bundle) {
    for (const friend of module.friends) {
      const key = moduleKey(moduleIdOfHandle(module, friend));
      if (own.has(key)) continue;
      const text =
        `Module ${key} is declared as a friend and should be part of the module bundle, ` +
        'but it is not';
      throw new VmError('FRIEND_NOT_FOUND_IN_MODULE_BUNDLE', { text });
    }
  }
}

function withModules({ lookup, version }: VisibleModules, bundle: Bundle): VisibleModules {
  const added = new Map(bundle.map(({ id, module }) => [moduleKey(id), module]));
  return { version, lookup: (id: ModuleId) => added.get(moduleKey(id)) ?? lookup(id) };
}

/** Runs `init_module` of the modules that are new. Rejects with VmError. */
async function initialize(
  machine: Machine,
  bundle: Bundle,
  stored: ReadonlyMap<string, CompiledModule>,
  modules: VisibleModules,
  place: PublishPlace,
): Promise<void> {
  for (const { id, module } of bundle) {
    if (stored.has(moduleKey(id)) || !hasInitModule(module)) continue;
    if (machine.world.modules !== modules.lookup) {
      continueIn(machine, new Program(modules.lookup), await place.openWorld(modules));
    }
    const target = await machine.program.function(id, INIT_MODULE);
    const signer: Value = [id.address];
    const isReference = target.parameters[0]!.kind === 'reference';
    const args = [isReference ? new Reference([signer], 0) : signer];
    await runIn(machine, { function: target, typeArguments: [], args });
  }
}
