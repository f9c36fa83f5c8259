/**
 * Writes function definitions and code units; mirror image of read-function.ts and read-code.ts
 * (§1.8, §1.9).
 */
import { MAX_ACQUIRES, MAX_INSTRUCTIONS, MAX_LOCAL_INDEX } from './binary-limits.ts';
import type { BinaryWriter } from './binary-writer.ts';
import type { CodeUnit, FunctionDefinition, Instruction } from './compiled.ts';
import { FUNCTION_FLAGS, VISIBILITIES } from './definition-codes.ts';
import { immediateOf, OPCODES, type OpcodeInfo } from './opcodes.ts';

/** Writes one function definition with its code. @throws RangeError */
export function writeFunctionDefinition(
  writer: BinaryWriter,
  definition: FunctionDefinition,
): void {
  const { isEntry, isNative, code } = definition;
  if (isNative !== (code === undefined)) {
    throw new RangeError('a native function has no code, any other has');
  }
  writer.index(definition.handle, 'function handle');
  writer.u8(VISIBILITIES[definition.visibility]);
  writer.u8((isNative ? FUNCTION_FLAGS.native : 0) | (isEntry ? FUNCTION_FLAGS.entry : 0));
  writer.list(definition.acquires, MAX_ACQUIRES, 'acquires count', (struct) =>
    writer.index(struct, 'struct definition'),
  );
  if (code !== undefined) writeCodeUnit(writer, code);
}

/** Writes the locals' signature and the instructions of a function or script. @throws RangeError */
export function writeCodeUnit(writer: BinaryWriter, unit: CodeUnit): void {
  writer.index(unit.locals, 'locals signature');
  writer.list(unit.code, MAX_INSTRUCTIONS, 'instruction count', (instruction) =>
    writeInstruction(writer, instruction),
  );
}

function writeInstruction(writer: BinaryWriter, instruction: Instruction): void {
  const info = OPCODES[instruction.opcode];
  if (info === undefined) throw new RangeError(`opcode ${instruction.opcode}`);
  writer.requireVersion(info.since, info.name);
  writer.u8(instruction.opcode);
  const { operand, count, mask } = instruction;
  if ((operand === undefined) !== (info.operand === 'none')) throw wrongOperands(info);
  if ((count === undefined) !== (info.second !== 'count')) throw wrongOperands(info);
  if ((mask === undefined) !== (info.second !== 'mask')) throw wrongOperands(info);
  if (operand !== undefined) writeOperand(writer, info, operand);
  if (count !== undefined) writer.integer(count, 64, false, 'element count');
  if (mask !== undefined) writer.uleb64(mask, 'closure mask');
}

function writeOperand(writer: BinaryWriter, info: OpcodeInfo, operand: number | bigint): void {
  const immediate = immediateOf(info.operand);
  if (immediate !== undefined) {
    writer.integer(BigInt(operand), immediate.bits, immediate.signed, info.name);
    return;
  }
  if (typeof operand !== 'number') throw wrongOperands(info);
  if (info.operand === 'local') writer.uleb(operand, MAX_LOCAL_INDEX, 'local');
  else writer.index(operand, info.operand);
}

function wrongOperands(info: OpcodeInfo): RangeError {
  return new RangeError(`${info.name} takes operand ${info.operand}, second ${info.second}`);
}
