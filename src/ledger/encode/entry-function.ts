/** Entry function calls: the function found, its arguments in BCS (spec/encode.md A4, "Entry function"). */
import { formatAddress } from '../../move/address.ts';
import { BcsWriter } from '../../move/bcs-writer.ts';
import { MoveError } from '../../move/errors.ts';
import { debugModuleId } from '../../move/layout.ts';
import type { CompiledModule, ModuleId } from '../../move/module/compiled.ts';
import type { ModuleLookup } from '../../move/module/lookup.ts';
import type { TypeTag } from '../../move/type-tag.ts';
import { EncodeError } from './encode-error.ts';
import { argumentParameters, functionPlan, resolveParameters } from './function-plan.ts';
import { checkArgumentCount, encodeArgument, typeArgumentTags } from './parameters.ts';
import type { EntryFunctionRequest } from './payload.ts';

/** A call whose arguments are encoded. */
export interface ConvertedEntryFunction {
  readonly kind: 'entryFunction';
  readonly module: ModuleId;
  readonly function: string;
  readonly typeArguments: readonly TypeTag[];
  readonly argumentCount: number;
  /** Each argument's BCS behind its length. */
  readonly argumentBytes: Buffer;
}

/** Converts a call by the modules that `lookup` gives. @throws EncodeError of stage `convert` */
export async function convertEntryFunction(
  request: EntryFunctionRequest,
  lookup: ModuleLookup,
): Promise<ConvertedEntryFunction> {
  const plan = functionPlan(await findModule(request.module, lookup), request.function);
  if (plan === undefined) {
    throw new EncodeError(
      'convert',
      'function_not_found',
      `could not find entry function by ${formatFunction(request)}`,
    );
  }
  const { typeArguments } = request;
  if (plan.typeParameterCount !== typeArguments.length) {
    throw new EncodeError(
      'convert',
      'type_argument_count',
      `expect ${plan.typeParameterCount} type arguments for entry function ` +
        `${formatFunction(request)}, but got ${typeArguments.length}`,
    );
  }
  const parameters = argumentParameters(plan, typeArguments);
  if (parameters.length !== request.arguments.length) {
    checkArgumentCount(
      parameters.map(({ type }) => type),
      request.arguments,
    );
  }
  const resolved = await resolveParameters(parameters, lookup);
  const all = new BcsWriter();
  const one = new BcsWriter();
  for (const [index, parameter] of resolved.entries()) {
    one.reset();
    const json = request.arguments[index]!;
    encodeArgument({ index, type: parameters[index]!.type, parameter, json }, one);
    all.bytes(one.view());
  }
  return {
    kind: 'entryFunction',
    module: request.module,
    function: request.function,
    typeArguments: typeArgumentTags(typeArguments),
    argumentCount: resolved.length,
    argumentBytes: all.view(),
  };
}

async function findModule(id: ModuleId, lookup: ModuleLookup): Promise<CompiledModule> {
  let module: CompiledModule | undefined;
  try {
    const found = lookup(id);
    module = found instanceof Promise ? await found : found;
  } catch (cause) {
    if (!(cause instanceof MoveError)) throw cause;
    const text = `Module ${debugModuleId(id)} deserialize with error code ${cause.message}`;
    throw new EncodeError('convert', 'module_not_loadable', text, { cause });
  }
  if (module !== undefined) return module;
  const text = `Module ${debugModuleId(id)} can't be found`;
  throw new EncodeError('convert', 'module_not_found', text);
}

function formatFunction(request: EntryFunctionRequest): string {
  const { module } = request;
  return `${formatAddress(module.address)}::${module.name}::${request.function}`;
}
