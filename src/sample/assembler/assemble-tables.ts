/**
 * The tables of a module while it is assembled: every entry once, indices in the order of first use
 * (docs/spec/move.md §1.4–1.6).
 */

import type {
  CompiledModule,
  FunctionHandle,
  ModuleHandle,
  SignatureToken,
  StructHandle,
} from '../../move/modules/compiled.ts';
import type { Address } from '../../move/types/address.ts';
import type { ModuleId } from '../../move/types/module-id.ts';
import type { MoveType } from '../../move/types/move-type.ts';
import type { PrimitiveKind } from '../../move/types/type-tag.ts';
import { DeclarationError, type DeclaredStruct, type ModuleDeclaration } from './declare.ts';
import type { WrapperFunction } from './public-struct.ts';

/** Where declarations of structs are found. */
export interface StructWorld {
  /** @throws DeclarationError `unknown_name` */
  struct(module: ModuleId, name: string): DeclaredStruct;
}

/** First bytecode version of the types that version 5 did not have (docs/spec/move.md §1.10). */
const SINCE: ReadonlyMap<MoveType['kind'], number> = new Map<MoveType['kind'], number>([
  ...(['u16', 'u32', 'u256'] as const).map((kind): [PrimitiveKind, number] => [kind, 6]),
  ['function', 8],
  ...(['i8', 'i16', 'i32', 'i64', 'i128', 'i256'] as const).map((kind): [PrimitiveKind, number] => [
    kind,
    9,
  ]),
]);
const FUNCTION_ATTRIBUTES_SINCE = 10;

/** A table whose entries are found again by a text that says all of them. */
class InternedTable<T> {
  readonly entries: T[] = [];
  readonly #indices = new Map<string, number>();

  intern(key: string, entry: () => T): number {
    const known = this.#indices.get(key);
    if (known !== undefined) return known;
    // The entry may itself add to this table, so its index is taken after it is made.
    const made = entry();
    const index = this.entries.length;
    this.entries.push(made);
    this.#indices.set(key, index);
    return index;
  }
}

export class AssemblyTables {
  readonly selfHandle: number;
  readonly #module: ModuleDeclaration;
  readonly #world: StructWorld;
  readonly #addresses = new InternedTable<Address>();
  readonly #identifiers = new InternedTable<string>();
  readonly #moduleHandles = new InternedTable<ModuleHandle>();
  readonly #structHandles = new InternedTable<StructHandle>();
  readonly #functionHandles = new InternedTable<FunctionHandle>();
  readonly #signatures = new InternedTable<readonly SignatureToken[]>();

  constructor(module: ModuleDeclaration, world: StructWorld) {
    this.#module = module;
    this.#world = world;
    this.selfHandle = this.#moduleHandle(module);
  }

  /** The finished tables. */
  finish(): Pick<
    CompiledModule,
    | 'addresses'
    | 'identifiers'
    | 'moduleHandles'
    | 'structHandles'
    | 'functionHandles'
    | 'signatures'
  > {
    return {
      addresses: this.#addresses.entries,
      identifiers: this.#identifiers.entries,
      moduleHandles: this.#moduleHandles.entries,
      structHandles: this.#structHandles.entries,
      functionHandles: this.#functionHandles.entries,
      signatures: this.#signatures.entries,
    };
  }

  identifier(name: string): number {
    return this.#identifiers.intern(name, () => name);
  }

  /** A friend declaration: like a module handle, in a table of its own. */
  friend(module: ModuleId): ModuleHandle {
    return {
      address: this.#addresses.intern(module.address, () => module.address),
      name: this.identifier(module.name),
    };
  }

  #moduleHandle(module: ModuleId): number {
    return this.#moduleHandles.intern(`${module.address}::${module.name}`, () =>
      this.friend(module),
    );
  }

  /** The handle of a struct that this module declares. */
  ownStruct(name: string): number {
    return this.#structHandle(this.#module, name, this.#world.struct(this.#module, name));
  }

  #structHandle(module: ModuleId, name: string, declared: DeclaredStruct): number {
    return this.#structHandles.intern(`${module.address}::${module.name}::${name}`, () => ({
      module: this.#moduleHandle(module),
      name: this.identifier(name),
      abilities: declared.abilities,
      typeParameters: declared.typeParameters.map(({ constraints, isPhantom }) => ({
        constraints,
        isPhantom,
      })),
    }));
  }

  /** @throws DeclarationError `duplicate_name` for a second function of one name. */
  functionHandle(declared: WrapperFunction): number {
    if (declared.handleAttributes.length > 0) {
      this.requireVersion(FUNCTION_ATTRIBUTES_SINCE, `attributes of ${declared.name}`);
    }
    const before = this.#functionHandles.entries.length;
    const index = this.#functionHandles.intern(declared.name, () => ({
      module: this.selfHandle,
      name: this.identifier(declared.name),
      parameters: this.signature(declared.parameters.map((type) => this.token(type))),
      return: this.signature(declared.results.map((type) => this.token(type))),
      typeParameters: declared.typeParameters.map(({ constraints }) => constraints),
      attributes: declared.handleAttributes,
    }));
    if (index < before) {
      throw new DeclarationError('duplicate_name', `function ${declared.name} is declared twice`);
    }
    return index;
  }

  signature(tokens: readonly SignatureToken[]): number {
    return this.#signatures.intern(JSON.stringify(tokens), () => tokens);
  }

  /** The token of a type. @throws DeclarationError */
  token(type: MoveType): SignatureToken {
    const since = SINCE.get(type.kind);
    if (since !== undefined) this.requireVersion(since, `type ${type.kind}`);
    switch (type.kind) {
      case 'vector':
        return { kind: 'vector', element: this.token(type.element) };
      case 'reference':
        return { kind: 'reference', mutable: type.mutable, to: this.token(type.to) };
      case 'function': {
        const args = type.args.map((arg) => this.token(arg));
        const results = type.results.map((result) => this.token(result));
        return { kind: 'function', args, results, abilities: type.abilities };
      }
      case 'struct': {
        const { address, module, name } = type.struct;
        const declared = this.#world.struct({ address, name: module }, name);
        const handle = this.#structHandle({ address, name: module }, name, declared);
        const typeArguments = type.struct.typeArguments.map((argument) => this.token(argument));
        if (typeArguments.length !== declared.typeParameters.length) {
          throw new DeclarationError(
            'bad_arity',
            `${name} takes ${declared.typeParameters.length} type arguments, not ` +
              `${typeArguments.length}, in module ${this.#module.name}`,
          );
        }
        return { kind: 'struct', handle, instantiated: typeArguments.length > 0, typeArguments };
      }
      case 'unparsable':
        throw new DeclarationError('unknown_name', `${type.text} is no type`);
      default:
        return type;
    }
  }

  requireVersion(version: number, what: string): void {
    if (this.#module.bytecodeVersion >= version) return;
    throw new DeclarationError(
      'needs_newer_bytecode',
      `${what} in module ${this.#module.name} needs bytecode version ${version}`,
    );
  }
}
