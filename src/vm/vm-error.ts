/** Why a run ended without results. */
import type { ModuleId } from '../move/types/module-id.ts';
import { STATUS, type StatusName } from './status.ts';

export interface VmErrorFacts {
  /** The module whose code failed; absent: none (`UNDEFINED`), as for what fails before code runs. */
  readonly module?: ModuleId | undefined;
  /** The code of an abort, or why an operation on a vector failed. */
  readonly subStatus?: bigint | undefined;
  /** The reference's own words, where it has some; shown to clients. */
  readonly message?: string | undefined;
}

/** A failed run: a status of the reference's machine, where, and why. */
export class VmError extends Error {
  readonly status: StatusName;
  /** The number of the status (docs/spec/transactions.md §10). */
  readonly statusCode: number;
  module: ModuleId | undefined;
  readonly subStatus: bigint | undefined;
  readonly text: string | undefined;

  constructor(status: StatusName, { module, subStatus, message }: VmErrorFacts = {}) {
    super(message ?? status);
    this.name = 'VmError';
    this.status = status;
    this.statusCode = STATUS[status];
    this.module = module;
    this.subStatus = subStatus;
    this.text = message;
  }
}
