/** Encodes bodies of functions, and the tables that only code needs (docs/spec/move.md §1.4, §1.8, §1.9). */
import type { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import { writeInteger } from '../../move/bcs/integers.ts';
import { OPCODES } from '../../move/modules/opcodes.ts';
import type { ModuleId } from '../../move/types/module-id.ts';
import type { MoveType } from '../../move/types/move-type.ts';
import { Table } from './binary.ts';
import {
  DeclarationError,
  type DeclaredBody,
  type DeclaredField,
  type DeclaredInstruction,
  type DeclaredMember,
  type DeclaredOperand,
  type DeclaredStruct,
  type ModuleDeclaration,
} from './declare.ts';

/** The tables of the module around a body. */
interface ModuleTables {
  requireVersion(version: number, what: string): void;
  signature(types: readonly MoveType[]): number;
  functionHandle(module: ModuleId, name: string): number;
  writeType(writer: BcsWriter, type: MoveType): void;
}

export class CodeTables {
  readonly #module: ModuleDeclaration;
  readonly #tables: ModuleTables;
  readonly #functionInstantiations = new Table();
  readonly #structInstantiations = new Table();
  readonly #fieldHandles = new Table();
  readonly #fieldInstantiations = new Table();
  readonly #variantFieldHandles = new Table();
  readonly #variantFieldInstantiations = new Table();
  readonly #structVariantHandles = new Table();
  readonly #structVariantInstantiations = new Table();
  readonly #constants = new Table();

  constructor(module: ModuleDeclaration, tables: ModuleTables) {
    this.#module = module;
    this.#tables = tables;
  }

  /** The structs that a function acquires, and its code. @throws DeclarationError `unknown_name` */
  writeBody(writer: BcsWriter, { acquires, locals, instructions }: DeclaredBody): void {
    writer.vector(acquires, (to, name) => to.uleb32(this.#definition(name).index));
    writer.uleb32(this.#tables.signature(locals));
    writer.vector(instructions, (to, instruction) => this.#writeInstruction(to, instruction));
  }

  toBytes() {
    return {
      functionInstantiations: this.#functionInstantiations.toBytes(),
      structInstantiations: this.#structInstantiations.toBytes(),
      fieldHandles: this.#fieldHandles.toBytes(),
      fieldInstantiations: this.#fieldInstantiations.toBytes(),
      variantFieldHandles: this.#variantFieldHandles.toBytes(),
      variantFieldInstantiations: this.#variantFieldInstantiations.toBytes(),
      structVariantHandles: this.#structVariantHandles.toBytes(),
      structVariantInstantiations: this.#structVariantInstantiations.toBytes(),
      constants: this.#constants.toBytes(),
    };
  }

  #writeInstruction(writer: BcsWriter, instruction: DeclaredInstruction): void {
    const { opcode, operand, second } = instruction;
    const { name, operand: kind, second: secondKind, immediate, since } = OPCODES[opcode]!;
    this.#tables.requireVersion(since, name);
    writer.u8(opcode);
    if (operand.kind === 'number' && immediate !== undefined) {
      writeInteger(writer, kind as Parameters<typeof writeInteger>[1], operand.value);
    } else if (operand.kind !== 'none') {
      writer.uleb32(this.#index(operand));
    }
    if (secondKind === 'count') writer.u64(second!);
    // A mask has one bit for each of a few parameters.
    if (secondKind === 'mask') writer.uleb32(Number(second!));
  }

  #index(operand: Exclude<DeclaredOperand, { kind: 'none' }>): number {
    switch (operand.kind) {
      case 'number':
        return Number(operand.value);
      case 'signature':
        return this.#tables.signature(operand.types);
      case 'constant':
        return this.#constants.index((to) => {
          this.#tables.writeType(to, operand.type);
          to.bytes(operand.data);
        });
      case 'function': {
        const handle = this.#tables.functionHandle(operand.module, operand.name);
        return this.#instantiated(this.#functionInstantiations, handle, operand.typeArguments);
      }
      case 'member':
        return this.#memberIndex(operand);
    }
  }

  #instantiated(table: Table, index: number, typeArguments: readonly MoveType[]): number {
    if (typeArguments.length === 0) return index;
    const signature = this.#tables.signature(typeArguments);
    return table.index((to) => to.uleb32(index).uleb32(signature));
  }

  #memberIndex({ struct, variants, field }: DeclaredMember): number {
    const { index, declared } = this.#definition(struct.name);
    const [handles, instantiations, write] = this.#memberTables(declared, variants, field);
    const handle = handles?.index((to) => write(to.uleb32(index))) ?? index;
    return this.#instantiated(instantiations, handle, struct.typeArguments);
  }

  /** The table of a member's handle (none for a struct itself), of its instantiations, and what the handle has. */
  #memberTables(
    { name, body }: DeclaredStruct,
    variants: readonly string[],
    field: string | undefined,
  ): [Table | undefined, Table, (to: BcsWriter) => unknown] {
    const [variant] = variants;
    if (variant === undefined) {
      if (field === undefined) return [undefined, this.#structInstantiations, () => undefined];
      const fields = body.kind === 'struct' ? body.fields : [];
      const offset = fieldOffset(fields, field, name);
      return [this.#fieldHandles, this.#fieldInstantiations, (to) => to.uleb32(offset)];
    }
    const all = body.kind === 'enum' ? body.variants : [];
    const numbers = variants.map((wanted) => {
      const found = all.findIndex((each) => each.name === wanted);
      if (found < 0) throw new DeclarationError('unknown_name', `no variant ${name}.${wanted}`);
      return found;
    });
    if (field === undefined) {
      const write = (to: BcsWriter) => to.uleb32(numbers[0]!);
      return [this.#structVariantHandles, this.#structVariantInstantiations, write];
    }
    const offset = fieldOffset(all[numbers[0]!]!.fields, field, `${name}.${variant}`);
    const write = (to: BcsWriter) =>
      to.uleb32(offset).vector(numbers, (inner, number) => inner.uleb32(number));
    return [this.#variantFieldHandles, this.#variantFieldInstantiations, write];
  }

  #definition(name: string): { index: number; declared: DeclaredStruct } {
    const { structs } = this.#module;
    const index = structs.findIndex((struct) => struct.name === name);
    if (index >= 0) return { index, declared: structs[index]! };
    const { name: module } = this.#module;
    throw new DeclarationError('unknown_name', `no struct ${name} in module ${module}`);
  }
}

function fieldOffset(fields: readonly DeclaredField[], name: string, owner: string): number {
  const offset = fields.findIndex((field) => field.name === name);
  if (offset >= 0) return offset;
  throw new DeclarationError('unknown_name', `no field ${owner}.${name}`);
}
