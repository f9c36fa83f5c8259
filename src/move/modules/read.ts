/**
 * Loads compiled modules and scripts, versions 1 to 10, as the reference does: header, table directory, tables, tail,
 * then the bounds check (docs/spec/move.md §1, §5, §6). Exactly the modules that load here have an ABI. The result does
 * not refer to the input's memory. Mirrored by test/move/modules/write-module.ts.
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
  const file = openBinary(bytes, limits);
  const selfHandle = file.tail.index('self module handle');
  const module: CompiledModule = {
    kind: 'module',
    ...readTables(file, 'module'),
    selfHandle,
  };
  checkModuleBounds(module);
  return module;
}

/** Reads a module for lookups, with its digest and size. @throws BinaryFormatError as `readModule` */
export function loadModule(bytes: Uint8Array, limits?: LoaderLimits): CompiledModule {
  return { ...readModule(bytes, limits), digest: contentDigest(bytes), sizeBytes: bytes.length };
}

/**
 * Loads a script. Bytes after its tail are ignored (docs/spec/move.md §1.1, §5).
 * @throws BinaryFormatError when it does not load under `limits`.
 */
export function readScript(
  bytes: Uint8Array,
  limits: LoaderLimits = DEFAULT_LOADER_LIMITS,
): CompiledScript {
  const file = openBinary(bytes, limits);
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
  readonly tables: readonly { readonly kind: TableKind; readonly content: BinaryCursor }[];
}

/**
 * Versions and tables, empty if the file has none. Tables are read in the order of their offsets, those that scripts
 * also have before the others: this decides which fault is found first.
 */
function readTables(
  file: BinaryFile,
  kind: 'module' | 'script',
): Pick<CompiledModule, TableName | 'versionWord' | 'version'> {
  const { versionWord, version } = file;
  const kinds = TABLE_KINDS.filter(({ inScripts }) => inScripts || kind === 'module');
  const tables = new Map<TableName, unknown>(kinds.map(({ name }) => [name, []]));
  for (const table of file.tables) {
    const { name, since, inScripts } = table.kind;
    if (version < since) throw table.content.error('unsupported', `${name} in version ${version}`);
    if (inScripts) tables.set(name, readEntries(name, table.content));
  }
  for (const {
    kind: { name, inScripts },
    content,
  } of file.tables) {
    if (inScripts) continue;
    if (kind === 'script') throw content.error('forbidden_table', `${name} in a script`);
    tables.set(name, readEntries(name, content));
  }
  const read = Object.fromEntries(tables) as Pick<CompiledModule, TableName>;
  return { versionWord, version, ...read };
}

/** Reads header and directory. @throws BinaryFormatError */
function openBinary(input: Uint8Array, limits: LoaderLimits): BinaryFile {
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
  const tables = readDirectory(header, bytes.length);
  const contentsStart = header.offset;
  const contentBytes = tables.reduce((sum, { size }) => sum + size, 0);
  if (contentBytes > bytes.length - contentsStart) {
    throw header.error('unexpected_end', `tables of ${contentBytes} bytes run over the end`);
  }
  const format = { version, maxIdentifierBytes };
  const section = (start: number, end: number) => new BinaryCursor(bytes, start, end, format);
  return {
    versionWord,
    version,
    tail: section(contentsStart + contentBytes, bytes.length),
    tables: tables.map(({ kind, offset, size }) => ({
      kind,
      content: section(contentsStart + offset, contentsStart + offset + size),
    })),
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
  readonly kind: TableKind;
  /** Byte position from the first byte after the directory. */
  readonly offset: number;
  readonly size: number;
}

/** The tables in the order of their offsets, each beginning where the previous one ends. */
function readDirectory(header: BinaryCursor, fileBytes: number): readonly TableRange[] {
  const tables: TableRange[] = [];
  for (let left = header.uleb(MAX_TABLES, 'table count'); left > 0; left -= 1) {
    const start = header.offset;
    const code = header.u8('table kind');
    const offset = header.uleb(MAX_TABLE_BYTES, 'table offset');
    const size = header.uleb(MAX_TABLE_BYTES, 'table size');
    const kind = tableKindOfCode(code);
    if (kind === undefined) throw header.error('unknown_table', `table kind ${code}`, start);
    tables.push({ kind, offset, size });
  }
  tables.sort((a, b) => a.offset - b.offset);
  const seen = new Set<TableName>();
  let end = 0;
  for (const { kind, offset, size } of tables) {
    if (offset !== end) throw header.error('bad_table', `table at ${offset} where ${end} was due`);
    if (size === 0) throw header.error('bad_table', `table ${kind.name} of no bytes`);
    end += size;
    if (end > MAX_TABLE_BYTES) throw header.error('bad_table', `tables of ${end} bytes`);
    if (seen.has(kind.name)) throw header.error('duplicate_table', `second ${kind.name}`);
    seen.add(kind.name);
    if (end > fileBytes) throw header.error('bad_table', `tables of ${end} bytes`);
  }
  return tables;
}
