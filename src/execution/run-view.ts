/** Runs a checked call and reports failures as the reference's API does (docs/spec/transactions.md §9.3). */
import { andThen, type MaybePromise, mapInOrder } from '../maybe-promise.ts';
import { BcsError } from '../move/bcs/bcs-reader.ts';
import type { ModuleLookup } from '../move/modules/lookup.ts';
import { moduleMetadata } from '../move/modules/metadata.ts';
import type { ModuleId } from '../move/types/module-id.ts';
import type { Layout } from '../move/values/layout.ts';
import { debugModuleId } from '../move/values/layout.ts';
import { GasMeter, scaleOf } from '../vm/gas/gas-meter.ts';
import type { InstructionPrices } from '../vm/gas/instruction-prices.ts';
import { Machine, type MachineParts } from '../vm/machine/machine.ts';
import { runIn, VIEW_LIMITS } from '../vm/machine/run.ts';
import { Meter } from '../vm/meter.ts';
import { frameworkNative } from '../vm/natives/index.ts';
import type { VmError } from '../vm/status/status.ts';
import type { Value } from '../vm/value.ts';
import { decodeValue, encodeValue } from '../vm/value-bcs.ts';
import { constructArgument, isConstructed } from './construct.ts';
import { type LoadedView, layoutsOf } from './loading.ts';
import { ViewError, vmError } from './view-error.ts';
import { abortText } from './vm-status.ts';

/** The reason in an abort code; the bits above are its category. */
const ABORT_REASON_MASK = 0xfffn;

export interface ViewResults {
  readonly values: readonly Buffer[];
  /** Work of writing them: one unit for each element or 64 bytes. */
  readonly units: number;
  /** Gas units; absent on a ledger without a gas schedule. */
  readonly gasUsed: number | undefined;
}

/** Gas units that a view may use, as reference nodes are configured (docs/spec/vm.md §4.7). */
const MAX_VIEW_GAS = 2_000_000;

/** @throws VmError, ViewError; or rejects with them */
export function runView(
  {
    program,
    world,
    turns,
    observer,
  }: Pick<MachineParts, 'program' | 'world' | 'turns' | 'observer'>,
  view: LoadedView,
  args: readonly Uint8Array[],
  prices: InstructionPrices | undefined,
): MaybePromise<ViewResults> {
  return andThen(layoutsOf(view, program), ({ parameters, results }) => {
    const { function: target, typeArguments } = view;
    const limits = VIEW_LIMITS;
    const machine = new Machine({
      program,
      world,
      natives: frameworkNative,
      limits,
      turns,
      observer,
    });
    const gas = prices && new GasMeter(prices.prices, MAX_VIEW_GAS * scaleOf(prices.prices));
    machine.beginSession(undefined, gas, prices);
    observer?.begin?.('function', machine.gas);
    machine.chargeModule(target.module);
    const charged = mapInOrder(typeArguments, (type) => machine.chargeTypes(type));
    const argumentValues = andThen(charged, () => argumentsOf(machine, view, args, parameters));
    return andThen(argumentValues, (values) =>
      andThen(runIn(machine, { function: target, typeArguments, args: values }), (returned) => {
        const meter = new Meter(VIEW_LIMITS);
        const encoded = results.map((layout, index) => encodeValue(layout, returned[index], meter));
        const units = VIEW_LIMITS.maxUnits - meter.unitsLeft;
        const left = gas && Math.floor(gas.balance / gas.scale);
        return { values: encoded, units, gasUsed: left && MAX_VIEW_GAS - left };
      }),
    );
  });
}

/** Structs with constructors are built by them, so that it is charged for; they have been checked before. */
function argumentsOf(
  machine: Machine,
  { function: target, parameters }: LoadedView,
  args: readonly Uint8Array[],
  layouts: readonly Layout[],
): MaybePromise<readonly Value[]> {
  const meter = new Meter(VIEW_LIMITS);
  try {
    return mapInOrder(layouts, (layout, index): MaybePromise<Value> => {
      const type = parameters[index]!;
      if (isConstructed(type)) return constructArgument(machine, type, args[index]!);
      return andThen(machine.chargeLayout(layout), () => decodeValue(layout, args[index]!, meter));
    });
  } catch (error) {
    if (!(error instanceof BcsError)) throw error;
    throw vmError('FAILED_TO_DESERIALIZE_ARGUMENT', target.module.id);
  }
}

/** The API's error for a failed run. */
export async function viewErrorOf(error: VmError, modules: ModuleLookup): Promise<ViewError> {
  const { status, subStatus, text, location } = error;
  const options = { cause: error };
  if (status !== 'ABORTED' || subStatus === undefined || location === undefined) {
    return new ViewError(text ?? statusText(error), status, options);
  }
  const message = abortText({
    location: { kind: 'module', module: location.module },
    code: subStatus,
    info: await abortInfo(location.module, subStatus, text, modules),
  });
  return new ViewError(message, status, options);
}

/**
 * A module's description of its abort code.
 * @param text of the abort itself, used in place of the module's description
 */
export async function abortInfo(
  id: ModuleId,
  code: bigint,
  text: string | undefined,
  modules: ModuleLookup,
): Promise<{ readonly reasonName: string; readonly description: string } | undefined> {
  const module = await modules(id);
  const errors = module && moduleMetadata(module).errors;
  const known = errors?.get(code & ABORT_REASON_MASK) ?? errors?.get(code);
  const description = text ?? known?.codeDescription;
  return description === undefined ? undefined : { reasonName: known?.codeName ?? '', description };
}

/** The reference's text for a failure without a message of its own. */
function statusText({ status, subStatus, location }: VmError): string {
  const why = subStatus === undefined ? '' : ` with sub status ${subStatus}`;
  if (location === undefined) return `VMError with status ${status}${why} at location UNDEFINED`;
  const { module, functionDefinition, codeOffset } = location;
  return (
    `VMError with status ${status}${why} at location Module ${debugModuleId(module)} ` +
    `at code offset ${codeOffset} in function definition ${functionDefinition}`
  );
}
