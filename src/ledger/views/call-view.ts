/**
 * Calls of view functions (docs/spec/transactions.md §9.2): everything that can be decided without running code, then
 * the values, which a reader of the framework's state gives.
 */
import { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import type { ModuleLookup } from '../../move/modules/lookup.ts';
import { ADDRESS_ONE } from '../../move/types/address.ts';
import { typeTagOf } from '../../move/types/move-type-tag.ts';
import { encodeTypeTag, type TypeTag } from '../../move/types/type-tag.ts';
import { findStruct } from '../../move/values/layout.ts';
import { renderValue } from '../../move/values/value-json.ts';
import { conversionError } from '../ledger-error.ts';
import type { ModuleView } from '../modules/module-view.ts';
import type { PruningGuard } from '../pruning-guard.ts';
import { checkArguments } from './arguments.ts';
import { FrameworkState } from './framework-state.ts';
import { FRAMEWORK_VIEWS } from './framework-views.ts';
import { loadView } from './loading.ts';
import { NotRunError } from './view-error.ts';
import { readViewCall, type ViewCall, type ViewRequest, viewCallOf } from './view-request.ts';
import type { FrameworkView } from './view-values.ts';

/** What a view function returns. */
export interface ViewAnswer {
  /** JSON text of the list of values. */
  json(): Promise<string>;
  /** BCS: their number, then each value. */
  bcs(): Buffer;
}

/**
 * Calls a view function at the version of some modules.
 * @param request in JSON, or as the BCS of a call
 * @throws ViewError; NotRunError for a function that only code answers; or rejects with them
 */
export async function callView(
  request: ViewRequest | Uint8Array,
  guard: PruningGuard,
  modules: ModuleView,
): Promise<ViewAnswer> {
  const call =
    request instanceof Uint8Array
      ? readViewCall(request)
      : await viewCallOf(request, modules.lookup);
  const { parameters, results } = await loadView(call, modules.lookup);
  const state = new FrameworkState(guard, modules);
  await checkArguments(parameters, call.args, call.module, state);
  const read = await readerOf(call, modules.lookup);
  const values = await read(state, call);
  return new FoundValues(
    values,
    results.map((type) => typeTagOf(type)),
    modules,
  );
}

/** @throws NotRunError */
async function readerOf({ module, name }: ViewCall, lookup: ModuleLookup): Promise<FrameworkView> {
  const reader =
    module.address === ADDRESS_ONE ? FRAMEWORK_VIEWS.get(`${module.name}::${name}`) : undefined;
  if (reader === undefined || !(await isToday(lookup))) throw new NotRunError();
  return reader;
}

/** Older frameworks, whose coins are not paired with fungible assets, have the same functions with other results. */
async function isToday(lookup: ModuleLookup): Promise<boolean> {
  const coin = await lookup({ address: ADDRESS_ONE, name: 'coin' });
  return coin !== undefined && findStruct(coin, 'CoinConversionMap') !== undefined;
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
