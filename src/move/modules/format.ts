/**
 * Constants of the compiled format for reader and writer: versions, limits, tables, codes, flags
 * (docs/spec/move.md §1.1, §1.3 to §1.8), and its one error.
 */
import { MoveError } from '../errors.ts';
import type { PrimitiveKind } from '../types/type-tag.ts';
import type { CompiledModule } from './compiled.ts';

/** The first four bytes of every binary. */
export const MAGIC = Uint8Array.of(0xa1, 0x1c, 0xeb, 0x0b);
/** Bits of the version word that are not part of the version; writers set them from version 7 on. */
export const VERSION_FLAGS = 0x0a00_0000;
export const MIN_VERSION = 1;
export const MAX_VERSION = 10;
/** Versions that introduced a feature (docs/spec/move.md §1.10). */
export const VERSION_2_ABILITIES = 2;
export const VERSION_3_PHANTOM = 3;
export const VERSION_5_ENTRY = 5;
const VERSION_6_INTEGERS = 6;
export const VERSION_7_ENUMS = 7;
export const VERSION_8_FUNCTION_VALUES = 8;
export const VERSION_9_SIGNED_INTEGERS = 9;
export const VERSION_10_STRUCT_ATTRIBUTES = 10;

export const MAX_TABLES = 255;
/** Highest table offset, table size and total size, in bytes. */
export const MAX_TABLE_BYTES = 0xffff_ffff;
export const MAX_TABLE_INDEX = 65_535;
/** Maximum number of instructions of a function; equals the highest branch target plus one. */
export const MAX_INSTRUCTIONS = 65_535;
/** Highest index of a local; also the maximum number of parameters and locals together. */
export const MAX_LOCAL_INDEX = 255;
/** Longest constant, in bytes. */
export const MAX_CONSTANT_BYTES = 65_535;
/** Longest metadata key, in bytes. */
export const MAX_METADATA_KEY_BYTES = 1023;
/** Longest metadata value, in bytes. */
export const MAX_METADATA_VALUE_BYTES = 65_535;
export const MAX_SIGNATURE_TOKENS = 255;
export const MAX_ACQUIRES = 255;
/** Maximum number of fields of a struct or variant, and highest field offset. */
export const MAX_FIELDS = 255;
/** Maximum number of variants of an enum, and highest variant index. */
export const MAX_VARIANTS = 127;
/** Maximum number of type parameters, type arguments, and arguments or results of a function type. */
export const MAX_TYPE_PARAMETERS = 255;
export const MAX_TYPE_PARAMETER_INDEX = 65_535;
export const MAX_ACCESS_SPECIFIERS = 64;
export const MAX_ATTRIBUTES = 16;
/** All abilities: copy 1, drop 2, store 4, key 8. */
export const ALL_ABILITIES = 15;
/** Maximum nesting of constructors (vectors, references, structs, functions), the type itself included. */
export const MAX_TOKEN_DEPTH = 256;

export type TableName = Exclude<
  keyof CompiledModule,
  'kind' | 'selfHandle' | 'version' | 'versionWord' | 'digest' | 'sizeBytes'
>;

export interface TableKind {
  readonly name: TableName;
  readonly code: number;
  /** First version that may have the table. */
  readonly since: number;
  readonly inScripts: boolean;
}

function table(code: number, name: TableName, inScripts: boolean, since = 1): TableKind {
  return { name, code, since, inScripts };
}

/** Every table, in the order in which the writer puts them. Code 0x09 was never assigned. */
export const TABLE_KINDS: readonly TableKind[] = [
  table(0x01, 'moduleHandles', true),
  table(0x02, 'structHandles', true),
  table(0x03, 'functionHandles', true),
  table(0x04, 'functionInstantiations', true),
  table(0x05, 'signatures', true),
  table(0x07, 'identifiers', true),
  table(0x08, 'addresses', true),
  table(0x06, 'constants', true),
  table(0x10, 'metadata', true, 5),
  table(0x0a, 'structDefinitions', false),
  table(0x0b, 'structInstantiations', false),
  table(0x0c, 'functionDefinitions', false),
  table(0x0d, 'fieldHandles', false),
  table(0x0e, 'fieldInstantiations', false),
  table(0x0f, 'friends', false, 2),
  table(0x11, 'variantFieldHandles', false, 7),
  table(0x12, 'variantFieldInstantiations', false, 7),
  table(0x13, 'structVariantHandles', false, 7),
  table(0x14, 'structVariantInstantiations', false, 7),
];

const KIND_OF_CODE = new Map(TABLE_KINDS.map((kind) => [kind.code, kind]));

/** The table of a directory number, `undefined` if it does not exist. */
export function tableKindOfCode(code: number): TableKind | undefined {
  return KIND_OF_CODE.get(code);
}

export const TOKEN_CODES = {
  reference: 0x06,
  mutableReference: 0x07,
  struct: 0x08,
  typeParameter: 0x09,
  vector: 0x0a,
  structInstantiation: 0x0b,
  functionType: 0x10,
} as const;

/** Types without parts: their code and the first version that has them. */
export const PRIMITIVE_CODES: ReadonlyMap<
  PrimitiveKind,
  { readonly code: number; readonly since: number }
> = new Map([
  ['bool', { code: 0x01, since: 1 }],
  ['u8', { code: 0x02, since: 1 }],
  ['u64', { code: 0x03, since: 1 }],
  ['u128', { code: 0x04, since: 1 }],
  ['address', { code: 0x05, since: 1 }],
  ['signer', { code: 0x0c, since: 1 }],
  ['u16', { code: 0x0d, since: VERSION_6_INTEGERS }],
  ['u32', { code: 0x0e, since: VERSION_6_INTEGERS }],
  ['u256', { code: 0x0f, since: VERSION_6_INTEGERS }],
  ['i8', { code: 0x11, since: VERSION_9_SIGNED_INTEGERS }],
  ['i16', { code: 0x12, since: VERSION_9_SIGNED_INTEGERS }],
  ['i32', { code: 0x13, since: VERSION_9_SIGNED_INTEGERS }],
  ['i64', { code: 0x14, since: VERSION_9_SIGNED_INTEGERS }],
  ['i128', { code: 0x15, since: VERSION_9_SIGNED_INTEGERS }],
  ['i256', { code: 0x16, since: VERSION_9_SIGNED_INTEGERS }],
]);

export const STRUCT_FLAGS = { native: 1, struct: 2, enum: 3 } as const;

/** Visibilities; `script` (public and entry) existed in versions 2 to 4 only. */
export const VISIBILITIES = { private: 0, public: 1, script: 2, friend: 3 } as const;

export const FUNCTION_FLAGS = { native: 2, entry: 4 } as const;

interface AttributeKind {
  readonly name: string;
  /** Whether a fixed u16 follows: a variant index or a field offset. */
  readonly hasOperand: boolean;
  readonly since: number;
}

function attribute(name: string, since: number, hasOperand = false): AttributeKind {
  return { name, since, hasOperand };
}

export const ATTRIBUTES: ReadonlyMap<number, AttributeKind> = new Map([
  [1, attribute('persistent', VERSION_8_FUNCTION_VALUES)],
  [2, attribute('module_lock', VERSION_8_FUNCTION_VALUES)],
  [3, attribute('pack', VERSION_10_STRUCT_ATTRIBUTES)],
  [4, attribute('pack_variant', VERSION_10_STRUCT_ATTRIBUTES, true)],
  [5, attribute('unpack', VERSION_10_STRUCT_ATTRIBUTES)],
  [6, attribute('unpack_variant', VERSION_10_STRUCT_ATTRIBUTES, true)],
  [7, attribute('test_variant', VERSION_10_STRUCT_ATTRIBUTES, true)],
  [8, attribute('borrow', VERSION_10_STRUCT_ATTRIBUTES, true)],
  [9, attribute('borrow_mut', VERSION_10_STRUCT_ATTRIBUTES, true)],
]);

/**
 * Why a binary does not load:
 * - `bad_magic`, `bad_version`: the header;
 * - `unexpected_end`: a part runs over the end of the file or of its table;
 * - `bad_uleb`: a ULEB128 that is too long, not minimal or above 64 bits;
 * - `limit_exceeded`: a number above the limit of its field (docs/spec/move.md §1.3);
 * - `bad_table`: a directory with gaps, overlaps, empty tables or tables beyond the file;
 * - `unknown_table`, `duplicate_table`: a table that does not exist or occurs twice;
 * - `forbidden_table`: a table of modules in a script;
 * - `unsupported`: a part that the file's version does not have yet;
 * - `unknown_type`, `unknown_opcode`, `unknown_struct_flag`, `unknown_ability`: a code that no version has;
 * - `bad_flags`: bits of a function that no version has;
 * - `bad_value`: another flag, code or identifier that no version has;
 * - `too_deep`: a type nested too deeply;
 * - `out_of_bounds`: an index without a target (docs/spec/move.md §1.11);
 * - `no_module_handles`, `no_variants`, `too_many_locals`: other faults found by the same check;
 * - `bad_arity`: a struct with too few or too many type arguments.
 */
export type BinaryFormatErrorCode =
  | 'bad_magic'
  | 'bad_version'
  | 'unexpected_end'
  | 'bad_uleb'
  | 'limit_exceeded'
  | 'bad_table'
  | 'unknown_table'
  | 'duplicate_table'
  | 'forbidden_table'
  | 'unsupported'
  | 'unknown_type'
  | 'unknown_opcode'
  | 'unknown_struct_flag'
  | 'unknown_ability'
  | 'bad_flags'
  | 'bad_value'
  | 'too_deep'
  | 'out_of_bounds'
  | 'no_module_handles'
  | 'no_variants'
  | 'too_many_locals'
  | 'bad_arity';

/** Bytes that do not load. */
export class BinaryFormatError extends MoveError<BinaryFormatErrorCode> {
  /** Byte position in the file; `undefined` if the fault is in a decoded index, whose position is lost. */
  readonly offset: number | undefined;
  /** The fault without its position. */
  readonly detail: string;

  constructor(code: BinaryFormatErrorCode, detail: string, offset?: number) {
    super(code, offset === undefined ? detail : `${detail} at byte ${offset}`);
    this.offset = offset;
    this.detail = detail;
  }
}
