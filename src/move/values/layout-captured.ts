/**
 * Layouts inside closures, in BCS, without names of structs and fields (docs/spec/move.md §4.5,
 * docs/spec/encode.md §B1).
 */
import { BcsError, type BcsReader } from '../bcs/bcs-reader.ts';
import { MAX_VARIANTS } from '../modules/format.ts';
import { ADDRESS_COST_BYTES, type Layout, type LayoutField, objectTemplate } from './layout.ts';

/** Most named containers inside each other that BCS reads: enums, and the two kinds of layout that are enums. */
export const BCS_MAX_CONTAINER_DEPTH = 500;

export const FUNCTION_DATA_VERSION = 1;

/** Kinds by BCS variant index; the three without an entry are handled separately. */
const KINDS = [
  'bool',
  'u8',
  'u64',
  'u128',
  'address',
  'vector',
  'struct',
  'signer',
  'u16',
  'u32',
  'u256',
  'native',
  'function',
  'i8',
  'i16',
  'i32',
  'i64',
  'i128',
  'i256',
] as const;

const STRUCT_FIELDS = 0;
const STRUCT_VARIANTS = 1;
/** Struct layouts with names (2, 3, 4) exist, but are never stored. */
const STRUCT_LAYOUT_KINDS = 5;

/**
 * Reads one layout. `containerDepth` is the number of named containers around it.
 * @throws BcsError
 */
export function readCapturedLayout(reader: BcsReader, containerDepth: number): Layout {
  enterContainer(reader, containerDepth, 'MoveTypeLayout');
  const kind = KINDS[reader.variant(KINDS.length, 'MoveTypeLayout')]!;
  switch (kind) {
    case 'vector': {
      const element = readCapturedLayout(reader, containerDepth + 1);
      return element.kind === 'u8' ? { kind: 'bytes' } : { kind, element, tagBytes: 0 };
    }
    case 'struct':
      return readStructLayout(reader, containerDepth + 1);
    case 'native':
      throw unsupported(reader);
    default:
      return { kind };
  }
}

function readStructLayout(reader: BcsReader, containerDepth: number): Layout {
  enterContainer(reader, containerDepth, 'MoveStructLayout');
  const form = reader.variant(STRUCT_LAYOUT_KINDS, 'MoveStructLayout');
  const readFields = (): LayoutField[] => {
    const layouts = reader.vector(1, () => readCapturedLayout(reader, containerDepth + 1));
    return layouts.map((layout, index) => ({ name: `_${index}`, layout }));
  };
  // Values without names are charged the cost of an address: they must cost something, because they may have no bytes.
  const tagBytes = ADDRESS_COST_BYTES;
  if (form === STRUCT_FIELDS) {
    const fields = readFields();
    return { kind: 'struct', fields, template: objectTemplate(fields, undefined, 0), tagBytes };
  }
  if (form !== STRUCT_VARIANTS) throw unsupported(reader);
  const start = reader.offset;
  const fieldLists = reader.vector(1, readFields);
  if (fieldLists.length > MAX_VARIANTS) {
    const text = `variant count is restricted to ${MAX_VARIANTS}`;
    throw new BcsError('too_many_variants', text, start);
  }
  const variants = fieldLists.map((fields, index) => {
    const fixed = { name: '__variant_tag__', json: String(index) };
    return { name: '', fields, template: objectTemplate(fields, fixed, 0) };
  });
  return { kind: 'enum', variants, tagBytes };
}

export function enterContainer(reader: BcsReader, containerDepth: number, name: string): void {
  if (containerDepth < BCS_MAX_CONTAINER_DEPTH) return;
  const text = `exceeded max container depth while entering: ${name}`;
  throw new BcsError('too_deep', text, reader.offset);
}

function unsupported(reader: BcsReader): BcsError {
  const text = 'Unsupported layout for Move value';
  return new BcsError('unsupported_layout', text, reader.offset);
}
