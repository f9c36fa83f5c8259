/** Encodes function bodies, and the tables that only code needs (docs/spec/move.md §1.4, §1.8, §1.9). */
import type { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import type { TableName } from '../../move/modules/format.ts';
import type { ModuleId } from '../../move/types/module-id.ts';
import type { MoveStructTag, MoveType } from '../../move/types/move-type.ts';
import type { Tables } from './binary.ts';
import {
  type CodeIndices,
  type DeclaredBody,
  type DeclaredField,
  type DeclaredStruct,
  declarationError,
  type ModuleDeclaration,
} from './declare.ts';

interface ModuleScope {
  readonly module: ModuleDeclaration;
  readonly tables: Tables;
  signature(types: readonly MoveType[]): number;
  functionHandle(module: ModuleId, name: string): number;
  writeType(writer: BcsWriter, type: MoveType): void;
}

export class CodeTables implements CodeIndices {
  readonly #scope: ModuleScope;

  constructor(scope: ModuleScope) {
    this.#scope = scope;
  }

  /** Writes the structs that a function acquires, its locals and its code. */
  writeBody(writer: BcsWriter, { acquires, locals, instructions }: DeclaredBody): void {
    writer.vector(acquires, (to, name) => to.uleb32(this.#definition(name).index));
    writer.uleb32(this.#scope.signature(locals));
    writer.vector(instructions, (to, { opcode, writeOperands }) =>
      writeOperands(to.u8(opcode), this),
    );
  }

  signature(types: readonly MoveType[]): number {
    return this.#scope.signature(types);
  }

  constant(type: MoveType, data: Uint8Array): number {
    return this.#scope.tables.index('constants', (to) => {
      this.#scope.writeType(to, type);
      to.bytes(data);
    });
  }

  function(module: ModuleId, name: string, typeArguments: readonly MoveType[]): number {
    const handle = this.#scope.functionHandle(module, name);
    return this.#instantiated('functionInstantiations', handle, typeArguments);
  }

  member(struct: MoveStructTag, variants: readonly string[], field: string | undefined): number {
    const { index, declared } = this.#definition(struct.name);
    const [handles, instantiations, write] = this.#memberTables(declared, variants, field);
    const handle =
      handles === undefined
        ? index
        : this.#scope.tables.index(handles, (to) => write(to.uleb32(index)));
    return this.#instantiated(instantiations, handle, struct.typeArguments);
  }

  #instantiated(table: TableName, index: number, typeArguments: readonly MoveType[]): number {
    if (typeArguments.length === 0) return index;
    const signature = this.#scope.signature(typeArguments);
    return this.#scope.tables.index(table, (to) => to.uleb32(index).uleb32(signature));
  }

  /**
   * For a member: the table of its handle (none for a struct itself), the table of its instantiations, and a function
   * that writes the handle's contents after the struct's index.
   */
  #memberTables(
    { name, body }: DeclaredStruct,
    variants: readonly string[],
    field: string | undefined,
  ): [TableName | undefined, TableName, (to: BcsWriter) => unknown] {
    const [variant] = variants;
    if (variant === undefined) {
      if (field === undefined) return [undefined, 'structInstantiations', () => undefined];
      const fields = body.kind === 'struct' ? body.fields : [];
      const offset = fieldOffset(fields, field, name);
      return ['fieldHandles', 'fieldInstantiations', (to) => to.uleb32(offset)];
    }
    const all = body.kind === 'enum' ? body.variants : [];
    const numbers = variants.map((variantName) => {
      const found = all.findIndex((each) => each.name === variantName);
      if (found < 0) throw declarationError(`no variant ${name}.${variantName}`);
      return found;
    });
    if (field === undefined) {
      const write = (to: BcsWriter) => to.uleb32(numbers[0]!);
      return ['structVariantHandles', 'structVariantInstantiations', write];
    }
    const offset = fieldOffset(all[numbers[0]!]!.fields, field, `${name}.${variant}`);
    const write = (to: BcsWriter) =>
      to.uleb32(offset).vector(numbers, (inner, number) => inner.uleb32(number));
    return ['variantFieldHandles', 'variantFieldInstantiations', write];
  }

  #definition(name: string): { index: number; declared: DeclaredStruct } {
    const { structs, name: module } = this.#scope.module;
    const index = structs.findIndex((struct) => struct.name === name);
    if (index >= 0) return { index, declared: structs[index]! };
    throw declarationError(`no struct ${name} in module ${module}`);
  }
}

function fieldOffset(fields: readonly DeclaredField[], name: string, owner: string): number {
  const offset = fields.findIndex((field) => field.name === name);
  if (offset >= 0) return offset;
  throw declarationError(`no field ${owner}.${name}`);
}
