/** Constants are of simple types, and their bytes are values of those (docs/spec/verifier.md §3.6). */
import { type BcsReader, decodeBcs } from '../../move/bcs/bcs-reader.ts';
import { INTEGER_SIZES, type IntegerKind } from '../../move/bcs/integers.ts';
import { MoveError } from '../../move/errors.ts';
import type { BinaryTables, SignatureToken } from '../../move/modules/compiled.ts';
import { ADDRESS_BYTES } from '../../move/types/address.ts';
import { VmError } from '../status/vm-error.ts';

/** @throws VmError INVALID_CONSTANT_TYPE, MALFORMED_CONSTANT_DATA */
export function checkConstants({ constants }: BinaryTables): void {
  for (const { type, data } of constants) {
    if (!isConstantType(type)) throw new VmError('INVALID_CONSTANT_TYPE');
    try {
      decodeBcs(data, (reader) => skipValue(reader, type));
    } catch (error) {
      if (error instanceof MoveError) throw new VmError('MALFORMED_CONSTANT_DATA');
      throw error;
    }
  }
}

function isConstantType(type: SignatureToken): boolean {
  if (type.kind === 'vector') return isConstantType(type.element);
  return type.kind === 'bool' || type.kind === 'address' || type.kind in INTEGER_SIZES;
}

function skipValue(reader: BcsReader, type: SignatureToken): void {
  if (type.kind === 'vector') {
    for (let left = reader.length(); left > 0; left -= 1) skipValue(reader, type.element);
  } else if (type.kind === 'bool') reader.bool();
  else if (type.kind === 'address') reader.skip(ADDRESS_BYTES);
  else reader.skip(INTEGER_SIZES[type.kind as IntegerKind].bits / 8);
}
