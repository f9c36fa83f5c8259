import type { StatusName } from '../status/status.ts';
import { VmError } from '../status/vm-error.ts';

/** The error for code that is not what its package or its metadata say of it, in the reference's words. */
export function mismatch(text: string, status: StatusName = 'CONSTRAINT_NOT_SATISFIED'): VmError {
  return new VmError(status, { text: `metadata and code bundle mismatch: ${text}` });
}
