/**
 * Writes types and type parameters; mirror image of read-signature.ts (docs/spec/move.md §1.5, §1.6).
 */
import type { AbilitySet } from '../types/type-tag.ts';
import {
  ALL_ABILITIES,
  MAX_SIGNATURE_TOKENS,
  MAX_TOKEN_DEPTH,
  MAX_TYPE_PARAMETER_INDEX,
  MAX_TYPE_PARAMETERS,
  VERSION_8_FUNCTION_VALUES,
} from './binary-limits.ts';
import type { BinaryWriter } from './binary-writer.ts';
import type { SignatureToken, StructTypeParameter } from './compiled.ts';
import { PRIMITIVE_CODES, TOKEN_CODES } from './token-codes.ts';

/** Writes an ability set. */
export function writeAbilities(writer: BinaryWriter, abilities: AbilitySet): void {
  writer.uleb(abilities, ALL_ABILITIES, 'ability set');
}

/** Writes the type parameters of a function handle or script. */
export function writeFunctionTypeParameters(
  writer: BinaryWriter,
  parameters: readonly AbilitySet[],
): void {
  writer.list(parameters, MAX_TYPE_PARAMETERS, 'type parameter count', (abilities) =>
    writeAbilities(writer, abilities),
  );
}

/** Writes the type parameters of a struct handle. */
export function writeStructTypeParameters(
  writer: BinaryWriter,
  parameters: readonly StructTypeParameter[],
): void {
  writer.list(parameters, MAX_TYPE_PARAMETERS, 'type parameter count', (parameter) => {
    writeAbilities(writer, parameter.constraints);
    writer.uleb(parameter.isPhantom ? 1 : 0, 1, 'phantom flag');
  });
}

/** Writes one entry of the signature table. @throws RangeError */
export function writeSignature(writer: BinaryWriter, tokens: readonly SignatureToken[]): void {
  writer.list(tokens, MAX_SIGNATURE_TOKENS, 'signature length', (token) =>
    writeToken(writer, token),
  );
}

/** Writes one type. @throws RangeError when it is nested too deeply or unknown to the version. */
export function writeToken(writer: BinaryWriter, token: SignatureToken, depth = 0): void {
  if (depth >= MAX_TOKEN_DEPTH) throw new RangeError(`type nested deeper than ${MAX_TOKEN_DEPTH}`);
  switch (token.kind) {
    case 'reference':
      writer.u8(token.mutable ? TOKEN_CODES.mutableReference : TOKEN_CODES.reference);
      writeToken(writer, token.to, depth + 1);
      return;
    case 'vector':
      writer.u8(TOKEN_CODES.vector);
      writeToken(writer, token.element, depth + 1);
      return;
    case 'typeParameter':
      writer.u8(TOKEN_CODES.typeParameter);
      writer.uleb(token.index, MAX_TYPE_PARAMETER_INDEX, 'type parameter');
      return;
    case 'struct':
      writeStruct(writer, token, depth);
      return;
    case 'function':
      writer.requireVersion(VERSION_8_FUNCTION_VALUES, 'function type');
      writer.u8(TOKEN_CODES.function);
      writeAbilities(writer, token.abilities);
      writer.uleb(token.args.length, MAX_TYPE_PARAMETERS, 'argument count');
      writer.uleb(token.results.length, MAX_TYPE_PARAMETERS, 'result count');
      for (const part of [...token.args, ...token.results]) writeToken(writer, part, depth + 1);
      return;
    default: {
      const { code, since } = PRIMITIVE_CODES.get(token.kind)!;
      writer.requireVersion(since, token.kind);
      writer.u8(code);
    }
  }
}

function writeStruct(
  writer: BinaryWriter,
  token: SignatureToken & { readonly kind: 'struct' },
  depth: number,
): void {
  const arity = token.typeArguments.length;
  if (token.instantiated !== arity > 0) {
    throw new RangeError(`struct token with ${arity} type arguments, and not: instantiated`);
  }
  writer.u8(token.instantiated ? TOKEN_CODES.structInstantiation : TOKEN_CODES.struct);
  writer.index(token.handle, 'struct handle');
  if (!token.instantiated) return;
  writer.uleb(arity, MAX_TYPE_PARAMETERS, 'type argument count');
  for (const argument of token.typeArguments) writeToken(writer, argument, depth + 1);
}
