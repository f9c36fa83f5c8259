/** Constants of modules: integers, bools, addresses, and vectors of them. */

import { MoveError } from '../../move/errors.ts';
import type { SignatureToken } from '../../move/modules/compiled.ts';
import type { Layout } from '../../move/values/layout.ts';
import { Meter } from '../meter.ts';
import { refusedCode } from '../status/vm-error.ts';
import type { Value } from '../value.ts';
import { decodeValue } from '../values/bcs.ts';

/** Of one constant; a constant has less than 64 KiB of bytes. */
const LIMITS = {
  maxUnits: 1_000_000,
  maxOperationUnits: 1_000_000,
  maxAllocatedBytes: 16 * 1024 * 1024,
  maxFrames: 0,
  maxReads: 0,
};

/** @throws VmError VERIFICATION_ERROR */
export function decodeConstant(type: SignatureToken, data: Uint8Array): Value {
  try {
    return decodeValue(layoutOf(type), data, new Meter(LIMITS));
  } catch (error) {
    if (error instanceof MoveError) throw refusedCode(`constant: ${error.message}`);
    throw error;
  }
}

function layoutOf(type: SignatureToken): Layout {
  switch (type.kind) {
    case 'vector':
      if (type.element.kind === 'u8') return { kind: 'bytes' };
      return { kind: 'vector', element: layoutOf(type.element) };
    case 'reference':
    case 'typeParameter':
    case 'struct':
    case 'function':
    case 'signer':
      throw refusedCode('constant of such a type');
    default:
      return { kind: type.kind };
  }
}
