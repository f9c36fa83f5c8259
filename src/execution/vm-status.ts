/** The outcome of a transaction as text (docs/spec/transactions.md §3). */

import { andThen, type MaybePromise } from '../maybe-promise.ts';
import { type CompiledModule, functionNameOfHandle } from '../move/modules/compiled.ts';
import type { ExecutionStatus } from '../move/transactions/transaction-info.ts';
import { formatAddress } from '../move/types/address.ts';
import type { ModuleId } from '../move/types/module-id.ts';
import type { ModuleView } from '../state/module-view.ts';
import { statusCodeName } from '../vm/status/status.ts';
import { instructionText } from './instruction-text.ts';

interface NewestModules {
  /** The result of `decode` for the newest modules. */
  newestOf<T>(
    decode: (modules: ModuleView) => MaybePromise<T | undefined>,
  ): MaybePromise<T | undefined>;
}

export const EXECUTED = 'Executed successfully';

type ExecutionFailure = Extract<ExecutionStatus, { kind: 'executionFailure' }>;

export function vmStatusText(
  status: ExecutionStatus,
  modules: NewestModules,
): MaybePromise<string> {
  switch (status.kind) {
    case 'success':
      return EXECUTED;
    case 'outOfGas':
      return 'Out of gas';
    case 'moveAbort':
      return abortText(status);
    case 'executionFailure':
      return failureText(status, modules);
    case 'miscellaneousError':
      return status.statusCode === undefined
        ? 'Execution failed with miscellaneous error and no status code'
        : statusCodeName(status.statusCode);
  }
}

type MoveAbort = Extract<ExecutionStatus, { kind: 'moveAbort' }>;

export function abortText({ location, code, info }: Omit<MoveAbort, 'kind'>): string {
  const shownCode = `0x${code.toString(16)}`;
  if (location.kind === 'script') return `Move abort: code ${shownCode}`;
  const where = `Move abort in ${moduleText(location.module)}: `;
  if (info === undefined) return where + shownCode;
  return `${where}${info.reasonName}(${shownCode}): ${info.description}`;
}

/** As in the reference, function and instruction are looked up in the newest module, not in the one that ran. */
function failureText(failure: ExecutionFailure, modules: NewestModules): MaybePromise<string> {
  const { location, codeOffset } = failure;
  const at = `at code offset ${codeOffset}`;
  if (location.kind === 'script') return `Execution failed in script ${at}`;
  const { module: id } = location;
  const found = modules.newestOf((newest) =>
    andThen(newest.lookup(id), (module) => module && functionText(module, id, failure)),
  );
  return andThen(found, (text) => {
    const shown = text ?? `${moduleText(id)}::<#${failure.function} function>`;
    return `Execution failed in ${shown} ${at}`;
  });
}

function functionText(
  module: CompiledModule,
  id: ModuleId,
  { function: index, codeOffset }: ExecutionFailure,
): string | undefined {
  const definition = module.functionDefinitions[index];
  if (definition === undefined) return undefined;
  const name = `${moduleText(id)}::${functionNameOfHandle(module, definition.handle)}`;
  const instruction = definition.code?.code[codeOffset];
  return instruction === undefined
    ? name
    : `${name} (on instruction ${instructionText(instruction)})`;
}

function moduleText({ address, name }: ModuleId): string {
  return `${formatAddress(address)}::${name}`;
}
