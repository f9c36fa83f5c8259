/** Why a run ended without results. */
import type { ModuleId } from '../../move/types/module-id.ts';
import { STATUS, type StatusName } from './status.ts';

interface VmErrorFacts {
  /** The code of an abort, or why an operation on a vector failed. */
  readonly subStatus?: bigint | undefined;
  /** The reference's own words, where it has some; shown to clients. */
  readonly text?: string | undefined;
  /** A limit of this node, not of the chain: it says nothing about the code. */
  readonly isOwnLimit?: boolean;
}

export interface VmLocation {
  readonly module: ModuleId;
  /** The place of its function among the definitions of the module, and of the instruction in it. */
  readonly functionDefinition: number;
  readonly codeOffset: number;
}

/** A failed run: a status of the reference's machine, where, and why. */
export class VmError extends Error {
  readonly status: StatusName;
  readonly subStatus: bigint | undefined;
  readonly text: string | undefined;
  readonly isOwnLimit: boolean;
  /** Absent: no code ran, the reference's location `UNDEFINED`. */
  location: VmLocation | undefined;

  constructor(status: StatusName, { subStatus, text, isOwnLimit = false }: VmErrorFacts = {}) {
    super(text ?? status);
    this.name = 'VmError';
    this.status = status;
    this.subStatus = subStatus;
    this.text = text;
    this.isOwnLimit = isOwnLimit;
  }

  get statusCode(): number {
    return STATUS[this.status];
  }

  /** Says where it was, unless that was said closer to it. */
  at(location: VmLocation): this {
    this.location ??= location;
    return this;
  }
}

/** What only code can cause that the verifier of the reference refuses. */
export function refusedCode(text: string): VmError {
  return new VmError('VERIFICATION_ERROR', { text });
}
