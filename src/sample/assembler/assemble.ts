/**
 * Turns module declarations into compiled modules (docs/spec/move.md §1): handles, signatures, identifiers and
 * addresses
 * deduplicated in the order of first use, `aptos::metadata_v1` with the attributes and the error map.
 *
 * There is no compiler and no virtual machine here. Every function body is the same two well-formed instructions
 * that abort: the modules load, print and resolve like any others, but running one of them on a Move machine would
 * do nothing. The sample ledger's generator writes the effects of transactions itself.
 */
import { type BcsWriter, encodeBcs } from '../../move/bcs/bcs-writer.ts';
import type {
  CodeUnit,
  CompiledModule,
  FieldDefinition,
  FunctionDefinition,
  MetadataEntry,
  StructDefinition,
} from '../../move/modules/compiled.ts';
import type { MetadataAttribute } from '../../move/modules/metadata.ts';
import type { ModuleId } from '../../move/types/module-id.ts';
import { AssemblyTables, type StructWorld } from './assemble-tables.ts';
import {
  DeclarationError,
  type DeclaredError,
  type DeclaredField,
  type DeclaredFunction,
  type DeclaredStruct,
  type ModuleDeclaration,
} from './declare.ts';
import { publicStructFunctions, type WrapperFunction } from './public-struct.ts';

/** Bits that writers set in the version word from version 7 on (docs/spec/move.md §1.1). */
const VERSION_FLAG = 0x0a000000;
const FIRST_FLAGGED_VERSION = 7;

const OPCODE_LOAD_U64 = 0x06;
const OPCODE_ABORT = 0x27;

/** The abort code of every assembled function body: "this module was declared, not compiled". */
export const DECLARED_ONLY_ABORT_CODE = 0xdec1a4edn;

const METADATA_KEY = Buffer.from('aptos::metadata_v1', 'ascii');

/** What assembles together: every struct that a declaration names must be declared in here. */
export class DeclarationWorld implements StructWorld {
  readonly #structs = new Map<string, DeclaredStruct>();

  constructor(declarations: Iterable<ModuleDeclaration>) {
    for (const module of declarations) {
      for (const struct of module.structs) {
        const key = structKey(module, struct.name);
        if (this.#structs.has(key)) {
          throw new DeclarationError('duplicate_name', `struct ${key} is declared twice`);
        }
        this.#structs.set(key, struct);
      }
    }
  }

  /** @throws DeclarationError `unknown_name` */
  struct(module: ModuleId, name: string): DeclaredStruct {
    const struct = this.#structs.get(structKey(module, name));
    if (struct === undefined) {
      throw new DeclarationError('unknown_name', `no struct ${structKey(module, name)} declared`);
    }
    return struct;
  }
}

function structKey(module: ModuleId, name: string): string {
  return `${module.address}::${module.name}::${name}`;
}

/**
 * Assembles one declared module. @throws DeclarationError for a struct that the world does not have, a wrong
 * number of type arguments, or a type that the module's bytecode version does not know.
 */
export function assembleModule(module: ModuleDeclaration, world: StructWorld): CompiledModule {
  const tables = new AssemblyTables(module, world);
  const structDefinitions = module.structs.map((struct) => structDefinition(tables, struct));
  const functions: WrapperFunction[] = [
    ...module.functions.map((declared) => ({ ...declared, handleAttributes: [] })),
    ...module.structs
      .filter((struct) => struct.isPublic)
      .flatMap((struct) => publicStructFunctions(module, struct)),
  ];
  const functionDefinitions = functions.map((declared) => functionDefinition(tables, declared));
  const friends = module.friends.map((friend) => tables.friend(friend));
  const { bytecodeVersion: version } = module;
  return {
    kind: 'module',
    versionWord: version >= FIRST_FLAGGED_VERSION ? VERSION_FLAG | version : version,
    version,
    selfHandle: tables.selfHandle,
    ...tables.finish(),
    structDefinitions,
    functionDefinitions,
    friends,
    metadata: moduleMetadata(module),
    functionInstantiations: [],
    constants: [],
    structInstantiations: [],
    fieldHandles: [],
    fieldInstantiations: [],
    variantFieldHandles: [],
    variantFieldInstantiations: [],
    structVariantHandles: [],
    structVariantInstantiations: [],
  };
}

function structDefinition(tables: AssemblyTables, struct: DeclaredStruct): StructDefinition {
  const handle = tables.ownStruct(struct.name);
  const { body } = struct;
  if (body.kind === 'native') return { kind: 'native', handle };
  if (body.kind === 'struct') {
    return { kind: 'struct', handle, fields: fieldDefinitions(tables, body.fields) };
  }
  tables.requireVersion(FIRST_FLAGGED_VERSION, `enum ${struct.name}`);
  const variants = body.variants.map((variant) => ({
    name: tables.identifier(variant.name),
    fields: fieldDefinitions(tables, variant.fields),
  }));
  return { kind: 'enum', handle, variants };
}

function fieldDefinitions(
  tables: AssemblyTables,
  fields: readonly DeclaredField[],
): FieldDefinition[] {
  return fields.map((field) => ({
    name: tables.identifier(field.name),
    type: tables.token(field.type),
  }));
}

function functionDefinition(tables: AssemblyTables, declared: WrapperFunction): FunctionDefinition {
  return {
    handle: tables.functionHandle(declared),
    visibility: declared.visibility,
    isEntry: declared.isEntry,
    isNative: declared.isNative,
    acquires: [],
    code: declared.isNative ? undefined : abortingBody(tables),
  };
}

function abortingBody(tables: AssemblyTables): CodeUnit {
  return {
    locals: tables.signature([]),
    code: [
      { opcode: OPCODE_LOAD_U64, operand: DECLARED_ONLY_ABORT_CODE },
      { opcode: OPCODE_ABORT },
    ],
  };
}

/** The one metadata entry of a module, none when there is nothing to say (docs/spec/move.md §2.3). */
function moduleMetadata(module: ModuleDeclaration): MetadataEntry[] {
  const structs = module.structs.filter((struct) => struct.attributes.length > 0);
  const functions = module.functions.filter((declared) => declared.attributes.length > 0);
  if (structs.length + functions.length + module.errors.length === 0) return [];
  const value = encodeBcs((writer) => {
    writeSortedMap(writer, module.errors, errorEntry);
    writeSortedMap(writer, structs, attributesEntry);
    writeSortedMap(writer, functions, attributesEntry);
  });
  return [{ key: METADATA_KEY, value }];
}

function errorEntry(error: DeclaredError): [key: Buffer, value: Buffer] {
  return [
    encodeBcs((writer) => writer.u64(error.abortCode)),
    encodeBcs((writer) => writer.string(error.name).string(error.description)),
  ];
}

function attributesEntry(item: DeclaredStruct | DeclaredFunction): [key: Buffer, value: Buffer] {
  return [
    encodeBcs((writer) => writer.string(item.name)),
    encodeBcs((writer) => writer.vector(item.attributes, writeAttribute)),
  ];
}

function writeAttribute(writer: BcsWriter, attribute: MetadataAttribute): void {
  writer.u8(attribute.kind).vector(attribute.args, (to, arg) => to.string(arg));
}

/** BCS maps are ordered by the serialized bytes of their keys. */
function writeSortedMap<T>(
  writer: BcsWriter,
  items: readonly T[],
  entry: (item: T) => [key: Buffer, value: Buffer],
): void {
  const entries = items.map(entry).sort(([left], [right]) => Buffer.compare(left, right));
  writer.vector(entries, (to, [key, value]) => to.fixed(key).fixed(value));
}
