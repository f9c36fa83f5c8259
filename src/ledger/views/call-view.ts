/**
 * Calls of view functions (docs/spec/transactions.md §9.2): everything that is checked before code runs, then the run
 * (docs/spec/vm.md), then its results.
 */
import type { MaybePromise } from '../../maybe-promise.ts';
import { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import { typeTagOf } from '../../move/types/move-type-tag.ts';
import { encodeTypeTag, type TypeTag } from '../../move/types/type-tag.ts';
import { renderValue } from '../../move/values/value-json.ts';
import type { Program } from '../../vm/program/program.ts';
import { VmError } from '../../vm/vm-error.ts';
import type { World } from '../../vm/world.ts';
import { conversionError } from '../ledger-error.ts';
import type { ModuleView } from '../modules/module-view.ts';
import { checkArguments } from './arguments.ts';
import { loadView } from './loading.ts';
import { runView, viewErrorOf } from './run-view.ts';
import { readViewCall, type ViewRequest, viewCallOf } from './view-request.ts';

/** What a view function returns. */
export interface ViewAnswer {
  /** JSON text of the list of values. */
  json(): Promise<string>;
  /** BCS: their number, then each value. */
  bcs(): Buffer;
}

/** Where a call runs. */
interface ViewPlace {
  /** Those of the version. */
  readonly modules: ModuleView;
  readonly program: Program;
  /** Rejects with LedgerError where the version is pruned. */
  openWorld(): MaybePromise<World>;
}

/**
 * Calls a view function.
 * @param request in JSON, or as the BCS of a call
 * @throws ViewError; or rejects with it
 */
export async function callView(
  request: ViewRequest | Uint8Array,
  { modules, program, openWorld }: ViewPlace,
): Promise<ViewAnswer> {
  const call =
    request instanceof Uint8Array
      ? readViewCall(request)
      : await viewCallOf(request, modules.lookup);
  try {
    const loaded = await loadView(call, program);
    const { parameters, results } = loaded;
    const world = await openWorld();
    await checkArguments(parameters, call.args, call.module, world);
    const resultTypes = results.map((type) => typeTagOf(type));
    const types = { parameters: parameters.map((type) => typeTagOf(type)), results: resultTypes };
    const values = await runView(program, world, { ...loaded, args: call.args }, types);
    return new FoundValues(values, resultTypes, modules);
  } catch (error) {
    throw error instanceof VmError ? await viewErrorOf(error, modules.lookup) : error;
  }
}

class FoundValues implements ViewAnswer {
  readonly #values: readonly Buffer[];
  readonly #types: readonly TypeTag[];
  readonly #modules: ModuleView;

  constructor(values: readonly Buffer[], types: readonly TypeTag[], modules: ModuleView) {
    this.#values = values;
    this.#types = types;
    this.#modules = modules;
  }

  async json(): Promise<string> {
    const texts: string[] = [];
    for (const [index, type] of this.#types.entries()) {
      try {
        const { value } = await this.#modules.type(encodeTypeTag(type), type);
        texts.push(renderValue(value.layout, this.#values[index]!));
      } catch (cause) {
        throw conversionError('Failed to convert the values of a view function', cause);
      }
    }
    return `[${texts.join(',')}]`;
  }

  bcs(): Buffer {
    const writer = new BcsWriter();
    return writer.vector(this.#values, (to, value) => to.fixed(value)).toBytes();
  }
}
