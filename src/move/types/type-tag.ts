/**
 * Type tags: the types of values, events and resources. Printing (docs/spec/move.md §2.2, §3.3), BCS and
 * its nesting limit (§3.6). The text parser is in type-parser.ts.
 */
import type { BcsReader } from '../bcs/bcs-reader.ts';
import type { BcsWriter } from '../bcs/bcs-writer.ts';
import { codec } from '../bcs/codec.ts';
import { ADDRESS_BYTES, type Address, formatAddress } from './address.ts';

/** Every kind, in the order of the variants in BCS (docs/spec/move.md §3.6). */
const KINDS = [
  'bool',
  'u8',
  'u64',
  'u128',
  'address',
  'signer',
  'vector',
  'struct',
  'u16',
  'u32',
  'u256',
  'function',
  'i8',
  'i16',
  'i32',
  'i64',
  'i128',
  'i256',
] as const;
export type PrimitiveKind = Exclude<(typeof KINDS)[number], 'vector' | 'struct' | 'function'>;
export const PRIMITIVE_KINDS: readonly PrimitiveKind[] = KINDS.filter(
  (kind) => kind !== 'vector' && kind !== 'struct' && kind !== 'function',
);

/** `address::module::name<…>`. */
export interface StructTag<Part = TypeTag> {
  readonly address: Address;
  readonly module: string;
  readonly name: string;
  readonly typeArguments: readonly Part[];
}

/** A parameter or result of a function type: a type, or a reference to one. */
export type FunctionTypePart =
  | TypeTag
  | { readonly kind: 'reference'; readonly mutable: boolean; readonly to: TypeTag };

/** Abilities as bits: copy 1, drop 2, store 4, key 8. */
export type AbilitySet = number;

export type TypeTag =
  | { readonly kind: PrimitiveKind }
  | { readonly kind: 'vector'; readonly element: TypeTag }
  | { readonly kind: 'struct'; readonly struct: StructTag }
  | {
      readonly kind: 'function';
      readonly args: readonly FunctionTypePart[];
      readonly results: readonly FunctionTypePart[];
      readonly abilities: AbilitySet;
    };

/** Deepest nesting of vector, struct and function boxes in the BCS of a type tag. */
export const TYPE_TAG_MAX_NESTING = 8;

/**
 * Most type tags that one outermost type may contain when read. The reference has no such limit, but no transaction can
 * hold a type beyond it (64 KiB); it limits the memory of a hostile type to about 4 MB.
 */
export const MAX_TYPE_TAGS = 65_536;

export function abilityNames(abilities: AbilitySet): string[] {
  return ['copy', 'drop', 'store', 'key'].filter((_, bit) => (abilities & (1 << bit)) !== 0);
}

/** The canonical text of a type tag: short addresses, `, ` between type arguments. */
export function formatTypeTag(tag: TypeTag): string {
  switch (tag.kind) {
    case 'vector':
      return `vector<${formatTypeTag(tag.element)}>`;
    case 'struct':
      return formatStructTag(tag.struct);
    case 'function': {
      const args = tag.args.map(formatFunctionPart).join(', ');
      const results = tag.results.map(formatFunctionPart).join(', ');
      const abilities = abilityNames(tag.abilities).join(' + ');
      return `|${args}|(${results})${abilities === '' ? '' : ` has ${abilities}`}`;
    }
    default:
      return tag.kind;
  }
}

function formatFunctionPart(part: FunctionTypePart): string {
  if (part.kind !== 'reference') return formatTypeTag(part);
  return `${part.mutable ? '&mut ' : '&'}${formatTypeTag(part.to)}`;
}

/** The canonical text of a struct tag, e.g. `0x1::coin::CoinStore<0x1::aptos_coin::AptosCoin>`. */
export function formatStructTag(tag: StructTag): string {
  const base = `${formatAddress(tag.address)}::${tag.module}::${tag.name}`;
  if (tag.typeArguments.length === 0) return base;
  return `${base}<${tag.typeArguments.map(formatTypeTag).join(', ')}>`;
}

/** The variant index of each kind in BCS (docs/spec/ledger.md §1.2). */
export const INDEX_OF_KIND: ReadonlyMap<TypeTag['kind'], number> = new Map(
  KINDS.map((kind, index) => [kind, index]),
);

/** One shared tag per primitive, so that a byte of hostile input costs a pointer, not an object. */
const TAG_OF_PRIMITIVE = new Map<TypeTag['kind'], TypeTag>(
  PRIMITIVE_KINDS.map((kind) => [kind, { kind }]),
);

/** Type tags that may still be read within one outermost tag. */
interface TagBudget {
  tagsLeft: number;
}

/**
 * Reads one type tag.
 * @throws BcsError, `too_deep` above TYPE_TAG_MAX_NESTING, `length_too_large` above MAX_TYPE_TAGS.
 */
export function readTypeTag(reader: BcsReader, depth = 0, budget = newBudget()): TypeTag {
  const start = reader.offset;
  if (budget.tagsLeft === 0) {
    throw reader.error('length_too_large', `type of more than ${MAX_TYPE_TAGS} parts`);
  }
  budget.tagsLeft -= 1;
  const kind = KINDS[reader.variant(KINDS.length, 'TypeTag')]!;
  if (kind !== 'vector' && kind !== 'struct' && kind !== 'function') {
    return TAG_OF_PRIMITIVE.get(kind)!;
  }
  if (depth >= TYPE_TAG_MAX_NESTING) {
    throw reader.error('too_deep', 'type tag nesting exceeded during deserialization', start);
  }
  if (kind === 'vector') return { kind, element: readTypeTag(reader, depth + 1, budget) };
  if (kind === 'struct') return { kind, struct: readStructTag(reader, depth + 1, budget) };
  const args = reader.vector(2, () => readFunctionPart(reader, depth + 1, budget));
  const results = reader.vector(2, () => readFunctionPart(reader, depth + 1, budget));
  return { kind, args, results, abilities: reader.u8() };
}

/** Skips a type tag that was checked when it was stored. @throws BcsError */
export function skipTypeTag(reader: BcsReader, depth = 0): void {
  const kind = KINDS[reader.variant(KINDS.length, 'TypeTag')]!;
  if (kind !== 'vector' && kind !== 'struct' && kind !== 'function') return;
  if (depth >= TYPE_TAG_MAX_NESTING) {
    throw reader.error('too_deep', 'type tag nesting exceeded during deserialization');
  }
  if (kind === 'vector') {
    skipTypeTag(reader, depth + 1);
  } else if (kind === 'struct') {
    skipStructTag(reader, depth + 1);
  } else {
    skipTypeTags(reader, depth + 1, true);
    skipTypeTags(reader, depth + 1, true);
    reader.u8();
  }
}

/** Skips a bare struct tag. @throws BcsError */
export function skipStructTag(reader: BcsReader, depth = 0): void {
  reader.skip(ADDRESS_BYTES);
  reader.skip(reader.length(1));
  reader.skip(reader.length(1));
  skipTypeTags(reader, depth, false);
}

function skipTypeTags(reader: BcsReader, depth: number, areFunctionParts: boolean): void {
  const count = reader.length(1);
  for (let index = 0; index < count; index += 1) {
    if (areFunctionParts) reader.variant(3, 'FunctionParamOrReturnTag');
    skipTypeTag(reader, depth);
  }
}

function newBudget(): TagBudget {
  return { tagsLeft: MAX_TYPE_TAGS };
}

function readFunctionPart(reader: BcsReader, depth: number, budget: TagBudget): FunctionTypePart {
  const form = reader.variant(3, 'FunctionParamOrReturnTag');
  const tag = readTypeTag(reader, depth, budget);
  return form === 2 ? tag : { kind: 'reference', mutable: form === 1, to: tag };
}

/** Reads a bare struct tag: it does not count as a nesting level itself (docs/spec/move.md §3.6). */
export function readStructTag(reader: BcsReader, depth = 0, budget = newBudget()): StructTag {
  const address = reader.address();
  const module = reader.string();
  const name = reader.string();
  const typeArguments = reader.vector(1, () => readTypeTag(reader, depth, budget));
  return { address, module, name, typeArguments };
}

/** A type that is nested more deeply than TYPE_TAG_MAX_NESTING cannot be encoded. */
export class TypeTagDepthError extends RangeError {}

/** Writes one type tag. @throws TypeTagDepthError */
export function writeTypeTag(writer: BcsWriter, tag: TypeTag, depth = 0): void {
  writer.uleb32(INDEX_OF_KIND.get(tag.kind)!);
  if (tag.kind !== 'vector' && tag.kind !== 'struct' && tag.kind !== 'function') return;
  if (depth >= TYPE_TAG_MAX_NESTING) {
    throw new TypeTagDepthError('type tag nesting exceeded during serialization');
  }
  if (tag.kind === 'vector') writeTypeTag(writer, tag.element, depth + 1);
  else if (tag.kind === 'struct') writeStructTag(writer, tag.struct, depth + 1);
  else {
    writer.vector(tag.args, (_, part) => writeFunctionPart(writer, part, depth + 1));
    writer.vector(tag.results, (_, part) => writeFunctionPart(writer, part, depth + 1));
    writer.u8(tag.abilities);
  }
}

function writeFunctionPart(writer: BcsWriter, part: FunctionTypePart, depth: number): void {
  if (part.kind === 'reference') {
    writer.uleb32(part.mutable ? 1 : 0);
    writeTypeTag(writer, part.to, depth);
  } else {
    writer.uleb32(2);
    writeTypeTag(writer, part, depth);
  }
}

export function writeStructTag(writer: BcsWriter, tag: StructTag, depth = 0): void {
  writer.address(tag.address).string(tag.module).string(tag.name);
  writer.vector(tag.typeArguments, (_, argument) => writeTypeTag(writer, argument, depth));
}

export const TypeTag = codec<TypeTag>(
  (reader) => readTypeTag(reader),
  (writer, tag) => writeTypeTag(writer, tag),
);

/** Fewest bytes of a struct tag: two empty names, no type arguments. */
const MIN_STRUCT_TAG_BYTES = ADDRESS_BYTES + 3;
export const StructTag = codec<StructTag>(
  (reader) => readStructTag(reader),
  (writer, tag) => writeStructTag(writer, tag),
  MIN_STRUCT_TAG_BYTES,
);
