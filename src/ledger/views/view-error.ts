/** Why a call of a view function has no values, with the API's messages (docs/spec/transactions.md §9.3). */

import type { ModuleId } from '../../move/types/module-id.ts';
import { debugModuleId } from '../../move/values/layout.ts';

/** Status codes of the virtual machine, which errors contain (docs/spec/transactions.md §9.3). */
const VM_STATUS = {
  INVALID_MAIN_FUNCTION_SIGNATURE: 1011,
  CONSTRAINT_NOT_SATISFIED: 1075,
  NUMBER_OF_TYPE_ARGUMENTS_MISMATCH: 1076,
  LINKER_ERROR: 1081,
  FUNCTION_RESOLUTION_FAILURE: 1091,
  FAILED_TO_DESERIALIZE_ARGUMENT: 1100,
  TYPE_RESOLUTION_FAILURE: 2021,
  MISSING_DATA: 4008,
  ABORTED: 4016,
} as const;

type VmStatus = keyof typeof VM_STATUS;

/** A call that is refused or that fails; `message` is shown to the client. */
export class ViewError extends Error {
  /** Absent for errors of the request. */
  readonly vmStatus: number | undefined;

  constructor(message: string, status?: VmStatus, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ViewError';
    this.vmStatus = status && VM_STATUS[status];
  }
}

/** A failure for which the virtual machine has no words of its own. */
export function vmError(status: VmStatus, module?: ModuleId): ViewError {
  const location = module === undefined ? 'UNDEFINED' : `Module ${debugModuleId(module)}`;
  return new ViewError(`VMError with status ${status} at location ${location}`, status);
}

/** A call that only running the function can answer. */
export class NotRunError extends Error {
  constructor() {
    super('the function has no reader');
    this.name = 'NotRunError';
  }
}
