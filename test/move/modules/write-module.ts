/**
 * Writes compiled modules and scripts, versions 5 to 10, in the canonical form of the reference's serializer: fixed
 * table order, no empty tables, version word with its flag bits from version 7 on (docs/spec/move.md §1.1, §1.4, §5).
 * The binaries of real chains are reproduced byte for byte. Handmade values are allowed: invalid ones throw, and
 * reading the result back runs the bounds check. Counterpart of read.ts.
 */

import type {
  CodeUnit,
  CompiledModule,
  CompiledScript,
  FunctionDefinition,
  Instruction,
} from '../../../src/move/modules/compiled.ts';
import {
  FUNCTION_FLAGS,
  MAGIC,
  MAX_ACQUIRES,
  MAX_INSTRUCTIONS,
  MAX_LOCAL_INDEX,
  MAX_TABLE_BYTES,
  MAX_TABLES,
  MAX_VERSION,
  TABLE_KINDS,
  type TableKind,
  type TableName,
  VERSION_7_ENUMS,
  VERSION_8_FUNCTION_VALUES,
  VERSION_FLAGS,
  VISIBILITIES,
} from '../../../src/move/modules/format.ts';
import { OPCODES, type OpcodeInfo } from '../../../src/move/modules/opcodes.ts';
import { BinaryWriter } from './binary-writer.ts';
import {
  writeAccessSpecifiers,
  writeEntries,
  writeFunctionTypeParameters,
} from './write-tables.ts';

/** Lowest version that is written. */
const MIN_WRITTEN_VERSION = 5;

/** Tables by name; a script lacks some of them, which counts as empty. */
type Tables = { readonly [K in TableName]?: CompiledModule[K] };

/**
 * The bytes of a module. Of `versionWord` only the version counts, which must be `version`.
 * @throws RangeError for a value that its field, its limit or the version cannot hold.
 */
export function writeModule(module: CompiledModule): Buffer {
  return writeBinary(module, (writer) => writer.index(module.selfHandle, 'self module handle'));
}

/**
 * The bytes of a script. Of `versionWord` only the version counts, which must be `version`.
 * @throws RangeError for a value that its field, its limit or the version cannot hold.
 */
export function writeScript(script: CompiledScript): Buffer {
  return writeBinary(script, (writer) => {
    writeFunctionTypeParameters(writer, script.typeParameters);
    writer.index(script.parameters, 'parameters signature');
    if (script.version >= VERSION_8_FUNCTION_VALUES) {
      writeAccessSpecifiers(writer, script.accessSpecifiers);
    } else if (script.accessSpecifiers !== undefined) {
      writer.requireVersion(VERSION_8_FUNCTION_VALUES, 'access specifiers');
    }
    writeCodeUnit(writer, script.code);
  });
}

function writeBinary(
  binary: CompiledModule | CompiledScript,
  writeTail: (writer: BinaryWriter) => void,
): Buffer {
  const { version, versionWord } = binary;
  if (!(version >= MIN_WRITTEN_VERSION && version <= MAX_VERSION)) {
    throw new RangeError(`version ${version}, written are ${MIN_WRITTEN_VERSION}-${MAX_VERSION}`);
  }
  if ((versionWord & ~VERSION_FLAGS) >>> 0 !== version) {
    throw new RangeError(`version word ${versionWord} is not of version ${version}`);
  }
  const contents = new BinaryWriter(version);
  const directory = writeTables(contents, binary);
  const header = new BinaryWriter(version);
  header.fixed(MAGIC);
  header.u32(version >= VERSION_7_ENUMS ? VERSION_FLAGS + version : version);
  header.list(directory, MAX_TABLES, 'table count', ({ kind, offset, size }) => {
    header.u8(kind.code);
    header.uleb(offset, MAX_TABLE_BYTES, 'table offset');
    header.uleb(size, MAX_TABLE_BYTES, 'table size');
  });
  writeTail(contents);
  return Buffer.concat([header.view(), contents.view()]);
}

interface DirectoryEntry {
  readonly kind: TableKind;
  readonly offset: number;
  readonly size: number;
}

function writeTables(contents: BinaryWriter, tables: Tables): DirectoryEntry[] {
  const directory: DirectoryEntry[] = [];
  for (const kind of TABLE_KINDS) {
    const offset = contents.length;
    writeTable(contents, kind, tables[kind.name] ?? []);
    const size = contents.length - offset;
    if (size > 0) directory.push({ kind, offset, size });
  }
  return directory;
}

function writeTable<K extends TableName>(
  contents: BinaryWriter,
  kind: TableKind & { readonly name: K },
  entries: readonly CompiledModule[K][number][],
): void {
  if (entries.length > 0) contents.requireVersion(kind.since, kind.name);
  writeEntries(contents, kind.name, entries);
}

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
  const { immediate } = info;
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
