/** The status of bytes that do not load (docs/spec/verifier.md §1); publishing reports them all as one. */
import type { BinaryFormatErrorCode } from '../../move/modules/format.ts';
import type { StatusName } from '../status/status.ts';

const STATUS_OF_CODE: Partial<Record<BinaryFormatErrorCode, StatusName>> = {
  bad_magic: 'BAD_MAGIC',
  bad_version: 'UNKNOWN_VERSION',
  bad_table: 'BAD_HEADER_TABLE',
  unknown_table: 'UNKNOWN_TABLE_TYPE',
  duplicate_table: 'DUPLICATE_TABLE',
  unknown_type: 'UNKNOWN_SERIALIZED_TYPE',
  unknown_opcode: 'UNKNOWN_OPCODE',
  unknown_struct_flag: 'UNKNOWN_NATIVE_STRUCT_FLAG',
  unknown_ability: 'UNKNOWN_ABILITY',
  bad_flags: 'INVALID_FLAG_BITS',
  out_of_bounds: 'INDEX_OUT_OF_BOUNDS',
  no_module_handles: 'NO_MODULE_HANDLES',
  no_variants: 'ZERO_VARIANTS_ERROR',
  too_many_locals: 'TOO_MANY_LOCALS',
  bad_arity: 'NUMBER_OF_TYPE_ARGUMENTS_MISMATCH',
};

export function loadingStatus(code: BinaryFormatErrorCode): StatusName {
  return STATUS_OF_CODE[code] ?? 'MALFORMED';
}
