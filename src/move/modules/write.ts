/**
 * Writes compiled modules and scripts, versions 5 to 10, in the canonical form of the reference's
 * serializer: fixed table order, no empty tables, version word with its flag bits from version 7 on
 * (docs/spec/move.md §1.1, §1.4, §5). The binaries of real chains come back byte for byte. Hand-built
 * values are welcome: what cannot be written throws, and reading the result back runs the bounds
 * check. Mirror image of read.ts.
 */
import {
  MAGIC,
  MAX_TABLE_BYTES,
  MAX_TABLES,
  MAX_VERSION,
  MIN_WRITTEN_VERSION,
  VERSION_8_FUNCTION_VALUES,
  VERSION_FLAGS,
  versionWordOf,
} from './binary-limits.ts';
import { BinaryWriter } from './binary-writer.ts';
import type { CompiledModule, CompiledScript } from './compiled.ts';
import { TABLE_KINDS, type TableKind, type TableName } from './table-kinds.ts';
import { writeCodeUnit } from './write-code.ts';
import { writeFunctionTypeParameters } from './write-signature.ts';
import { writeAccessSpecifiers, writeEntries } from './write-tables.ts';

/** Tables by name, those a script lacks being empty. */
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
  header.u32(versionWordOf(version));
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
