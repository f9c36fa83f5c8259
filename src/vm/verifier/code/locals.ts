/** Locals have values when they are used, and values are not lost (docs/spec/verifier.md §3.14). */
import { OPCODES } from '../../../move/modules/opcodes.ts';
import { DROP, hasAll } from '../../../move/types/abilities.ts';
import { VmError } from '../../status/vm-error.ts';
import type { VerifierMeter } from '../model/verifier-meter.ts';
import { analyze } from './fixpoint.ts';
import type { FunctionView } from './function-view.ts';

const STEP_UNITS = 15;
const RETURN_UNITS_PER_LOCAL = 30;
const JOIN_UNITS = 10;
const JOIN_UNITS_PER_LOCAL = 5;

/** Whether a local has a value: on no way there, on some, on all. */
const UNAVAILABLE = 0;
const MAYBE_AVAILABLE = 1;
const AVAILABLE = 2;

/** @throws VmError */
export function* checkLocals(view: FunctionView, meter: VerifierMeter): Generator<void> {
  const { types, locals, parameters, typeParameters, code } = view;
  const abilitiesOf = types.abilitiesIn(typeParameters);
  const canDrop = locals.map((token) => hasAll(abilitiesOf(types.of(token)), DROP));
  const initial = new Uint8Array(locals.length).fill(AVAILABLE, 0, parameters.length);
  yield* analyze<Uint8Array>(view, initial, {
    copy: (state) => state.slice(),
    execute: (state, offset) => {
      meter.add(STEP_UNITS);
      const { opcode, operand } = code[offset]!;
      const { name, operand: kind } = OPCODES[opcode]!;
      if (kind === 'local') execute(name, state, operand as number, canDrop);
      else if (name === 'Ret') checkReturn(state, canDrop, meter);
    },
    join: (state, other) => {
      meter.add(JOIN_UNITS + JOIN_UNITS_PER_LOCAL * state.length);
      return join(state, other);
    },
  });
}

function execute(
  name: string,
  state: Uint8Array,
  local: number,
  canDrop: readonly boolean[],
): void {
  const isAvailable = state[local] === AVAILABLE;
  switch (name) {
    case 'StLoc':
      if (state[local] !== UNAVAILABLE && !canDrop[local]) {
        throw new VmError('STLOC_UNSAFE_TO_DESTROY_ERROR');
      }
      state[local] = AVAILABLE;
      return;
    case 'MoveLoc':
      if (!isAvailable) throw new VmError('MOVELOC_UNAVAILABLE_ERROR');
      state[local] = UNAVAILABLE;
      return;
    case 'CopyLoc':
      if (!isAvailable) throw new VmError('COPYLOC_UNAVAILABLE_ERROR');
      return;
    default:
      if (!isAvailable) throw new VmError('BORROWLOC_UNAVAILABLE_ERROR');
  }
}

function checkReturn(state: Uint8Array, canDrop: readonly boolean[], meter: VerifierMeter): void {
  meter.add(RETURN_UNITS_PER_LOCAL * state.length);
  state.forEach((local, place) => {
    if (local !== UNAVAILABLE && !canDrop[place]) {
      throw new VmError('UNSAFE_RET_UNUSED_VALUES_WITHOUT_DROP');
    }
  });
}

function join(state: Uint8Array, other: Uint8Array): Uint8Array {
  const joined = state.map((local, place) => (local === other[place] ? local : MAYBE_AVAILABLE));
  return joined.every((local, place) => local === state[place]) ? state : joined;
}
