/**
 * The functions by which other modules pack, unpack, test and borrow from a `public struct` or `public enum`. The
 * binary has no flag for it, only functions with `$` in their names and attributes (docs/spec/move.md §1.5).
 */
import type { ModuleId } from '../../move/types/module-id.ts';
import type { MoveType } from '../../move/types/move-type.ts';
import type { DeclaredField, DeclaredFunction, DeclaredStruct } from './declare.ts';

const PACK = 3;
const PACK_VARIANT = 4;
const UNPACK = 5;
const UNPACK_VARIANT = 6;
const TEST_VARIANT = 7;
const BORROW = 8;
const BORROW_MUT = 9;

/** The wrapper functions of one struct or enum, packing first, borrowing last. */
export function publicStructFunctions(
  module: ModuleId,
  struct: DeclaredStruct,
): DeclaredFunction[] {
  const self: MoveType = {
    kind: 'struct',
    struct: {
      address: module.address,
      module: module.name,
      name: struct.name,
      typeArguments: struct.typeParameters.map((_, index) => ({ kind: 'typeParameter', index })),
    },
  };
  const wrap: WrapperMaker = (name, parameters, results, code, operand) => ({
    name,
    parameters,
    results,
    visibility: 'public',
    isEntry: false,
    isNative: false,
    typeParameters: struct.typeParameters,
    attributes: [],
    handleAttributes: [{ code, operand }],
  });
  const { body, name } = struct;
  if (body.kind === 'struct') {
    const types = body.fields.map((field) => field.type);
    return [
      wrap(`pack$${name}`, types, [self], PACK),
      wrap(`unpack$${name}`, [self], types, UNPACK),
      ...body.fields.flatMap(({ type }, offset) =>
        borrows(wrap, self, type, `${name}$${offset}`, offset),
      ),
    ];
  }
  return [
    ...body.variants.flatMap((variant, index) => {
      const types = variant.fields.map((field) => field.type);
      return [
        wrap(`pack$${name}$${variant.name}`, types, [self], PACK_VARIANT, index),
        wrap(`unpack$${name}$${variant.name}`, [self], types, UNPACK_VARIANT, index),
        wrap(
          `test_variant$${name}$${variant.name}`,
          [{ kind: 'reference', mutable: false, to: self }],
          [{ kind: 'bool' }],
          TEST_VARIANT,
          index,
        ),
      ];
    }),
    ...variantBorrows(wrap, self, name, body.variants),
  ];
}

type WrapperMaker = (
  name: string,
  parameters: readonly MoveType[],
  results: readonly MoveType[],
  code: number,
  operand?: number,
) => DeclaredFunction;

function borrows(
  wrap: WrapperMaker,
  self: MoveType,
  field: MoveType,
  suffix: string,
  offset: number,
): DeclaredFunction[] {
  return [false, true].map((mutable) =>
    wrap(
      `${mutable ? 'borrow_mut' : 'borrow'}$${suffix}`,
      [{ kind: 'reference', mutable, to: self }],
      [{ kind: 'reference', mutable, to: field }],
      mutable ? BORROW_MUT : BORROW,
      offset,
    ),
  );
}

/** One pair for every field offset and every type that occurs at this offset in a variant, numbered per offset. */
function variantBorrows(
  wrap: WrapperMaker,
  self: MoveType,
  name: string,
  variants: readonly { readonly fields: readonly DeclaredField[] }[],
): DeclaredFunction[] {
  const widest = Math.max(...variants.map((variant) => variant.fields.length));
  const functions: DeclaredFunction[] = [];
  for (let offset = 0; offset < widest; offset += 1) {
    const types = new Map<string, MoveType>();
    for (const { fields } of variants) {
      const type = fields[offset]?.type;
      if (type !== undefined) types.set(JSON.stringify(type), type);
    }
    [...types.values()].forEach((type, order) => {
      functions.push(...borrows(wrap, self, type, `${name}$${offset}$${order}`, offset));
    });
  }
  return functions;
}
