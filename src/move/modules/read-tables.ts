/** Reads the entries of every table (docs/spec/move.md §1.4, §1.5, §1.7). */
import { ADDRESS_BYTES } from '../types/address.ts';
import type { BinaryCursor } from './binary-cursor.ts';
import type {
  AccessSpecifier,
  CompiledModule,
  FieldDefinition,
  FunctionAttribute,
  FunctionHandle,
  Instantiation,
  ModuleHandle,
  StructDefinition,
  VariantDefinition,
} from './compiled.ts';
import {
  ATTRIBUTES,
  MAX_ACCESS_SPECIFIERS,
  MAX_ATTRIBUTES,
  MAX_CONSTANT_BYTES,
  MAX_FIELDS,
  MAX_LOCAL_INDEX,
  MAX_METADATA_KEY_BYTES,
  MAX_METADATA_VALUE_BYTES,
  MAX_VARIANTS,
  STRUCT_FLAGS,
  type TableName,
  VERSION_7_ENUMS,
  VERSION_8_FUNCTION_VALUES,
} from './format.ts';
import { readFunctionDefinition } from './read-function.ts';
import {
  readAbilities,
  readFunctionTypeParameters,
  readSignature,
  readStructTypeParameters,
  readToken,
} from './read-signature.ts';

type Entry<K extends TableName> = CompiledModule[K][number];

const ENTRY_READERS: { readonly [K in TableName]: (cursor: BinaryCursor) => Entry<K> } = {
  moduleHandles: readModuleHandle,
  structHandles: (cursor) => ({
    module: cursor.index('module handle'),
    name: cursor.index('struct name'),
    abilities: readAbilities(cursor, 'struct'),
    typeParameters: readStructTypeParameters(cursor),
  }),
  functionHandles: readFunctionHandle,
  functionInstantiations: readInstantiation,
  signatures: readSignature,
  constants: (cursor) => ({
    type: readToken(cursor),
    data: cursor.blob(MAX_CONSTANT_BYTES, 'constant'),
  }),
  identifiers: (cursor) => cursor.identifier(),
  addresses: (cursor) => cursor.hex(ADDRESS_BYTES, 'address'),
  structDefinitions: readStructDefinition,
  structInstantiations: readInstantiation,
  functionDefinitions: readFunctionDefinition,
  fieldHandles: (cursor) => ({
    owner: cursor.index('struct definition'),
    field: cursor.uleb(MAX_FIELDS, 'field offset'),
  }),
  fieldInstantiations: readInstantiation,
  friends: readModuleHandle,
  metadata: (cursor) => ({
    key: cursor.blob(MAX_METADATA_KEY_BYTES, 'metadata key'),
    value: cursor.blob(MAX_METADATA_VALUE_BYTES, 'metadata value'),
  }),
  variantFieldHandles: (cursor) => ({
    owner: cursor.index('struct definition'),
    field: cursor.uleb(MAX_FIELDS, 'field offset'),
    variants: cursor.list(MAX_VARIANTS, 'variant count', readVariantIndex),
  }),
  variantFieldInstantiations: readInstantiation,
  structVariantHandles: (cursor) => ({
    owner: cursor.index('struct definition'),
    variant: readVariantIndex(cursor),
  }),
  structVariantInstantiations: readInstantiation,
};

/**
 * Reads the entries of one table until its bytes are used up. Their number is not limited, but no
 * index can name entries above 65535.
 * @throws BinaryFormatError
 */
export function readEntries<K extends TableName>(name: K, cursor: BinaryCursor): Entry<K>[] {
  const read = ENTRY_READERS[name];
  const entries: Entry<K>[] = [];
  while (cursor.remaining > 0) entries.push(read(cursor));
  return entries;
}

function readVariantIndex(cursor: BinaryCursor): number {
  return cursor.uleb(MAX_VARIANTS, 'variant');
}

function readModuleHandle(cursor: BinaryCursor): ModuleHandle {
  return { address: cursor.index('address'), name: cursor.index('module name') };
}

function readInstantiation(cursor: BinaryCursor): Instantiation {
  return { handle: cursor.index('instantiated item'), signature: cursor.index('signature') };
}

function readFunctionHandle(cursor: BinaryCursor): FunctionHandle {
  const module = cursor.index('module handle');
  const name = cursor.index('function name');
  const parameters = cursor.index('parameters signature');
  const returned = cursor.index('return signature');
  const typeParameters = readFunctionTypeParameters(cursor);
  const accessSpecifiers =
    cursor.version >= VERSION_7_ENUMS ? readAccessSpecifiers(cursor) : undefined;
  const attributes =
    cursor.version >= VERSION_8_FUNCTION_VALUES
      ? cursor.list(MAX_ATTRIBUTES, 'attribute count', readAttribute)
      : [];
  return {
    module,
    name,
    parameters,
    return: returned,
    typeParameters,
    accessSpecifiers,
    attributes,
  };
}

function readAttribute(cursor: BinaryCursor): FunctionAttribute {
  const start = cursor.offset;
  const code = cursor.u8('attribute');
  const attribute = ATTRIBUTES.get(code);
  if (attribute === undefined) throw cursor.error('bad_value', `attribute ${code}`, start);
  cursor.requireVersion(attribute.since, `attribute ${attribute.name}`);
  return attribute.hasOperand ? { code, operand: cursor.u16(attribute.name) } : { code };
}

/**
 * Reads the access specifiers of a function handle or script, an optional list.
 * @throws BinaryFormatError
 */
export function readAccessSpecifiers(cursor: BinaryCursor): readonly AccessSpecifier[] | undefined {
  if (!cursor.flag('access specifiers')) return undefined;
  return cursor.list(MAX_ACCESS_SPECIFIERS, 'access specifier count', readAccessSpecifier);
}

function readAccessSpecifier(cursor: BinaryCursor): AccessSpecifier {
  const kind = cursor.u8('access kind');
  // 3 (acquires, from before access specifiers) has a number but is refused by the reference's
  // loader too.
  if (kind !== 1 && kind !== 2) throw cursor.error('bad_value', `access kind ${kind}`);
  const negated = cursor.flag('negated');
  const resource = readResourceSpecifier(cursor);
  const address = readAddressSpecifier(cursor);
  return { access: kind === 1 ? 'reads' : 'writes', negated, resource, address };
}

function readResourceSpecifier(cursor: BinaryCursor): AccessSpecifier['resource'] {
  const kind = cursor.u8('resource specifier');
  switch (kind) {
    case 1:
      return { kind: 'any' };
    case 2:
      return { kind: 'address', address: cursor.index('address') };
    case 3:
      return { kind: 'module', module: cursor.index('module handle') };
    case 4:
      return { kind: 'struct', struct: cursor.index('struct handle') };
    case 5:
      return {
        kind: 'structInstantiation',
        struct: cursor.index('struct handle'),
        signature: cursor.index('signature'),
      };
    default:
      throw cursor.error('bad_value', `resource specifier ${kind}`);
  }
}

function readAddressSpecifier(cursor: BinaryCursor): AccessSpecifier['address'] {
  const kind = cursor.u8('address specifier');
  switch (kind) {
    case 1:
      return { kind: 'any' };
    case 2:
      return { kind: 'literal', address: cursor.index('address') };
    case 3: {
      const local = cursor.uleb(MAX_LOCAL_INDEX, 'local');
      if (!cursor.flag('function')) return { kind: 'local', local };
      return { kind: 'local', local, function: cursor.index('function instantiation') };
    }
    default:
      throw cursor.error('bad_value', `address specifier ${kind}`);
  }
}

function readStructDefinition(cursor: BinaryCursor): StructDefinition {
  const handle = cursor.index('struct handle');
  const start = cursor.offset;
  const flag = cursor.u8('struct flag');
  switch (flag) {
    case STRUCT_FLAGS.native:
      return { kind: 'native', handle };
    case STRUCT_FLAGS.struct:
      return { kind: 'struct', handle, fields: readFields(cursor) };
    case STRUCT_FLAGS.enum:
      cursor.requireVersion(VERSION_7_ENUMS, 'enum');
      return {
        kind: 'enum',
        handle,
        variants: cursor.list(MAX_VARIANTS, 'variant count', readVariant),
      };
    default:
      throw cursor.error('unknown_struct_flag', `struct flag ${flag}`, start);
  }
}

function readVariant(cursor: BinaryCursor): VariantDefinition {
  return { name: cursor.index('variant name'), fields: readFields(cursor) };
}

function readFields(cursor: BinaryCursor): readonly FieldDefinition[] {
  return cursor.list(MAX_FIELDS, 'field count', (at) => ({
    name: at.index('field name'),
    type: readToken(at),
  }));
}
