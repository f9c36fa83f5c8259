/**
 * What stays the same from one call of an entry function to the next, kept per loaded module: its definition, the
 * types of its parameters, and the layouts of those that do not depend on type arguments.
 *
 * A layout depends on other modules as well, which may be upgraded while the called one stays. So each kept layout
 * remembers the modules it was made from, and is used only while a lookup still gives these very objects; a ledger
 * that gives the same object for the same stored module, and another one after an upgrade, is all that is needed.
 */
import { MoveError } from '../../move/errors.ts';
import type { CompiledModule, ModuleId } from '../../move/module/compiled.ts';
import type { ModuleLookup } from '../../move/module/lookup.ts';
import { functionNameOfHandle } from '../../move/module/names.ts';
import type { MoveType } from '../../move/move-type.ts';
import {
  isSignerParameter,
  mentionsTypeParameter,
  substituteTypeParameters,
} from '../../move/move-type-parameter.ts';
import { moveTypeOfToken } from '../../move/move-type-text.ts';
import { type ResolvedParameter, resolveParameter } from './parameters.ts';

interface Dependency {
  readonly id: ModuleId;
  readonly module: CompiledModule | undefined;
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

/** The parameters that take an argument, type arguments put in; signers go afterwards (spec/encode.md A4 step 5). */
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

/** The layouts of some parameters, in order. Those without type parameters are kept. */
export async function resolveParameters(
  parameters: readonly PlannedParameter[],
  lookup: ModuleLookup,
): Promise<ResolvedParameter[]> {
  const resolved: ResolvedParameter[] = [];
  for (const parameter of parameters) {
    const { kept } = parameter;
    if (kept === undefined) resolved.push(await resolveAndKeep(parameter, lookup));
    else if (kept.madeFrom.length === 0) resolved.push(kept.parameter);
    else if (await allStand(kept.madeFrom, lookup)) resolved.push(kept.parameter);
    else resolved.push(await resolveAndKeep(parameter, lookup));
  }
  return resolved;
}

async function resolveAndKeep(
  parameter: PlannedParameter,
  lookup: ModuleLookup,
): Promise<ResolvedParameter> {
  if (parameter.isGeneric) return resolveParameter(parameter.type, lookup);
  const madeFrom = new Map<string, Dependency>();
  const resolved = await resolveParameter(parameter.type, async (id) => {
    const module = await lookup(id);
    madeFrom.set(`${id.address}::${id.name}`, { id, module });
    return module;
  });
  if (resolved.kind === 'layout') {
    parameter.kept = { parameter: resolved, madeFrom: [...madeFrom.values()] };
  }
  return resolved;
}

async function allStand(madeFrom: readonly Dependency[], lookup: ModuleLookup): Promise<boolean> {
  for (const { id, module } of madeFrom) {
    try {
      const found = lookup(id);
      if ((found instanceof Promise ? await found : found) !== module) return false;
    } catch (error) {
      // It does not load any more: resolving anew says so in the right words.
      if (error instanceof MoveError) return false;
      throw error;
    }
  }
  return true;
}
