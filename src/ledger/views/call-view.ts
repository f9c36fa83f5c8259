/**
 * Calls of view functions (docs/spec/transactions.md §9.2): everything that is checked before code runs, then the run
 * (docs/spec/vm.md), then its results.
 */
import { andThen, type MaybePromise, mapInOrder, settle } from '../../maybe-promise.ts';
import { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import { renderValue } from '../../move/values/value-json.ts';
import type { Program } from '../../vm/program/program.ts';
import { VmError } from '../../vm/vm-error.ts';
import type { World } from '../../vm/world.ts';
import { conversionError } from '../ledger-error.ts';
import type { ModuleView } from '../modules/module-view.ts';
import { checkArguments } from './arguments.ts';
import { loadView, type ResultType } from './loading.ts';
import { runView, viewErrorOf } from './run-view.ts';
import { readViewCall, type ViewCall, type ViewRequest, viewCallOf } from './view-request.ts';

/** What a view function returns. */
export interface ViewAnswer {
  /** JSON text of the list of values. */
  json(): MaybePromise<string>;
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
export function callView(
  request: ViewRequest | Uint8Array,
  place: ViewPlace,
): MaybePromise<ViewAnswer> {
  const { lookup } = place.modules;
  const call = request instanceof Uint8Array ? readViewCall(request) : viewCallOf(request, lookup);
  return andThen(call, (read) =>
    settle(
      () => valuesOf(read, place),
      (values) => values,
      (error) => {
        if (!(error instanceof VmError)) throw error;
        return andThen(viewErrorOf(error, lookup), (shown) => {
          throw shown;
        });
      },
    ),
  );
}

function valuesOf(
  call: ViewCall,
  { modules, program, openWorld }: ViewPlace,
): MaybePromise<ViewAnswer> {
  const { module, args } = call;
  return andThen(loadView(call, program), (view) =>
    andThen(openWorld(), (world) =>
      andThen(checkArguments(view.parameters, args, module, world), () =>
        andThen(
          runView(program, world, view, args),
          (values) => new FoundValues(values, view.layouts!.resultTypes, modules),
        ),
      ),
    ),
  );
}

class FoundValues implements ViewAnswer {
  readonly #values: readonly Buffer[];
  readonly #types: readonly ResultType[];
  readonly #modules: ModuleView;

  constructor(values: readonly Buffer[], types: readonly ResultType[], modules: ModuleView) {
    this.#values = values;
    this.#types = types;
    this.#modules = modules;
  }

  json(): MaybePromise<string> {
    const texts = settle(
      () =>
        mapInOrder(this.#types, ({ tag, bytes }, index) =>
          andThen(this.#modules.type(bytes, tag), ({ value: { layout } }) =>
            renderValue(layout, this.#values[index]!),
          ),
        ),
      (found) => found,
      (cause) => {
        throw conversionError('Failed to convert the values of a view function', cause);
      },
    );
    return andThen(texts, (all) => `[${all.join(',')}]`);
  }

  bcs(): Buffer {
    const writer = new BcsWriter();
    return writer.vector(this.#values, (to, value) => to.fixed(value)).toBytes();
  }
}
