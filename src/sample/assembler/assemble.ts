/**
 * Turns module declarations into binaries (docs/spec/move.md §1.4–1.8): handles, signatures, identifiers and addresses
 * once each in the order of first use, and `aptos::metadata_v1` with the attributes and the error map.
 *
 * This is not a compiler. A function without a body gets two instructions that abort; its module loads, prints and
 * resolves like any other.
 */
import { type BcsWriter, encodeBcs } from '../../move/bcs/bcs-writer.ts';
import {
  FUNCTION_FLAGS,
  PRIMITIVE_CODES,
  STRUCT_FLAGS,
  TOKEN_CODES,
  VERSION_7_ENUMS,
  VERSION_8_FUNCTION_VALUES,
  VISIBILITIES,
} from '../../move/modules/format.ts';
import type { ModuleId } from '../../move/types/module-id.ts';
import type { MoveStructTag, MoveType } from '../../move/types/move-type.ts';
import { Tables, writeBinary } from './binary.ts';
import { CodeTables } from './body-assemble.ts';
import {
  type DeclaredBody,
  type DeclaredField,
  type DeclaredFunction,
  type DeclaredStruct,
  declarationError,
  type ModuleDeclaration,
} from './declare.ts';

const OPCODE_LOAD_U64 = 0x06;
const OPCODE_ABORT = 0x27;

/** The abort code of functions without a body: "this function was declared, not compiled". */
const DECLARED_ONLY_ABORT_CODE = 0xdec1a4edn;
const DECLARED_ONLY: DeclaredBody = {
  acquires: [],
  locals: [],
  instructions: [
    { opcode: OPCODE_LOAD_U64, writeOperands: (to) => to.u64(DECLARED_ONLY_ABORT_CODE) },
    { opcode: OPCODE_ABORT, writeOperands: () => undefined },
  ],
};

export interface AssembledModule extends ModuleId {
  readonly bytes: Buffer;
}

/** Encodes that a function handle has no access specifiers. */
const NO_ACCESS_SPECIFIERS = 1;

interface DeclarationLookup {
  struct(module: ModuleId, name: string): DeclaredStruct;
  function(module: ModuleId, name: string): DeclaredFunction;
}

/**
 * Assembles modules that may use each other and `imports`. These must declare every struct and function that they name.
 */
export function assembleModules(
  declarations: readonly ModuleDeclaration[],
  imports: readonly ModuleDeclaration[] = [],
): AssembledModule[] {
  const all = [...imports, ...declarations];
  const lookup = {
    struct: nameLookup(all, ({ structs }) => structs),
    function: nameLookup(all, ({ functions }) => functions),
  };
  return declarations.map((declaration) => ({
    address: declaration.address,
    name: declaration.name,
    bytes: new Assembler(declaration, lookup).assemble(),
  }));
}

function nameLookup<T extends { readonly name: string }>(
  modules: readonly ModuleDeclaration[],
  items: (module: ModuleDeclaration) => readonly T[],
): (module: ModuleId, name: string) => T {
  const keyOf = ({ address, name }: ModuleId, item: string) => `${address}::${name}::${item}`;
  const byName = new Map(
    modules.flatMap((module) =>
      items(module).map((item) => [keyOf(module, item.name), item] as const),
    ),
  );
  return (module, name) => {
    const item = byName.get(keyOf(module, name));
    if (item !== undefined) return item;
    throw declarationError(`${keyOf(module, name)} is not declared`);
  };
}

class Assembler {
  readonly #module: ModuleDeclaration;
  readonly #lookup: DeclarationLookup;
  readonly #code: CodeTables;
  readonly #tables = new Tables();

  constructor(module: ModuleDeclaration, lookup: DeclarationLookup) {
    this.#module = module;
    this.#lookup = lookup;
    this.#code = new CodeTables({
      module,
      tables: this.#tables,
      signature: (types) => this.#signature(types),
      functionHandle: (owner, name) => this.#functionHandle(owner, lookup.function(owner, name)),
      writeType: (writer, type) => this.#writeType(writer, type),
    });
  }

  assemble(): Buffer {
    const { structs, functions, friends, bytecodeVersion } = this.#module;
    const self = this.#moduleHandle(this.#module);
    const structDefinitions = encodeBcs((writer) => {
      for (const struct of structs) this.#writeStruct(writer, struct);
    });
    const functionDefinitions = encodeBcs((writer) => {
      for (const declared of functions) this.#writeFunction(writer, declared);
    });
    const friendIds = encodeBcs((writer) => {
      for (const friend of friends) this.#writeModuleId(writer, friend);
    });
    const tables = {
      ...this.#tables.toBytes(),
      friends: friendIds,
      metadata: moduleMetadata(this.#module),
      structDefinitions,
      functionDefinitions,
    };
    return writeBinary(
      bytecodeVersion,
      tables,
      encodeBcs((writer) => writer.uleb32(self)),
    );
  }

  #identifier(name: string): number {
    return this.#tables.index('identifiers', (to) => to.string(name));
  }

  #writeModuleId(writer: BcsWriter, { address, name }: ModuleId): void {
    writer.uleb32(this.#tables.index('addresses', (to) => to.address(address)));
    writer.uleb32(this.#identifier(name));
  }

  #moduleHandle(module: ModuleId): number {
    return this.#tables.index('moduleHandles', (to) => this.#writeModuleId(to, module));
  }

  #structHandle(module: ModuleId, declared: DeclaredStruct): number {
    return this.#tables.index('structHandles', (to) => {
      to.uleb32(this.#moduleHandle(module)).uleb32(this.#identifier(declared.name));
      to.uleb32(declared.abilities);
      to.vector(declared.typeParameters, (inner, { constraints, isPhantom }) =>
        inner.uleb32(constraints).uleb32(isPhantom ? 1 : 0),
      );
    });
  }

  #writeStruct(writer: BcsWriter, struct: DeclaredStruct): void {
    const { body } = struct;
    writer.uleb32(this.#structHandle(this.#module, struct)).u8(STRUCT_FLAGS[body.kind]);
    if (body.kind === 'struct') this.#writeFields(writer, body.fields);
    if (body.kind !== 'enum') return;
    writer.vector(body.variants, (to, variant) => {
      to.uleb32(this.#identifier(variant.name));
      this.#writeFields(to, variant.fields);
    });
  }

  #writeFields(writer: BcsWriter, fields: readonly DeclaredField[]): void {
    writer.vector(fields, (to, { name, type }) => {
      to.uleb32(this.#identifier(name));
      this.#writeType(to, type);
    });
  }

  #writeFunction(writer: BcsWriter, declared: DeclaredFunction): void {
    const { isEntry, isNative, visibility, body } = declared;
    writer.uleb32(this.#functionHandle(this.#module, declared)).u8(VISIBILITIES[visibility]);
    writer.u8((isNative ? FUNCTION_FLAGS.native : 0) | (isEntry ? FUNCTION_FLAGS.entry : 0));
    if (isNative) writer.length32(0);
    else this.#code.writeBody(writer, body ?? DECLARED_ONLY);
  }

  #functionHandle(module: ModuleId, declared: DeclaredFunction): number {
    const { bytecodeVersion } = this.#module;
    const { name, typeParameters, handleAttributes } = declared;
    return this.#tables.index('functionHandles', (to) => {
      to.uleb32(this.#moduleHandle(module)).uleb32(this.#identifier(name));
      to.uleb32(this.#signature(declared.parameters)).uleb32(this.#signature(declared.results));
      to.vector(typeParameters, (inner, { constraints }) => inner.uleb32(constraints));
      if (bytecodeVersion >= VERSION_7_ENUMS) to.u8(NO_ACCESS_SPECIFIERS);
      if (bytecodeVersion < VERSION_8_FUNCTION_VALUES) return;
      to.vector(handleAttributes, (inner, { code, operand }) => {
        inner.u8(code);
        if (operand !== undefined) inner.u16(operand);
      });
    });
  }

  #signature(types: readonly MoveType[]): number {
    return this.#tables.index('signatures', (to) =>
      to.vector(types, (inner, type) => this.#writeType(inner, type)),
    );
  }

  #writeType(writer: BcsWriter, type: MoveType): void {
    switch (type.kind) {
      case 'vector':
        this.#writeType(writer.u8(TOKEN_CODES.vector), type.element);
        return;
      case 'reference':
        writer.u8(type.mutable ? TOKEN_CODES.mutableReference : TOKEN_CODES.reference);
        this.#writeType(writer, type.to);
        return;
      case 'typeParameter':
        writer.u8(TOKEN_CODES.typeParameter).uleb32(type.index);
        return;
      case 'function':
        writer.u8(TOKEN_CODES.functionType).uleb32(type.abilities);
        writer.uleb32(type.args.length).uleb32(type.results.length);
        for (const part of [...type.args, ...type.results]) this.#writeType(writer, part);
        return;
      case 'struct':
        this.#writeStructType(writer, type.struct);
        return;
      case 'unparsable':
        throw declarationError(`${type.text} is not a type`);
      default:
        writer.u8(PRIMITIVE_CODES.get(type.kind)!.code);
    }
  }

  #writeStructType(writer: BcsWriter, tag: MoveStructTag): void {
    const { name, typeArguments } = tag;
    const module = { address: tag.address, name: tag.module };
    const declared = this.#lookup.struct(module, name);
    const isInstantiated = typeArguments.length > 0;
    writer.u8(isInstantiated ? TOKEN_CODES.structInstantiation : TOKEN_CODES.struct);
    writer.uleb32(this.#structHandle(module, declared));
    if (isInstantiated) writer.vector(typeArguments, (to, type) => this.#writeType(to, type));
  }
}

/** The only metadata entry of a module; no bytes if it would be empty (docs/spec/move.md §2.3). */
function moduleMetadata(module: ModuleDeclaration): Buffer {
  const { errors } = module;
  const structs = module.structs.filter(({ attributes }) => attributes.length > 0);
  const functions = module.functions.filter(({ attributes }) => attributes.length > 0);
  if (structs.length + functions.length + errors.length === 0) return Buffer.alloc(0);
  const value = encodeBcs((writer) => {
    writeSortedMap(
      writer,
      errors,
      (to, { abortCode }) => to.u64(abortCode),
      (to, error) => to.string(error.name).string(error.description),
    );
    for (const items of [structs, functions]) {
      writeSortedMap(writer, items, (to, { name }) => to.string(name), writeAttributes);
    }
  });
  return encodeBcs((writer) => writer.string('aptos::metadata_v1').bytes(value));
}

function writeAttributes(writer: BcsWriter, item: DeclaredStruct | DeclaredFunction): void {
  writer.vector(item.attributes, (to, { kind, args }) =>
    to.u8(kind).vector(args, (inner, arg) => inner.string(arg)),
  );
}

/** BCS maps are ordered by the serialized bytes of their keys. */
function writeSortedMap<T>(
  writer: BcsWriter,
  items: readonly T[],
  writeKey: (writer: BcsWriter, item: T) => unknown,
  writeValue: (writer: BcsWriter, item: T) => unknown,
): void {
  const entries = items
    .map((item) => ({ item, key: encodeBcs((to) => writeKey(to, item)) }))
    .sort((left, right) => Buffer.compare(left.key, right.key));
  writer.vector(entries, (to, { item, key }) => writeValue(to.fixed(key), item));
}
