/** Every block takes from the stack what it put there, and nothing else (docs/spec/verifier.md §3.12). */
import type { Instruction, SignatureToken } from '../../../move/modules/compiled.ts';
import { OPCODES } from '../../../move/modules/opcodes.ts';
import { VmError } from '../../status/vm-error.ts';
import { byOpcode } from '../model/by-opcode.ts';
import { fieldsOf, functionSubject, structSubject } from '../model/subject.ts';
import type { VerifierConfig } from '../model/verifier-config.ts';
import type { FunctionView } from './function-view.ts';

type Effect = readonly [taken: number, given: number];

/** How many values an instruction takes and gives, where that is always the same. */
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
      const [taken, given] = effectOf(view, view.code[offset]!);
      pushed += given;
      if (pushed > config.maxPushSize) throw new VmError('VALUE_STACK_PUSH_OVERFLOW');
      if (size < taken) throw new VmError('NEGATIVE_STACK_SIZE_WITHIN_BLOCK');
      size += given - taken;
      if (size > config.maxValueStackSize) throw new VmError('VALUE_STACK_OVERFLOW');
    }
    if (size > 0) throw new VmError('POSITIVE_STACK_SIZE_AT_BLOCK_END');
  }
}

/** How many values an instruction takes and gives. */
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
      const { args, results: given } = binary.signatures[
        operand as number
      ]![0] as SignatureToken & { kind: 'function' };
      return [1 + args.length, given.length];
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
