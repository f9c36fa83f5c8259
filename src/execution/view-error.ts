/** Errors of calls of view functions, with the API's messages (docs/spec/transactions.md §9.3). */

import type { ModuleId } from '../move/types/module-id.ts';
import { debugModuleId } from '../move/values/layout.ts';
import { STATUS, type StatusName } from '../vm/status/status.ts';

/** A call that is refused or that fails; `message` is shown to the client. */
export class ViewError extends Error {
  /** Absent for errors of the request. */
  readonly vmStatus: number | undefined;

  constructor(message: string, status?: StatusName, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ViewError';
    this.vmStatus = status && STATUS[status];
  }
}

/** A failure for which the virtual machine has no message of its own. */
export function vmError(status: StatusName, module?: ModuleId): ViewError {
  const location = module === undefined ? 'UNDEFINED' : `Module ${debugModuleId(module)}`;
  return new ViewError(`VMError with status ${status} at location ${location}`, status);
}
