/** How a run that failed is recorded (docs/spec/vm.md §8.4). */
import type { ModuleLookup } from '../move/modules/lookup.ts';
import type { ExecutionStatus } from '../move/transactions/transaction-info.ts';
import { STATUS, type StatusName, type VmError } from '../vm/status/status.ts';
import { abortInfo, viewErrorOf } from './run-view.ts';
import { isScript } from './script-module.ts';
import { ViewError } from './view-error.ts';

interface Outcome {
  readonly status: ExecutionStatus;
  /** The machine's text for it. */
  readonly message: string | undefined;
}

/** Why a transaction is refused. */
export interface DiscardReason {
  readonly status: StatusName;
  /** The machine's text for it. */
  readonly message: string | undefined;
}

/** Failures of the chain's gas limits have no code location. */
const GAS_LIMITS: ReadonlySet<StatusName> = new Set([
  'EXECUTION_LIMIT_REACHED',
  'IO_LIMIT_REACHED',
  'STORAGE_LIMIT_REACHED',
]);
/** The first status of execution failures; lower ones have no code location. */
const FIRST_EXECUTION_STATUS = 4_000;

/** Rejects with ViewError for a failure that says nothing about the transaction. */
export async function assertOfTransaction(error: VmError, modules: ModuleLookup): Promise<void> {
  if (error.isNodeLimit || error.status === 'UNIMPLEMENTED_FUNCTIONALITY')
    throw await viewErrorOf(error, modules);
}

/**
 * The on-chain form of a failure.
 * @throws ViewError for one that is not the transaction's; or rejects with it
 */
export async function outcomeOf(
  error: VmError | ViewError,
  modules: ModuleLookup,
): Promise<Outcome> {
  if (error instanceof ViewError) {
    if (error.vmStatus === undefined) throw error;
    return miscellaneous(error.vmStatus, undefined);
  }
  await assertOfTransaction(error, modules);
  const { status, subStatus, text, location } = error;
  if (status === 'OUT_OF_GAS') return { status: { kind: 'outOfGas' }, message: undefined };
  const code = STATUS[status];
  if (location === undefined || code < FIRST_EXECUTION_STATUS || GAS_LIMITS.has(status))
    return miscellaneous(code, text);
  const { module, functionDefinition, codeOffset } = location;
  const where = isScript(module)
    ? ({ kind: 'script' } as const)
    : ({ kind: 'module', module } as const);
  if (status === 'ABORTED' && subStatus !== undefined) {
    const info =
      where.kind === 'script' ? undefined : await abortInfo(module, subStatus, text, modules);
    const abort = { kind: 'moveAbort', location: where, code: subStatus, info } as const;
    return { status: abort, message: undefined };
  }
  const failure = {
    kind: 'executionFailure',
    location: where,
    function: functionDefinition,
    codeOffset,
  } as const;
  return { status: failure, message: text };
}

function miscellaneous(code: number, message: string | undefined): Outcome {
  return { status: { kind: 'miscellaneousError', statusCode: BigInt(code) }, message };
}
