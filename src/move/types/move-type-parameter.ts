/**
 * Types as parameters of functions: type arguments put in, signers told apart, names for messages (docs/spec/move.md
 * §5,
 * docs/spec/encode.md §A4 steps 4 to 6).
 */
import type { MoveType } from './move-type.ts';

/** Whether a type mentions a type parameter that `substituteTypeParameters` replaces. */
export function mentionsTypeParameter(type: MoveType): boolean {
  switch (type.kind) {
    case 'typeParameter':
      return true;
    case 'vector':
      return mentionsTypeParameter(type.element);
    case 'reference':
      return mentionsTypeParameter(type.to);
    case 'struct':
      return type.struct.typeArguments.some(mentionsTypeParameter);
    default:
      return false;
  }
}

/**
 * The type with `T{i}` replaced by the i-th type argument inside vectors, references and struct arguments, and as
 * the reference does not inside function types. An index without an argument stays as it is.
 */
export function substituteTypeParameters(
  type: MoveType,
  typeArguments: readonly MoveType[],
): MoveType {
  switch (type.kind) {
    case 'typeParameter':
      return typeArguments[type.index] ?? type;
    case 'vector':
      return { kind: 'vector', element: substituteTypeParameters(type.element, typeArguments) };
    case 'reference':
      return { ...type, to: substituteTypeParameters(type.to, typeArguments) };
    case 'struct': {
      const { struct } = type;
      const replaced = struct.typeArguments.map((argument) =>
        substituteTypeParameters(argument, typeArguments),
      );
      return { kind: 'struct', struct: { ...struct, typeArguments: replaced } };
    }
    default:
      return type;
  }
}

/** Whether a parameter is `signer` or a reference to it, at any depth: such parameters take no argument. */
export function isSignerParameter(type: MoveType): boolean {
  if (type.kind === 'reference') return isSignerParameter(type.to);
  return type.kind === 'signer';
}

/** What the JSON of a parameter is called in messages: `integer<u8>`, `string<hex>`, `array<boolean>`, … */
export function parameterTypeName(type: MoveType): string {
  switch (type.kind) {
    case 'u8':
    case 'u16':
    case 'u32':
    case 'i8':
    case 'i16':
    case 'i32':
      return `integer<${type.kind}>`;
    case 'u64':
    case 'u128':
    case 'u256':
    case 'i64':
    case 'i128':
    case 'i256':
      return `string<${type.kind}>`;
    case 'bool':
      return 'boolean';
    case 'address':
    case 'signer':
      return 'string<address>';
    case 'vector':
      if (type.element.kind === 'u8') return 'string<hex>';
      return `array<${parameterTypeName(type.element)}>`;
    case 'struct':
    case 'typeParameter':
      return 'string<move_struct_tag_id>';
    case 'function':
      return 'string<move_function_id>';
    case 'reference':
      return parameterTypeName(type.to);
    case 'unparsable':
      return type.text;
  }
}
