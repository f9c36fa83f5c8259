/** Writes the entries of every table; counterpart of read-tables.ts (docs/spec/move.md §1.4, §1.5, §1.7). */

import type {
  AccessSpecifier,
  CompiledModule,
  FieldDefinition,
  FunctionAttribute,
  FunctionHandle,
  Instantiation,
  ModuleHandle,
  SignatureToken,
  StructDefinition,
  StructTypeParameter,
} from '../../../src/move/modules/compiled.ts';
import {
  ALL_ABILITIES,
  ATTRIBUTES,
  MAX_ACCESS_SPECIFIERS,
  MAX_ATTRIBUTES,
  MAX_CONSTANT_BYTES,
  MAX_FIELDS,
  MAX_LOCAL_INDEX,
  MAX_METADATA_KEY_BYTES,
  MAX_METADATA_VALUE_BYTES,
  MAX_SIGNATURE_TOKENS,
  MAX_TOKEN_DEPTH,
  MAX_TYPE_PARAMETER_INDEX,
  MAX_TYPE_PARAMETERS,
  MAX_VARIANTS,
  PRIMITIVE_CODES,
  STRUCT_FLAGS,
  type TableName,
  TOKEN_CODES,
  VERSION_7_ENUMS,
  VERSION_8_FUNCTION_VALUES,
} from '../../../src/move/modules/format.ts';
import type { AbilitySet } from '../../../src/move/types/type-tag.ts';
import type { BinaryWriter } from './binary-writer.ts';
import { writeFunctionDefinition } from './write-module.ts';

/** Maximum length of a written identifier: the most that any loader accepts (docs/spec/move.md §1.1). */
const MAX_WRITTEN_IDENTIFIER_BYTES = 65_535;

type EntryWriters = {
  readonly [K in TableName]: (writer: BinaryWriter, entry: CompiledModule[K][number]) => void;
};

const ENTRY_WRITERS: EntryWriters = {
  moduleHandles: writeModuleHandle,
  structHandles: (writer, handle) => {
    writer.index(handle.module, 'module handle');
    writer.index(handle.name, 'struct name');
    writeAbilities(writer, handle.abilities);
    writeStructTypeParameters(writer, handle.typeParameters);
  },
  functionHandles: writeFunctionHandle,
  functionInstantiations: writeInstantiation,
  signatures: writeSignature,
  constants: (writer, constant) => {
    writeToken(writer, constant.type);
    writer.blob(constant.data, MAX_CONSTANT_BYTES, 'constant');
  },
  identifiers: (writer, name) => writer.identifier(name, MAX_WRITTEN_IDENTIFIER_BYTES),
  addresses: (writer, address) => writer.address(address),
  structDefinitions: writeStructDefinition,
  structInstantiations: writeInstantiation,
  functionDefinitions: writeFunctionDefinition,
  fieldHandles: (writer, handle) => {
    writer.index(handle.owner, 'struct definition');
    writer.uleb(handle.field, MAX_FIELDS, 'field offset');
  },
  fieldInstantiations: writeInstantiation,
  friends: writeModuleHandle,
  metadata: (writer, entry) => {
    writer.blob(entry.key, MAX_METADATA_KEY_BYTES, 'metadata key');
    writer.blob(entry.value, MAX_METADATA_VALUE_BYTES, 'metadata value');
  },
  variantFieldHandles: (writer, handle) => {
    writer.index(handle.owner, 'struct definition');
    writer.uleb(handle.field, MAX_FIELDS, 'field offset');
    writer.list(handle.variants, MAX_VARIANTS, 'variant count', (variant) =>
      writer.uleb(variant, MAX_VARIANTS, 'variant'),
    );
  },
  variantFieldInstantiations: writeInstantiation,
  structVariantHandles: (writer, handle) => {
    writer.index(handle.owner, 'struct definition');
    writer.uleb(handle.variant, MAX_VARIANTS, 'variant');
  },
  structVariantInstantiations: writeInstantiation,
};

/** Writes the entries of one table. @throws RangeError */
export function writeEntries<K extends TableName>(
  writer: BinaryWriter,
  name: K,
  entries: readonly CompiledModule[K][number][],
): void {
  const write = ENTRY_WRITERS[name];
  for (const entry of entries) write(writer, entry);
}

function writeModuleHandle(writer: BinaryWriter, handle: ModuleHandle): void {
  writer.index(handle.address, 'address');
  writer.index(handle.name, 'module name');
}

function writeInstantiation(writer: BinaryWriter, instantiation: Instantiation): void {
  writer.index(instantiation.handle, 'instantiated item');
  writer.index(instantiation.signature, 'signature');
}

function writeFunctionHandle(writer: BinaryWriter, handle: FunctionHandle): void {
  writer.index(handle.module, 'module handle');
  writer.index(handle.name, 'function name');
  writer.index(handle.parameters, 'parameters signature');
  writer.index(handle.return, 'return signature');
  writeFunctionTypeParameters(writer, handle.typeParameters);
  if (writer.version >= VERSION_7_ENUMS) writeAccessSpecifiers(writer, handle.accessSpecifiers);
  else if (handle.accessSpecifiers !== undefined) {
    writer.requireVersion(VERSION_7_ENUMS, 'access specifiers');
  }
  if (writer.version >= VERSION_8_FUNCTION_VALUES) {
    writer.list(handle.attributes, MAX_ATTRIBUTES, 'attribute count', (attribute) =>
      writeAttribute(writer, attribute),
    );
  } else if (handle.attributes.length > 0) {
    writer.requireVersion(VERSION_8_FUNCTION_VALUES, 'attributes');
  }
}

function writeAttribute(writer: BinaryWriter, attribute: FunctionAttribute): void {
  const kind = ATTRIBUTES.get(attribute.code);
  if (kind === undefined) throw new RangeError(`attribute ${attribute.code}`);
  if (kind.hasOperand !== (attribute.operand !== undefined)) {
    throw new RangeError(`attribute ${kind.name} has an operand: ${kind.hasOperand}`);
  }
  writer.requireVersion(kind.since, `attribute ${kind.name}`);
  writer.u8(attribute.code);
  if (attribute.operand !== undefined) writer.u16(attribute.operand);
}

/** Writes the access specifiers of a function handle or script. @throws RangeError */
export function writeAccessSpecifiers(
  writer: BinaryWriter,
  specifiers: readonly AccessSpecifier[] | undefined,
): void {
  writer.flag(specifiers !== undefined);
  if (specifiers === undefined) return;
  writer.list(specifiers, MAX_ACCESS_SPECIFIERS, 'access specifier count', (specifier) => {
    writer.u8(specifier.access === 'reads' ? 1 : 2);
    writer.flag(specifier.negated);
    writeResourceSpecifier(writer, specifier.resource);
    writeAddressSpecifier(writer, specifier.address);
  });
}

function writeResourceSpecifier(writer: BinaryWriter, resource: AccessSpecifier['resource']): void {
  switch (resource.kind) {
    case 'any':
      writer.u8(1);
      return;
    case 'address':
      writer.u8(2);
      writer.index(resource.address, 'address');
      return;
    case 'module':
      writer.u8(3);
      writer.index(resource.module, 'module handle');
      return;
    case 'struct':
      writer.u8(4);
      writer.index(resource.struct, 'struct handle');
      return;
    case 'structInstantiation':
      writer.u8(5);
      writer.index(resource.struct, 'struct handle');
      writer.index(resource.signature, 'signature');
  }
}

function writeAddressSpecifier(writer: BinaryWriter, address: AccessSpecifier['address']): void {
  switch (address.kind) {
    case 'any':
      writer.u8(1);
      return;
    case 'literal':
      writer.u8(2);
      writer.index(address.address, 'address');
      return;
    case 'local':
      writer.u8(3);
      writer.uleb(address.local, MAX_LOCAL_INDEX, 'local');
      writer.flag(address.function !== undefined);
      if (address.function !== undefined) writer.index(address.function, 'function instantiation');
  }
}

function writeStructDefinition(writer: BinaryWriter, definition: StructDefinition): void {
  writer.index(definition.handle, 'struct handle');
  writer.u8(STRUCT_FLAGS[definition.kind]);
  if (definition.kind === 'struct') writeFields(writer, definition.fields);
  if (definition.kind !== 'enum') return;
  writer.requireVersion(VERSION_7_ENUMS, 'enum');
  writer.list(definition.variants, MAX_VARIANTS, 'variant count', (variant) => {
    writer.index(variant.name, 'variant name');
    writeFields(writer, variant.fields);
  });
}

function writeFields(writer: BinaryWriter, fields: readonly FieldDefinition[]): void {
  writer.list(fields, MAX_FIELDS, 'field count', (field) => {
    writer.index(field.name, 'field name');
    writeToken(writer, field.type);
  });
}

/** Writes an ability set. */
export function writeAbilities(writer: BinaryWriter, abilities: AbilitySet): void {
  writer.uleb(abilities, ALL_ABILITIES, 'ability set');
}

/** Writes the type parameters of a function handle or script. */
export function writeFunctionTypeParameters(
  writer: BinaryWriter,
  parameters: readonly AbilitySet[],
): void {
  writer.list(parameters, MAX_TYPE_PARAMETERS, 'type parameter count', (abilities) =>
    writeAbilities(writer, abilities),
  );
}

/** Writes the type parameters of a struct handle. */
export function writeStructTypeParameters(
  writer: BinaryWriter,
  parameters: readonly StructTypeParameter[],
): void {
  writer.list(parameters, MAX_TYPE_PARAMETERS, 'type parameter count', (parameter) => {
    writeAbilities(writer, parameter.constraints);
    writer.uleb(parameter.isPhantom ? 1 : 0, 1, 'phantom flag');
  });
}

/** Writes one entry of the signature table. @throws RangeError */
export function writeSignature(writer: BinaryWriter, tokens: readonly SignatureToken[]): void {
  writer.list(tokens, MAX_SIGNATURE_TOKENS, 'signature length', (token) =>
    writeToken(writer, token),
  );
}

/** Writes one type. @throws RangeError when it is nested too deeply or unknown to the version. */
export function writeToken(writer: BinaryWriter, token: SignatureToken, depth = 0): void {
  if (depth >= MAX_TOKEN_DEPTH) throw new RangeError(`type nested deeper than ${MAX_TOKEN_DEPTH}`);
  switch (token.kind) {
    case 'reference':
      writer.u8(token.mutable ? TOKEN_CODES.mutableReference : TOKEN_CODES.reference);
      writeToken(writer, token.to, depth + 1);
      return;
    case 'vector':
      writer.u8(TOKEN_CODES.vector);
      writeToken(writer, token.element, depth + 1);
      return;
    case 'typeParameter':
      writer.u8(TOKEN_CODES.typeParameter);
      writer.uleb(token.index, MAX_TYPE_PARAMETER_INDEX, 'type parameter');
      return;
    case 'struct':
      writeStruct(writer, token, depth);
      return;
    case 'function':
      writer.requireVersion(VERSION_8_FUNCTION_VALUES, 'function type');
      writer.u8(TOKEN_CODES.functionType);
      writeAbilities(writer, token.abilities);
      writer.uleb(token.args.length, MAX_TYPE_PARAMETERS, 'argument count');
      writer.uleb(token.results.length, MAX_TYPE_PARAMETERS, 'result count');
      for (const part of [...token.args, ...token.results]) writeToken(writer, part, depth + 1);
      return;
    default: {
      const { code, since } = PRIMITIVE_CODES.get(token.kind)!;
      writer.requireVersion(since, token.kind);
      writer.u8(code);
    }
  }
}

function writeStruct(
  writer: BinaryWriter,
  token: SignatureToken & { readonly kind: 'struct' },
  depth: number,
): void {
  const arity = token.typeArguments.length;
  if (token.instantiated !== arity > 0) {
    throw new RangeError(`struct token with ${arity} type arguments, and not: instantiated`);
  }
  writer.u8(token.instantiated ? TOKEN_CODES.structInstantiation : TOKEN_CODES.struct);
  writer.index(token.handle, 'struct handle');
  if (!token.instantiated) return;
  writer.uleb(arity, MAX_TYPE_PARAMETERS, 'type argument count');
  for (const argument of token.typeArguments) writeToken(writer, argument, depth + 1);
}
