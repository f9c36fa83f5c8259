/**
 * Checks that every block leaves the stack balanced, that locals have values when they are used and values are not
 * lost, and that a function declares what it acquires (docs/spec/verifier.md §3.12, §3.14, §3.16).
 */
import type {
  CompiledModule,
  FunctionDefinition,
  Instruction,
  SignatureToken,
} from '../../../move/modules/compiled.ts';
import { OPCODES } from '../../../move/modules/opcodes.ts';
import { DROP, hasAll, KEY } from '../../../move/types/abilities.ts';
import { VmError } from '../../status/status.ts';
import {
  byOpcode,
  fieldsOf,
  flagsByOpcode,
  functionSubject,
  structSubject,
} from '../model/instructions.ts';
import type { VerifierConfig, VerifierMeter } from '../model/verifier-config.ts';
import { analyze, type FunctionView } from './analysis.ts';

type Effect = readonly [taken: number, given: number];

/** How many values an instruction pops and pushes, if that is always the same. */
const EFFECTS = byOpcode<Effect>({
  ...all([1, 0], 'Pop BrTrue BrFalse StLoc Abort'),
  ...all([0, 0], 'Branch Nop'),
  ...all([0, 1], 'LdU8 LdU16 LdU32 LdU64 LdU128 LdU256 LdI8 LdI16 LdI32 LdI64 LdI128 LdI256'),
  ...all([0, 1], 'LdConst LdTrue LdFalse CopyLoc MoveLoc MutBorrowLoc ImmBorrowLoc'),
  ...all([1, 1], 'CastU8 CastU16 CastU32 CastU64 CastU128 CastU256'),
  ...all([1, 1], 'CastI8 CastI16 CastI32 CastI64 CastI128 CastI256'),
  ...all([1, 1], 'Not Negate FreezeRef ReadRef VecLen VecPopBack TestVariant TestVariantGeneric'),
  ...all([1, 1], 'Exists ExistsGeneric MoveFrom MoveFromGeneric'),
  ...all([1, 1], 'MutBorrowGlobal MutBorrowGlobalGeneric ImmBorrowGlobal ImmBorrowGlobalGeneric'),
  ...all([1, 1], 'MutBorrowField MutBorrowFieldGeneric ImmBorrowField ImmBorrowFieldGeneric'),
  ...all([1, 1], 'MutBorrowVariantField MutBorrowVariantFieldGeneric'),
  ...all([1, 1], 'ImmBorrowVariantField ImmBorrowVariantFieldGeneric'),
  ...all([2, 1], 'Add Sub Mul Mod Div BitOr BitAnd Xor Shl Shr Or And Eq Neq Lt Gt Le Ge'),
  ...all([2, 1], 'VecImmBorrow VecMutBorrow'),
  ...all([2, 0], 'WriteRef MoveTo MoveToGeneric VecPushBack AbortMsg'),
  ...all([3, 0], 'VecSwap'),
});

function all(effect: Effect, names: string): Readonly<Record<string, Effect>> {
  return Object.fromEntries(names.split(' ').map((name) => [name, effect]));
}

/** @throws VmError */
export function checkStackUsage(view: FunctionView, config: VerifierConfig): void {
  for (const { start, end } of view.graph.blocks) {
    let pushed = 0;
    let size = 0;
    for (let offset = start; offset <= end; offset += 1) {
      const [popCount, pushCount] = effectOf(view, view.code[offset]!);
      pushed += pushCount;
      if (pushed > config.maxPushSize) throw new VmError('VALUE_STACK_PUSH_OVERFLOW');
      if (size < popCount) throw new VmError('NEGATIVE_STACK_SIZE_WITHIN_BLOCK');
      size += pushCount - popCount;
      if (size > config.maxValueStackSize) throw new VmError('VALUE_STACK_OVERFLOW');
    }
    if (size > 0) throw new VmError('POSITIVE_STACK_SIZE_AT_BLOCK_END');
  }
}

/** How many values an instruction pops and pushes. */
export function effectOf(view: FunctionView, instruction: Instruction): Effect {
  return EFFECTS[instruction.opcode] ?? variableEffect(view, instruction);
}

function variableEffect({ binary, results }: FunctionView, instruction: Instruction): Effect {
  const { name } = OPCODES[instruction.opcode]!;
  const { operand, count, mask = 0n } = instruction;
  const countOf = (signature: number) => binary.signatures[signature]!.length;
  const fieldCount = () => {
    const { definition, variant } = structSubject(binary, instruction);
    return fieldsOf(definition, variant).length;
  };
  switch (name) {
    case 'Ret':
      return [results.length, 0];
    case 'Call':
    case 'CallGeneric': {
      const { handle } = functionSubject(binary, instruction);
      return [countOf(handle.parameters), countOf(handle.return)];
    }
    case 'CallClosure': {
      // A function type: the signatures were checked.
      const { args, results: returned } = binary.signatures[
        operand as number
      ]![0] as SignatureToken & { kind: 'function' };
      return [1 + args.length, returned.length];
    }
    case 'PackClosure':
    case 'PackClosureGeneric':
      return [bitCount(mask), 1];
    case 'VecPack':
      return [Number(count), 1];
    case 'VecUnpack':
      return [1, Number(count)];
    default:
      return name.startsWith('Pack') ? [fieldCount(), 1] : [1, fieldCount()];
  }
}

function bitCount(mask: bigint): number {
  return [...mask.toString(2)].filter((bit) => bit === '1').length;
}

const STEP_UNITS = 15;
const RETURN_UNITS_PER_LOCAL = 30;
const JOIN_UNITS = 10;
const JOIN_UNITS_PER_LOCAL = 5;

/** Whether a local has a value: on no path, on some, on all. */
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

const CALLS = flagsByOpcode(['Call', 'CallGeneric']);
const ACQUIRES = flagsByOpcode([
  ...['MoveFrom', 'MutBorrowGlobal', 'ImmBorrowGlobal'],
  ...['MoveFromGeneric', 'MutBorrowGlobalGeneric', 'ImmBorrowGlobalGeneric'],
]);

/** @param definitionOf function definitions by handle. @throws VmError */
export function checkAcquires(
  module: CompiledModule,
  { acquires, code }: FunctionDefinition,
  definitionOf: ReadonlyMap<number, FunctionDefinition>,
): void {
  const declared = new Set(acquires);
  const actual = new Set<number>();
  const acquire = (definition: number) => {
    if (!declared.has(definition)) throw new VmError('MISSING_ACQUIRES_ANNOTATION');
    actual.add(definition);
  };
  for (const instruction of code!.code) {
    if (CALLS[instruction.opcode]) {
      const callee = definitionOf.get(functionSubject(module, instruction).handleIndex);
      for (const definition of callee?.acquires ?? []) acquire(definition);
    } else if (ACQUIRES[instruction.opcode])
      acquire(structSubject(module, instruction).definitionIndex);
  }
  for (const definition of [...declared].sort((a, b) => a - b)) {
    if (!actual.has(definition)) throw new VmError('EXTRANEOUS_ACQUIRES_ANNOTATION');
    const { handle } = module.structDefinitions[definition]!;
    if (!hasAll(module.structHandles[handle]!.abilities, KEY)) {
      throw new VmError('INVALID_ACQUIRES_ANNOTATION');
    }
  }
}
