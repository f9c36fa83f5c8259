/** Reads code units (docs/spec/move.md §1.8, §1.9). */
import type { BinaryCursor } from './binary-cursor.ts';
import { MAX_INSTRUCTIONS, MAX_LOCAL_INDEX } from './binary-limits.ts';
import type { CodeUnit, Instruction } from './compiled.ts';
import { immediateOf, OPCODES, type OpcodeInfo } from './opcodes.ts';

/** Immediates up to this many bits are numbers, wider ones bigints. */
const MAX_NUMBER_BITS = 32;

/**
 * Instructions without operand or with one small number, one object each: they are nine tenths of
 * real code, and a cached module keeps its code in memory.
 */
const SHARED_OPERANDS = 64;
const shared = new Map<number, Instruction>();

function sharedInstruction(opcode: number, operand?: number): Instruction {
  const key = opcode * (SHARED_OPERANDS + 1) + (operand === undefined ? 0 : operand + 1);
  let instruction = shared.get(key);
  if (instruction === undefined) {
    instruction = Object.freeze(operand === undefined ? { opcode } : { opcode, operand });
    shared.set(key, instruction);
  }
  return instruction;
}

/**
 * Reads the locals' signature and the instructions of a function or script. @throws
 * BinaryFormatError
 */
export function readCodeUnit(cursor: BinaryCursor): CodeUnit {
  const locals = cursor.index('locals signature');
  const code = cursor.list(MAX_INSTRUCTIONS, 'instruction count', readInstruction);
  return { locals, code };
}

function readInstruction(cursor: BinaryCursor): Instruction {
  const start = cursor.offset;
  const opcode = cursor.u8('opcode');
  const info = OPCODES[opcode];
  if (info === undefined) throw cursor.error('bad_value', `opcode ${opcode}`, start);
  if (cursor.version < info.since) cursor.requireVersion(info.since, info.name);
  if (info.operand === 'none') return sharedInstruction(opcode);
  const operand = readOperand(cursor, info);
  if (info.second === 'count') {
    return { opcode, operand, count: cursor.integer(64, false, 'element count') };
  }
  if (info.second === 'mask') return { opcode, operand, mask: cursor.uleb64('closure mask') };
  if (typeof operand === 'number' && operand >= 0 && operand < SHARED_OPERANDS) {
    return sharedInstruction(opcode, operand);
  }
  return { opcode, operand };
}

function readOperand(cursor: BinaryCursor, info: OpcodeInfo): number | bigint {
  if (info.operand === 'local') return cursor.uleb(MAX_LOCAL_INDEX, 'local');
  const immediate = immediateOf(info.operand);
  if (immediate === undefined) return cursor.index(info.operand);
  const value = cursor.integer(immediate.bits, immediate.signed, info.operand);
  return immediate.bits <= MAX_NUMBER_BITS ? Number(value) : value;
}
