/** Compares types of two modules: structs by their module and name. */
import { type BinaryTables, type SignatureToken, structPathOfHandle } from './compiled.ts';

export function isSameSignature(
  tables: BinaryTables,
  signature: number,
  otherTables: BinaryTables,
  otherSignature: number,
): boolean {
  return areSameTypes(
    tables,
    tables.signatures[signature]!,
    otherTables,
    otherTables.signatures[otherSignature]!,
  );
}

export function areSameTypes(
  tables: BinaryTables,
  types: readonly SignatureToken[],
  otherTables: BinaryTables,
  others: readonly SignatureToken[],
): boolean {
  return (
    types.length === others.length &&
    types.every((type, place) => isSameType(tables, type, otherTables, others[place]!))
  );
}

export function isSameType(
  tables: BinaryTables,
  type: SignatureToken,
  otherTables: BinaryTables,
  other: SignatureToken,
): boolean {
  const isSame = (one: SignatureToken, two: SignatureToken) =>
    isSameType(tables, one, otherTables, two);
  const areSame = (left: readonly SignatureToken[], right: readonly SignatureToken[]) =>
    areSameTypes(tables, left, otherTables, right);
  switch (type.kind) {
    case 'reference':
      return (
        other.kind === 'reference' && type.mutable === other.mutable && isSame(type.to, other.to)
      );
    case 'vector':
      return other.kind === 'vector' && isSame(type.element, other.element);
    case 'typeParameter':
      return other.kind === 'typeParameter' && type.index === other.index;
    case 'struct': {
      if (other.kind !== 'struct') return false;
      const path = structPathOfHandle(tables, type.handle);
      const otherPath = structPathOfHandle(otherTables, other.handle);
      return (
        path.name === otherPath.name &&
        path.module.name === otherPath.module.name &&
        path.module.address === otherPath.module.address &&
        areSame(type.typeArguments, other.typeArguments)
      );
    }
    case 'function':
      return (
        other.kind === 'function' &&
        type.abilities === other.abilities &&
        areSame(type.args, other.args) &&
        areSame(type.results, other.results)
      );
    default:
      return type.kind === other.kind;
  }
}
