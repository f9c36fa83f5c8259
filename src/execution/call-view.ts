/**
 * Calls of view functions (docs/spec/transactions.md §9.2): the checks before code runs, then the run
 * (docs/spec/vm.md), then its results.
 */
import { andThen, type MaybePromise, mapInOrder, settle } from '../maybe-promise.ts';
import { encodeBcs } from '../move/bcs/bcs-writer.ts';
import type { Layout } from '../move/values/layout.ts';
import { renderInTurns, renderValue } from '../move/values/value-json.ts';
import { conversionError } from '../state/ledger-error.ts';
import type { ModuleView } from '../state/module-view.ts';
import type { InstructionPrices } from '../vm/gas/instruction-prices.ts';
import type { RunObserver } from '../vm/observer.ts';
import type { Program } from '../vm/program/program.ts';
import { VmError } from '../vm/status/status.ts';
import type { World } from '../vm/world.ts';
import type { YieldBudget } from '../yield-budget.ts';
import { checkArguments } from './arguments.ts';
import { loadView, type ResultType } from './loading.ts';
import { runView, type ViewResults, viewErrorOf } from './run-view.ts';
import { ViewError } from './view-error.ts';
import { readViewCall, type ViewCall, type ViewRequest, viewCallOf } from './view-request.ts';

/** Maximum size of what a view function returns, in the requested form. */
export const MAX_VIEW_BYTES = 64 * 1024 * 1024;
/** Values that took more units of work to write are rendered in turns; this many take a few milliseconds. */
export const UNITS_AT_ONCE = 8 * 1024;

/** What a view function returns. @throws ViewError for more than `MAX_VIEW_BYTES`; or rejects with it */
export interface ViewAnswer {
  /** JSON of the list of values: a string, or chunks of UTF-8 if it is long. */
  json(): MaybePromise<string | readonly Buffer[]>;
  /** BCS in chunks: the number of values, then each value. */
  bcs(): readonly Buffer[];
  /** Gas units; absent on a ledger without a gas schedule. */
  readonly gasUsed: number | undefined;
}

interface ViewPlace {
  readonly modules: ModuleView;
  readonly program: Program;
  readonly pace: YieldBudget;
  readonly observer?: RunObserver | undefined;
  /** Rejects with LedgerError if the version is pruned. */
  openWorld(): MaybePromise<World>;
  /** Absent without a gas schedule. */
  gasPrices(): MaybePromise<InstructionPrices | undefined>;
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
  { modules, program, pace, observer, openWorld, gasPrices }: ViewPlace,
): MaybePromise<ViewAnswer> {
  const { module, args } = call;
  return andThen(loadView(call, program), (view) =>
    andThen(openWorld(), (world) =>
      andThen(checkArguments(view.parameters, args, module, world), () =>
        andThen(gasPrices(), (prices) =>
          andThen(
            runView({ program, world, turns: pace, observer }, view, args, prices),
            (results) => new FoundValues(results, view.layouts!.resultTypes, { modules, pace }),
          ),
        ),
      ),
    ),
  );
}

class FoundValues implements ViewAnswer {
  readonly #results: ViewResults;
  readonly #types: readonly ResultType[];
  readonly #modules: ModuleView;
  readonly #pace: YieldBudget;

  constructor(
    results: ViewResults,
    types: readonly ResultType[],
    { modules, pace }: Pick<ViewPlace, 'modules' | 'pace'>,
  ) {
    this.#results = results;
    this.#types = types;
    this.#modules = modules;
    this.#pace = pace;
  }

  get gasUsed(): number | undefined {
    return this.#results.gasUsed;
  }

  json(): MaybePromise<string | readonly Buffer[]> {
    const { values, units } = this.#results;
    const pieces: Buffer[] | undefined = units > UNITS_AT_ONCE ? [] : undefined;
    const texts = settle(
      () =>
        mapInOrder(this.#types, ({ tag, bytes }, index) =>
          andThen(this.#modules.type(bytes, tag), ({ value: { layout } }): MaybePromise<string> => {
            if (pieces === undefined) return renderValue(layout, values[index]!);
            return this.#renderInTurns(layout, index, pieces);
          }),
        ),
      (found) => found,
      (cause) => {
        throw conversionError('Failed to convert the values of a view function', cause);
      },
    );
    return andThen(texts, (all) => {
      if (pieces === undefined) return `[${all.join(',')}]`;
      pieces.push(Buffer.from(']'));
      checkSize(pieces);
      return pieces;
    });
  }

  /** Appends a value to the chunks before it. */
  async #renderInTurns(layout: Layout, index: number, pieces: Buffer[]): Promise<string> {
    const steps = renderInTurns(layout, this.#results.values[index]!, index === 0 ? '[' : ',');
    for (let step = steps.next(); ; step = steps.next()) {
      pieces.push(step.value);
      checkSize(pieces);
      this.#pace.hold(step.value.length);
      if (step.done) return '';
      await this.#pace.nextTurn();
    }
  }

  bcs(): readonly Buffer[] {
    const { values } = this.#results;
    const pieces = [encodeBcs((writer) => writer.uleb32(values.length)), ...values];
    checkSize(pieces);
    return pieces;
  }
}

/** @throws ViewError 4028 */
function checkSize(pieces: readonly Buffer[]): void {
  if (pieces.reduce((sum, { length }) => sum + length, 0) <= MAX_VIEW_BYTES) return;
  const text = `The values of a view function have more than ${MAX_VIEW_BYTES} bytes`;
  throw new ViewError(text, 'MEMORY_LIMIT_EXCEEDED');
}
