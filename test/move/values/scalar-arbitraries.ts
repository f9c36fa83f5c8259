/** Random scalars, addresses and type tags, for property tests. */
import fc, { type Arbitrary } from 'fast-check';
import type { ModuleId } from '../../../src/move/types/module-id.ts';
import { PRIMITIVE_KINDS, type StructTag, type TypeTag } from '../../../src/move/types/type-tag.ts';

export const kind = <const K extends string>(value: K): Arbitrary<K> => fc.constant(value);
export const u64 = fc.bigInt(0n, 2n ** 64n - 1n);
export const u32 = fc.nat(0xffff_ffff);
export const name = fc.string({ maxLength: 6 });
export const option = <T>(inner: Arbitrary<T>): Arbitrary<T | undefined> =>
  fc.option(inner, { nil: undefined });
export const list = <T>(inner: Arbitrary<T>): Arbitrary<T[]> => fc.array(inner, { maxLength: 3 });
export const unsigned = (bits: bigint): Arbitrary<bigint> => fc.bigInt(0n, 2n ** bits - 1n);
export const signed = (bits: bigint): Arbitrary<bigint> =>
  fc.bigInt(-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n);

export function bytesOf(byteLength: number): Arbitrary<Buffer> {
  // Long ones repeat a short pattern: only their length matters.
  if (byteLength > 300) return bytesOf(16).map((part) => Buffer.alloc(byteLength, part));
  return fc
    .uint8Array({ minLength: byteLength, maxLength: byteLength })
    .map((bytes) => Buffer.from(bytes));
}
export const bytes = fc.uint8Array({ maxLength: 12 }).map((raw) => Buffer.from(raw));
export const hash = bytesOf(32);
export const address = hash.map((raw) => raw.toString('hex'));

export const primitive: Arbitrary<TypeTag> = fc
  .constantFrom(...PRIMITIVE_KINDS)
  .map((of) => ({ kind: of }));
export const typeTagTo: (depth: number) => Arbitrary<TypeTag> = fc.memo((depth: number) => {
  if (depth <= 1) return primitive;
  const inner = typeTagTo(depth - 1);
  const part = fc.oneof(
    inner,
    fc.record({ kind: kind('reference'), mutable: fc.boolean(), to: inner }),
  );
  return fc.oneof(
    primitive,
    fc.record({ kind: kind('vector'), element: inner }),
    fc.record({ kind: kind('struct'), struct: structTagOf(inner) }),
    fc.record({
      kind: kind('function'),
      args: list(part),
      results: list(part),
      abilities: fc.nat(15),
    }),
  );
});
export function structTagOf(argument: Arbitrary<TypeTag>): Arbitrary<StructTag> {
  return fc.record({ address, module: name, name, typeArguments: list(argument) });
}
export const typeTag = typeTagTo(3);
export const structTag = structTagOf(typeTagTo(2));
export const moduleId: Arbitrary<ModuleId> = fc.record({ address, name });
