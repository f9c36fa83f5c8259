/**
 * Loads compiled modules and scripts, versions 1 to 10, as the reference does: header, table directory, tables, tail,
 * then the bounds check (docs/spec/move.md §1, §5, §6). Exactly the modules that load here have an ABI. Nothing of the
 * result refers to the input's memory. Mirrored by test/move/modules/write-module.ts.
 */
import { byteTools } from '../bcs/bytes.ts';
import { contentDigest } from '../crypto/hash.ts';
import { BinaryCursor } from './binary-cursor.ts';
import { checkModuleBounds, checkScriptBounds } from './bounds-check.ts';
import {
  type CompiledModule,
  type CompiledScript,
  DEFAULT_LOADER_LIMITS,
  type LoaderLimits,
} from './compiled.ts';
import {
  BinaryFormatError,
  MAGIC,
  MAX_TABLE_BYTES,
  MAX_TABLES,
  MAX_VERSION,
  MIN_VERSION,
  TABLE_KINDS,
  type TableKind,
  type TableName,
  tableKindOfCode,
  VERSION_8_FUNCTION_VALUES,
  VERSION_FLAGS,
} from './format.ts';
import { readCodeUnit } from './read-function.ts';
import { readFunctionTypeParameters } from './read-signature.ts';
import { readAccessSpecifiers, readEntries } from './read-tables.ts';

/**
 * Loads a module. Bytes after its tail are ignored (docs/spec/move.md §1.1).
 * @throws BinaryFormatError when it does not load under `limits`.
 */
export function readModule(
  bytes: Uint8Array,
  limits: LoaderLimits = DEFAULT_LOADER_LIMITS,
): CompiledModule {
  const file = openBinary(bytes, limits, 'module');
  const selfHandle = file.tail.index('self module handle');
  const module: CompiledModule = {
    kind: 'module',
    ...readTables(file, 'module'),
    selfHandle,
  };
  checkModuleBounds(module);
  return module;
}

/** A module for lookups: read, and named by its bytes. @throws BinaryFormatError as `readModule` */
export function loadModule(bytes: Uint8Array, limits?: LoaderLimits): CompiledModule {
  return { ...readModule(bytes, limits), digest: contentDigest(bytes) };
}

/**
 * Loads a script. Bytes after its tail are ignored (docs/spec/move.md §1.1, §5).
 * @throws BinaryFormatError when it does not load under `limits`.
 */
export function readScript(
  bytes: Uint8Array,
  limits: LoaderLimits = DEFAULT_LOADER_LIMITS,
): CompiledScript {
  const file = openBinary(bytes, limits, 'script');
  const typeParameters = readFunctionTypeParameters(file.tail);
  const parameters = file.tail.index('parameters signature');
  const accessSpecifiers =
    file.version >= VERSION_8_FUNCTION_VALUES ? readAccessSpecifiers(file.tail) : undefined;
  const code = readCodeUnit(file.tail);
  const script: CompiledScript = {
    kind: 'script',
    ...readTables(file, 'script'),
    typeParameters,
    parameters,
    accessSpecifiers,
    code,
  };
  checkScriptBounds(script);
  return script;
}

interface BinaryFile {
  readonly versionWord: number;
  readonly version: number;
  /** Begins after the tables' contents. */
  readonly tail: BinaryCursor;
  /** The entries of a table, none when it is absent. */
  readonly table: <K extends TableName>(name: K) => CompiledModule[K];
}

/** Versions and tables, empty where the file has none. */
function readTables(
  file: BinaryFile,
  kind: 'module' | 'script',
): Pick<CompiledModule, TableName | 'versionWord' | 'version'> {
  const { versionWord, version } = file;
  const kinds = TABLE_KINDS.filter(({ inScripts }) => inScripts || kind === 'module');
  const tables = Object.fromEntries(kinds.map(({ name }) => [name, file.table(name)]));
  return { versionWord, version, ...(tables as Pick<CompiledModule, TableName>) };
}

/** Reads header and directory. @throws BinaryFormatError */
function openBinary(
  input: Uint8Array,
  limits: LoaderLimits,
  kind: 'module' | 'script',
): BinaryFile {
  // One copy of the whole: constants and metadata are views on it, and the caller's memory (a page
  // of the store) may be reused.
  const bytes = byteTools.allocate(input.length);
  bytes.set(input);
  const { maxIdentifierBytes } = limits;
  const header = new BinaryCursor(bytes, 0, bytes.length, { version: 0, maxIdentifierBytes });
  const versionWord = readHeader(header, bytes);
  const version = (versionWord & ~VERSION_FLAGS) >>> 0;
  if (version < MIN_VERSION || version > Math.min(limits.maxVersion, MAX_VERSION)) {
    throw header.error('bad_version', `version ${version}`, MAGIC.length);
  }
  const directory = readDirectory(header, version, kind, bytes.length);
  const contentsStart = header.offset;
  const format = { version, maxIdentifierBytes };
  const section = (start: number, end: number) => new BinaryCursor(bytes, start, end, format);
  return {
    versionWord,
    version,
    tail: section(contentsStart + directory.contentBytes, bytes.length),
    table: <K extends TableName>(name: K): CompiledModule[K] => {
      const range = directory.tables.get(name);
      if (range === undefined) return [] as CompiledModule[TableName] as CompiledModule[K];
      const start = contentsStart + range.offset;
      return readEntries(name, section(start, start + range.size)) as CompiledModule[K];
    },
  };
}

function readHeader(header: BinaryCursor, bytes: Buffer): number {
  if (byteTools.compare(bytes.subarray(0, MAGIC.length), MAGIC) !== 0) {
    throw new BinaryFormatError('bad_magic', 'not a compiled module or script', 0);
  }
  header.u32('magic');
  return header.u32('version');
}

interface TableRange {
  /** Byte position from the first byte after the directory. */
  readonly offset: number;
  readonly size: number;
}

interface Directory {
  readonly tables: ReadonlyMap<TableName, TableRange>;
  readonly contentBytes: number;
}

function readDirectory(
  header: BinaryCursor,
  version: number,
  kind: 'module' | 'script',
  fileBytes: number,
): Directory {
  const tables = new Map<TableName, TableRange>();
  const count = header.uleb(MAX_TABLES, 'table count');
  for (let index = 0; index < count; index += 1) {
    const start = header.offset;
    const table = readTableKind(header, version, kind);
    const offset = header.uleb(MAX_TABLE_BYTES, 'table offset');
    const size = header.uleb(MAX_TABLE_BYTES, 'table size');
    if (size === 0) throw header.error('bad_table', `table ${table.name} of no bytes`, start);
    if (tables.has(table.name)) throw header.error('bad_table', `second ${table.name}`, start);
    tables.set(table.name, { offset, size });
  }
  let contentBytes = 0;
  for (const { offset, size } of [...tables.values()].sort((a, b) => a.offset - b.offset)) {
    if (offset !== contentBytes) {
      throw header.error('bad_table', `table at ${offset} where ${contentBytes} was due`);
    }
    contentBytes += size;
  }
  if (contentBytes > fileBytes - header.offset) {
    throw header.error('unexpected_end', `tables of ${contentBytes} bytes run over the end`);
  }
  return { tables, contentBytes };
}

function readTableKind(
  header: BinaryCursor,
  version: number,
  kind: 'module' | 'script',
): TableKind {
  const start = header.offset;
  const code = header.u8('table kind');
  const table = tableKindOfCode(code);
  if (table === undefined) throw header.error('bad_table', `table kind ${code}`, start);
  if (kind === 'script' && !table.inScripts) {
    throw header.error('bad_table', `${table.name} in a script`, start);
  }
  if (version < table.since) {
    throw header.error('unsupported', `${table.name} in version ${version}`, start);
  }
  return table;
}
