/**
 * What stays the same from one call of an entry function to the next, kept per loaded module: its definition, the
 * types of its parameters, and the layouts of those that do not depend on type arguments.
 *
 * A layout depends on other modules as well, which may be upgraded while the called one stays. So each kept layout
 * remembers the modules it was made from, and is used only while a lookup still gives these very objects; a ledger
 * that gives the same object for the same stored module, and another one after an upgrade, is all that is needed.
 */

import type { MaybePromise } from '../../maybe-promise.ts';
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { MoveError } from '../../move/errors.ts';
import {
  type CompiledModule,
  functionNameOfHandle,
  moduleIdOf,
} from '../../move/modules/compiled.ts';
import type { ModuleLookup } from '../../move/modules/lookup.ts';
import { type ModuleId, writeModuleId } from '../../move/types/module-id.ts';
import {
  isSignerParameter,
  type MoveType,
  mentionsTypeParameter,
  moveTypeOfToken,
  substituteTypeParameters,
} from '../../move/types/move-type.ts';
import type { ConvertedTypes } from '../../move/types/move-type-tag.ts';
import { type ResolvedParameter, resolveParameter } from './parameters.ts';

interface Dependency {
  readonly id: ModuleId;
  readonly module: CompiledModule;
}

interface KeptLayout {
  readonly parameter: ResolvedParameter;
  readonly madeFrom: readonly Dependency[];
}

/** A parameter as declared. */
export interface PlannedParameter {
  readonly type: MoveType;
  readonly isGeneric: boolean;
  kept: KeptLayout | undefined;
}

/** An entry function as declared, and what is kept of it. */
export interface FunctionPlan {
  /** BCS of the module id and the function name, as a call begins with them. */
  readonly nameBytes: Buffer;
  readonly typeParameterCount: number;
  readonly parameters: readonly PlannedParameter[];
  /** Those that take an argument, when no type argument changes that. */
  readonly plainArguments: readonly PlannedParameter[] | undefined;
}

const plansOfModules = new WeakMap<CompiledModule, Map<string, FunctionPlan>>();

/** The plan of the first entry function of that name, whatever its visibility. */
export function functionPlan(module: CompiledModule, name: string): FunctionPlan | undefined {
  let plans = plansOfModules.get(module);
  if (plans === undefined) {
    plans = new Map();
    plansOfModules.set(module, plans);
  }
  return plans.get(name) ?? makePlan(module, name, plans);
}

function makePlan(
  module: CompiledModule,
  name: string,
  plans: Map<string, FunctionPlan>,
): FunctionPlan | undefined {
  const definition = module.functionDefinitions.find(
    (one) => one.isEntry && functionNameOfHandle(module, one.handle) === name,
  );
  if (definition === undefined) return undefined;
  const handle = module.functionHandles[definition.handle]!;
  const parameters = module.signatures[handle.parameters]!.map((token): PlannedParameter => {
    const type = moveTypeOfToken(module, token);
    return { type, isGeneric: mentionsTypeParameter(type), kept: undefined };
  });
  const isGeneric = parameters.some((parameter) => parameter.isGeneric);
  const plan: FunctionPlan = {
    nameBytes: encodeBcs((writer) => {
      writeModuleId(writer, moduleIdOf(module));
      writer.string(name);
    }),
    typeParameterCount: handle.typeParameters.length,
    parameters,
    plainArguments: isGeneric
      ? undefined
      : parameters.filter(({ type }) => !isSignerParameter(type)),
  };
  // The module's own text: the request's would keep the whole body alive.
  plans.set(module.identifiers[handle.name]!, plan);
  return plan;
}

/**
 * The parameters that take an argument, type arguments put in; signers go afterwards (docs/spec/encode.md §A4 step 5).
 */
export function argumentParameters(
  plan: FunctionPlan,
  typeArguments: readonly MoveType[],
): readonly PlannedParameter[] {
  if (plan.plainArguments !== undefined) return plan.plainArguments;
  return plan.parameters
    .map((parameter) => {
      if (!parameter.isGeneric) return parameter;
      const type = substituteTypeParameters(parameter.type, typeArguments);
      return { type, isGeneric: true, kept: undefined };
    })
    .filter(({ type }) => !isSignerParameter(type));
}

/** The layouts of some parameters, in order; at once when all are kept and the lookup answers at once. */
export function resolveParameters(
  parameters: readonly PlannedParameter[],
  lookup: ModuleLookup,
): MaybePromise<readonly ResolvedParameter[]> {
  const resolved: ResolvedParameter[] = [];
  for (const { kept } of parameters) {
    if (kept === undefined || !standsNow(kept.madeFrom, lookup)) {
      return resolveOneByOne(parameters, lookup);
    }
    resolved.push(kept.parameter);
  }
  return resolved;
}

async function resolveOneByOne(
  parameters: readonly PlannedParameter[],
  lookup: ModuleLookup,
): Promise<readonly ResolvedParameter[]> {
  const resolved: ResolvedParameter[] = [];
  const done: ConvertedTypes = new Map();
  for (const parameter of parameters) {
    const { kept } = parameter;
    const stands = kept !== undefined && (await stand(kept.madeFrom, lookup));
    resolved.push(stands ? kept.parameter : await resolveAndKeep(parameter, lookup, done));
  }
  return resolved;
}

async function resolveAndKeep(
  parameter: PlannedParameter,
  lookup: ModuleLookup,
  done: ConvertedTypes,
): Promise<ResolvedParameter> {
  if (parameter.isGeneric) return resolveParameter(parameter.type, lookup, done);
  const madeFrom = new Map<string, Dependency>();
  const resolved = await resolveParameter(parameter.type, async (id) => {
    const module = await lookup(id);
    if (module !== undefined) madeFrom.set(`${id.address}::${id.name}`, { id, module });
    return module;
  });
  if (resolved.kind === 'layout') {
    parameter.kept = { parameter: resolved, madeFrom: [...madeFrom.values()] };
  }
  return resolved;
}

/** Whether the lookup gives all these modules still, and at once. */
function standsNow(madeFrom: readonly Dependency[], lookup: ModuleLookup): boolean {
  return madeFrom.every(({ id, module }) => {
    const found = lookedUp(id, lookup);
    // It is asked again where there is time to wait, and its failure met there.
    if (found instanceof Promise) found.catch(() => undefined);
    return found === module;
  });
}

async function stand(madeFrom: readonly Dependency[], lookup: ModuleLookup): Promise<boolean> {
  for (const { id, module } of madeFrom) {
    const found = lookedUp(id, lookup);
    if ((found instanceof Promise ? await found.catch(undefinedIfBroken) : found) !== module) {
      return false;
    }
  }
  return true;
}

function lookedUp(id: ModuleId, lookup: ModuleLookup): MaybePromise<CompiledModule | undefined> {
  try {
    return lookup(id);
  } catch (error) {
    return undefinedIfBroken(error);
  }
}

/** A module that does not load any more: resolving the layout anew says so in the right words. */
function undefinedIfBroken(error: unknown): undefined {
  if (error instanceof MoveError) return undefined;
  throw error;
}
