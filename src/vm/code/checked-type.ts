/**
 * Types as the check of code compares them: within one module, one object for each type. Abilities are not part of
 * them.
 */
import {
  type BinaryTables,
  type SignatureToken,
  structPathOfHandle,
} from '../../move/modules/compiled.ts';
import { refusedCode } from '../vm-error.ts';

export interface CheckedType {
  readonly id: number;
  readonly kind: SignatureToken['kind'];
  /** What it is made of: an element, what a reference is to, type arguments, arguments and results of a function. */
  readonly parts: readonly CheckedType[];
  /** Of a struct its handle, the first of several; of a type parameter its place; of a function how many arguments. */
  readonly index: number;
  readonly isMutable: boolean;
}

/**
 * Work that the check of one function may be: looking a type up, for each type of each instruction. That is some 20 ms,
 * in which nothing else runs.
 */
export const MAX_WORK = 1_000_000;
/** Work that making a type is, compared with looking one up. */
export const MAKING_WORK = 16;

export class CheckedTypes {
  readonly #tables: BinaryTables;
  readonly #types = new Map<string, CheckedType>();
  readonly #tokens = new Map<SignatureToken, CheckedType>();
  readonly #structs = new Map<string, number>();
  readonly #signatures = new Map<number, readonly CheckedType[]>();
  /** By the list of type arguments: that of a signature is always the same. */
  readonly #substituted = new Map<readonly CheckedType[], Map<CheckedType, CheckedType>>();
  #workLeft = MAX_WORK;

  constructor(tables: BinaryTables) {
    this.#tables = tables;
  }

  /** @throws VmError */
  of(token: SignatureToken): CheckedType {
    let known = this.#tokens.get(token);
    if (known === undefined) {
      known = token.kind === 'reference' ? this.#reference(token) : this.#value(token);
      this.#tokens.set(token, known);
    }
    return known;
  }

  all(tokens: readonly SignatureToken[]): CheckedType[] {
    return tokens.map((token) => this.of(token));
  }

  /** A signature as an operand names it: always the same list. */
  signature(index: number): readonly CheckedType[] {
    let known = this.#signatures.get(index);
    if (known === undefined) {
      known = this.all(this.#tables.signatures[index]!);
      this.#signatures.set(index, known);
    }
    return known;
  }

  referenceTo(type: CheckedType, isMutable: boolean): CheckedType {
    if (type.kind === 'reference') throw refusedCode('reference to a reference');
    return this.#make('reference', [type], 0, isMutable);
  }

  vectorOf(element: CheckedType): CheckedType {
    return this.#make('vector', [element], 0);
  }

  struct(handle: number, typeArguments: readonly CheckedType[]): CheckedType {
    return this.#make('struct', typeArguments, this.#firstHandle(handle));
  }

  functionType(args: readonly CheckedType[], results: readonly CheckedType[]): CheckedType {
    return this.#make('function', [...args, ...results], args.length);
  }

  primitive(kind: SignatureToken['kind']): CheckedType {
    return this.#make(kind, [], 0);
  }

  /** The type with type parameters put in. @param typeArguments the same list each time */
  substitute(type: CheckedType, typeArguments: readonly CheckedType[]): CheckedType {
    let known = this.#substituted.get(typeArguments);
    if (known === undefined) {
      known = new Map();
      this.#substituted.set(typeArguments, known);
    }
    return this.#substitute(type, typeArguments, known);
  }

  #substitute(
    type: CheckedType,
    typeArguments: readonly CheckedType[],
    known: Map<CheckedType, CheckedType>,
  ): CheckedType {
    this.#spend(1);
    if (type.kind === 'typeParameter') {
      const argument = typeArguments[type.index];
      if (argument === undefined) throw refusedCode('type parameter without argument');
      return argument;
    }
    if (type.parts.length === 0) return type;
    let made = known.get(type);
    if (made === undefined) {
      this.#spend(MAKING_WORK);
      const parts = type.parts.map((part) => this.#substitute(part, typeArguments, known));
      made = this.#make(type.kind, parts, type.index, type.isMutable);
      known.set(type, made);
    }
    return made;
  }

  #spend(work: number): void {
    this.#workLeft -= work;
    if (this.#workLeft < 0) throw refusedCode('too many types');
  }

  #reference(token: SignatureToken & { readonly kind: 'reference' }): CheckedType {
    return this.referenceTo(this.#value(token.to), token.mutable);
  }

  /** A type that is not a reference and has none but in function types. */
  #value(token: SignatureToken): CheckedType {
    this.#spend(MAKING_WORK);
    switch (token.kind) {
      case 'reference':
        throw refusedCode('reference inside a type');
      case 'vector':
        return this.vectorOf(this.#value(token.element));
      case 'struct':
        return this.struct(
          token.handle,
          token.typeArguments.map((argument) => this.#value(argument)),
        );
      case 'function':
        return this.functionType(this.all(token.args), this.all(token.results));
      case 'typeParameter':
        return this.#make('typeParameter', [], token.index);
      default:
        return this.primitive(token.kind);
    }
  }

  /** The same struct may have several handles. */
  #firstHandle(handle: number): number {
    const { module, name } = structPathOfHandle(this.#tables, handle);
    const key = `${module.address}::${module.name}::${name}`;
    const first = this.#structs.get(key) ?? handle;
    this.#structs.set(key, first);
    return first;
  }

  #make(
    kind: SignatureToken['kind'],
    parts: readonly CheckedType[],
    index: number,
    isMutable = false,
  ): CheckedType {
    const ids = parts.length === 0 ? '' : parts.map(({ id }) => id).join();
    const key = `${kind}${isMutable ? '!' : ''}${index},${ids}`;
    let type = this.#types.get(key);
    if (type === undefined) {
      type = { id: this.#types.size, kind, parts, index, isMutable };
      this.#types.set(key, type);
    }
    return type;
  }
}
