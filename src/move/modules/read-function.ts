/** Reads function definitions and code units in the forms of every version (docs/spec/move.md §1.8, §1.9). */
import type { BinaryCursor } from './binary-cursor.ts';
import type { CodeUnit, FunctionDefinition, Instruction, Visibility } from './compiled.ts';
import {
  FUNCTION_FLAGS,
  MAX_ACQUIRES,
  MAX_INSTRUCTIONS,
  MAX_LOCAL_INDEX,
  VERSION_2_ABILITIES,
  VERSION_5_ENTRY,
  VISIBILITIES,
} from './format.ts';
import { OPCODES, type OpcodeInfo } from './opcodes.ts';

export function readFunctionDefinition(cursor: BinaryCursor): FunctionDefinition {
  const handle = cursor.index('function handle');
  const { visibility, isEntry, isNative, unknownFlags } = readQualifiers(cursor);
  const flagsEnd = cursor.offset;
  const acquires = cursor.list(MAX_ACQUIRES, 'acquires count', (at) =>
    at.index('struct definition'),
  );
  const code = isNative ? undefined : readCodeUnit(cursor);
  if (unknownFlags !== 0) {
    throw cursor.error('bad_flags', `function flags ${unknownFlags}`, flagsEnd - 1);
  }
  return { handle, visibility, isEntry, isNative, acquires, code };
}

interface Qualifiers {
  readonly visibility: Visibility;
  readonly isEntry: boolean;
  readonly isNative: boolean;
  /** Refused after the code. */
  readonly unknownFlags: number;
}

function readQualifiers(cursor: BinaryCursor): Qualifiers {
  const start = cursor.offset;
  const { native, entry } = FUNCTION_FLAGS;
  if (cursor.version < VERSION_2_ABILITIES) {
    const flags = cursor.u8('function flags');
    const visibility = (flags & VISIBILITIES.public) === 0 ? 'private' : 'public';
    const unknownFlags = flags & ~(VISIBILITIES.public | native);
    return { visibility, isEntry: false, isNative: (flags & native) !== 0, unknownFlags };
  }
  const visibilityCode = cursor.u8('visibility');
  const isBeforeEntry = cursor.version < VERSION_5_ENTRY;
  const isScript = isBeforeEntry && visibilityCode === VISIBILITIES.script;
  const visibility = isScript ? 'public' : visibilityOf(cursor, visibilityCode, start);
  const flags = cursor.u8('function flags');
  const isNative = (flags & native) !== 0;
  if (isBeforeEntry) {
    return { visibility, isEntry: isScript, isNative, unknownFlags: flags & ~native };
  }
  const isEntry = (flags & entry) !== 0;
  return { visibility, isEntry, isNative, unknownFlags: flags & ~(native | entry) };
}

function visibilityOf(cursor: BinaryCursor, code: number, offset: number): Visibility {
  switch (code) {
    case VISIBILITIES.private:
      return 'private';
    case VISIBILITIES.public:
      return 'public';
    case VISIBILITIES.friend:
      return 'friend';
    default:
      throw cursor.error('bad_value', `visibility ${code}`, offset);
  }
}

/** Immediates up to this many bits are numbers, wider ones bigints. */
const MAX_NUMBER_BITS = 32;

/**
 * Shared objects for instructions with no operand or one small number: they are nine tenths of real code, and the code
 * of a cached module stays in memory.
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

export function readCodeUnit(cursor: BinaryCursor): CodeUnit {
  const locals = cursor.index('locals signature');
  const code = cursor.list(MAX_INSTRUCTIONS, 'instruction count', readInstruction);
  return { locals, code };
}

function readInstruction(cursor: BinaryCursor): Instruction {
  const start = cursor.offset;
  const opcode = cursor.u8('opcode');
  const info = OPCODES[opcode];
  if (info === undefined) throw cursor.error('unknown_opcode', `opcode ${opcode}`, start);
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
  const { immediate } = info;
  if (immediate === undefined) return cursor.index(info.operand);
  const value = cursor.integer(immediate.bits, immediate.signed, info.operand);
  return immediate.bits <= MAX_NUMBER_BITS ? Number(value) : value;
}
