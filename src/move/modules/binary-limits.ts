/**
 * Numbers of the compiled format that readers and writers share (docs/spec/move.md §1.1, §1.3, §1.6).
 */

/** The first four bytes of every binary. */
export const MAGIC = Buffer.from([0xa1, 0x1c, 0xeb, 0x0b]);
/**
 * Bits of the version word that say nothing about the version; writers set them from version 7 on.
 */
export const VERSION_FLAGS = 0x0a00_0000;
/** Lowest version that loads. */
export const MIN_VERSION = 1;
/** Highest version that exists. */
export const MAX_VERSION = 10;
/** Lowest version that is still written. */
export const MIN_WRITTEN_VERSION = 5;

/** Versions that brought something (docs/spec/move.md §1.10). */
export const VERSION_2_ABILITIES = 2;
export const VERSION_3_PHANTOM = 3;
export const VERSION_5_ENTRY = 5;
export const VERSION_6_INTEGERS = 6;
export const VERSION_7_ENUMS = 7;
export const VERSION_8_FUNCTION_VALUES = 8;
export const VERSION_9_SIGNED_INTEGERS = 9;
export const VERSION_10_STRUCT_ATTRIBUTES = 10;

/** Highest number of tables in a directory. */
export const MAX_TABLES = 255;
/** Highest table offset, table size and total size, in bytes. */
export const MAX_TABLE_BYTES = 0xffff_ffff;
/** Highest index into any table. */
export const MAX_TABLE_INDEX = 65_535;
/** Most instructions of a function, and so the highest branch target plus one. */
export const MAX_INSTRUCTIONS = 65_535;
/** Highest index of a local; parameters and locals together are at most as many. */
export const MAX_LOCAL_INDEX = 255;
/** Longest constant, in bytes. */
export const MAX_CONSTANT_BYTES = 65_535;
/** Longest metadata key, in bytes. */
export const MAX_METADATA_KEY_BYTES = 1023;
/** Longest metadata value, in bytes. */
export const MAX_METADATA_VALUE_BYTES = 65_535;
/** Most types in a signature. */
export const MAX_SIGNATURE_TOKENS = 255;
/** Most structs a function acquires. */
export const MAX_ACQUIRES = 255;
/** Most fields of a struct or variant, and highest field offset. */
export const MAX_FIELDS = 255;
/** Most variants of an enum, and highest variant index. */
export const MAX_VARIANTS = 127;
/** Most type parameters, type arguments, and arguments or results of a function type. */
export const MAX_TYPE_PARAMETERS = 255;
/** Highest index of a type parameter. */
export const MAX_TYPE_PARAMETER_INDEX = 65_535;
/** Most access specifiers of a function. */
export const MAX_ACCESS_SPECIFIERS = 64;
/** Most attributes of a function. */
export const MAX_ATTRIBUTES = 16;
/** All abilities: copy 1, drop 2, store 4, key 8. */
export const ALL_ABILITIES = 15;
/**
 * Most constructors (vectors, references, structs, functions) around a type, the type itself
 * included.
 */
export const MAX_TOKEN_DEPTH = 256;

/** The version word writers use: flag bits from version 7 on. */
export function versionWordOf(version: number): number {
  return version >= VERSION_7_ENUMS ? VERSION_FLAGS + version : version;
}
