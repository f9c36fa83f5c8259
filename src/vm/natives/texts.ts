/** Natives of `0x1::string`, `0x1::type_info` and `0x1::string_utils` (docs/spec/vm.md §6.2). */

import { andThen, type MaybePromise, mapInOrder } from '../../maybe-promise.ts';
import { byteTools } from '../../move/bcs/bytes.ts';
import { ADDRESS_ONE, type Address, formatAddress } from '../../move/types/address.ts';
import { CHAIN_ID_TAG } from '../../move/types/framework-tag.ts';
import { formatStructTag, formatTypeTag, type StructTag } from '../../move/types/type-tag.ts';
import type { EnumLayout, Layout, LayoutField, StructLayout } from '../../move/values/layout.ts';
import type { GasMeter } from '../gas/gas-meter.ts';
import type { Meter } from '../meter.ts';
import { type Native, NativeAbort, type NativeContext, type NativeResult } from '../native.ts';
import type { VmType } from '../program/vm-type.ts';
import { VmError } from '../status/status.ts';
import type { Value } from '../value.ts';
import {
  bytesOf,
  byteVector,
  partsOf,
  referenced,
  referencedBytes,
  stringOf,
  textOf,
} from './arguments.ts';

const END_BEFORE_START = 1;

function isCharBoundary(bytes: Uint8Array, at: bigint): boolean {
  if (at === 0n || at === BigInt(bytes.length)) return true;
  return at < BigInt(bytes.length) && (bytes[Number(at)]! & 0xc0) !== 0x80;
}

/** Bytes that one unit searches. */
const SEARCHED_PER_UNIT = 4;

/**
 * Index of the first occurrence of `pattern`, or the length of `bytes` if absent (Knuth, Morris and Pratt, 1977). The
 * engine's own search takes the product of both lengths at worst.
 */
function indexOfBytes(pattern: Uint8Array, bytes: Uint8Array): number {
  const { length } = pattern;
  if (length === 0) return 0;
  // At i: length of the longest proper prefix of `pattern` that also ends there.
  const prefixLengths = new Uint32Array(length);
  for (let at = 1, same = 0; at < length; at += 1) {
    while (same > 0 && pattern[at] !== pattern[same]) same = prefixLengths[same - 1]!;
    if (pattern[at] === pattern[same]) same += 1;
    prefixLengths[at] = same;
  }
  for (let at = 0, same = 0; at < bytes.length; at += 1) {
    while (same > 0 && bytes[at] !== pattern[same]) same = prefixLengths[same - 1]!;
    if (bytes[at] === pattern[same]) same += 1;
    if (same === length) return at + 1 - length;
  }
  return bytes.length;
}

const checkUtf8: Native = ({ meter }, [text]) => {
  const bytes = bytesOf(referenced(text));
  meter.chargeBytes(bytes.length);
  return [byteTools.isUtf8(bytes)];
};

const charBoundary: Native = (_, [text, at]) => [
  isCharBoundary(bytesOf(referenced(text)), at as bigint),
];

const subString: Native = ({ meter }, [text, start, end]) => {
  const [from, to] = [Number(start), Number(end)];
  if (to < from) return new NativeAbort(END_BEFORE_START);
  return [byteVector(meter, bytesOf(referenced(text)).slice(from, to))];
};

const indexOf: Native = ({ gas, meter }, [text, pattern]) => {
  const bytes = bytesOf(referenced(text));
  const patternBytes = bytesOf(referenced(pattern));
  meter.charge(Math.ceil((bytes.length + patternBytes.length) / SEARCHED_PER_UNIT));
  const place = indexOfBytes(patternBytes, bytes);
  gas.chargeFor('move_stdlib.string.index_of.per_byte_searched', place);
  return [BigInt(place)];
};

export const STRING_NATIVES: Readonly<Record<string, Native>> = {
  'string::internal_check_utf8': checkUtf8,
  'string::internal_is_char_boundary': charBoundary,
  'string::internal_sub_string': subString,
  'string::internal_index_of': indexOf,
};

const NOT_A_STRUCT = 1;

const typeOf: Native = ({ typeArguments, meter }) => {
  const { tag } = typeArguments[0]!;
  if (tag.kind !== 'struct') {
    return new NativeAbort(NOT_A_STRUCT, `Expected a struct type, found: ${tag.kind}`);
  }
  const { address, module, name, typeArguments: parts } = tag.struct;
  const inner = parts.length === 0 ? '' : `<${parts.map(formatTypeTag).join(', ')}>`;
  return [
    [
      address,
      byteVector(meter, byteTools.utf8Bytes(module)),
      byteVector(meter, byteTools.utf8Bytes(name + inner)),
    ],
  ];
};

const typeName: Native = ({ typeArguments, meter }) => {
  const name = formatTypeTag(typeArguments[0]!.tag);
  return [stringOf(meter, name)];
};

const chainId: Native = ({ world }) =>
  andThen(world.resource(ADDRESS_ONE, CHAIN_ID_TAG), (bytes) => {
    if (bytes?.length !== 1) throw new VmError('VM_EXTENSION_ERROR', { text: 'no chain id' });
    return [bytes[0]!];
  });

export const TYPE_NATIVES: Readonly<Record<string, Native>> = {
  'type_info::type_of': typeOf,
  'type_info::type_name': typeName,
  'type_info::chain_id_internal': chainId,
};

const ARGUMENTS_MISMATCH = 1;
const INVALID_FORMAT = 2;
const SIGNER_FIX_FLAG = 25;
const PART_UNITS = 5;
const INTEGER_KIND = /^[iu][0-9]/;

interface Form {
  readonly withTypes: boolean;
  readonly fullAddresses: boolean;
  readonly singleLine: boolean;
  readonly withIntegerTypes: boolean;
  readonly signersFixed: boolean;
}

/** The price of bytes of texts. */
const PER_BYTE = 'aptos_framework.string_utils.format.per_byte';

class Formatter {
  readonly #form: Form;
  readonly #meter: Meter;
  readonly #gas: GasMeter;

  constructor(form: Form, { meter, gas }: NativeContext) {
    this.#form = form;
    this.#meter = meter;
    this.#gas = gas;
  }

  value(layout: Layout, value: Value, depth: number): string {
    this.#gas.chargeFor('aptos_framework.string_utils.format.base');
    const text = this.#text(layout, value, depth);
    this.#meter.allocateBytes(text.length);
    return text;
  }

  #text(layout: Layout, value: Value, depth: number): string {
    switch (layout.kind) {
      case 'bool':
        return String(value);
      case 'address':
        return `@${this.#address(value as Address)}`;
      case 'signer': {
        const at = this.#form.signersFixed ? '@' : '';
        return `signer(${at}${this.#address(partsOf(value)[0] as Address)})`;
      }
      case 'bytes': {
        const bytes = bytesOf(value);
        this.#gas.chargeFor(PER_BYTE, bytes.length);
        return `0x${byteTools.hexText(byteTools.asBuffer(bytes), 0, bytes.length)}`;
      }
      case 'vector':
        return this.#vector(layout.element, partsOf(value), depth);
      case 'string':
      case 'struct':
        return this.#struct(layout, partsOf(value), depth);
      case 'enum':
        return this.#enum(layout, partsOf(value), depth);
      case 'function':
        throw new VmError('UNIMPLEMENTED_FUNCTIONALITY', {
          text: 'this node cannot format function values: 0x1::string_utils::native_format',
        });
      default: {
        const hasType = this.#form.withIntegerTypes && INTEGER_KIND.test(layout.kind);
        return `${value as number | bigint}${hasType ? layout.kind : ''}`;
      }
    }
  }

  #address(address: Address): string {
    return this.#form.fullAddresses ? address : formatAddress(address);
  }

  #vector(element: Layout, values: readonly Value[], depth: number): string {
    const isNested = ['bytes', 'vector', 'struct', 'enum'].includes(element.kind);
    const members = values.map((value) => this.value(element, value, depth + 1));
    return `[${this.#list(members, depth, isNested && !this.#form.singleLine)}]`;
  }

  #struct(
    { tag, fields }: StructLayout | StructLayout<'string'>,
    values: readonly Value[],
    depth: number,
  ): string {
    if (isFramework(tag, 'string', 'String')) {
      const bytes = bytesOf(values[0]);
      this.#gas.chargeFor(PER_BYTE, bytes.length);
      const text = textOf(bytes);
      return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
    }
    if (isFramework(tag, 'option', 'Option')) return this.#optionOfVector(fields, values[0], depth);
    const name = tag && (this.#form.withTypes ? formatStructTag(tag) : tag.name);
    return `${name === undefined ? '' : `${name} `}${this.#fields(fields, values, depth)}`;
  }

  #enum(
    { tag, variants }: EnumLayout,
    [index, ...values]: readonly Value[],
    depth: number,
  ): string {
    const { name, fields } = variants[index as number]!;
    if (!isFramework(tag, 'option', 'Option')) {
      return name + this.#fields(fields, values, depth);
    }
    return fields.length === 0 ? 'None' : this.#some(fields[0]!.layout, values[0], depth);
  }

  /** An option of old frameworks: a vector, possibly a byte vector. */
  #optionOfVector([field]: readonly LayoutField[], value: Value, depth: number): string {
    const { layout } = field!;
    const element = layout.kind === 'bytes' ? bytesOf(value)[0] : partsOf(value)[0];
    if (element === undefined) return 'None';
    return this.#some(layout.kind === 'vector' ? layout.element : { kind: 'u8' }, element, depth);
  }

  #some(layout: Layout, value: Value, depth: number): string {
    return `Some(${this.value(layout, value, depth)})`;
  }

  #fields(fields: readonly LayoutField[], values: readonly Value[], depth: number): string {
    const members = fields.map(
      ({ name, layout }, index) => `${name}: ${this.value(layout, values[index], depth + 1)}`,
    );
    return `{${this.#list(members, depth, !this.#form.singleLine)}}`;
  }

  #list(members: readonly string[], depth: number, isMultiline: boolean): string {
    if (members.length === 0) return '';
    const gap = (at: number): string => (isMultiline ? `\n${'  '.repeat(at)}` : ' ');
    return gap(depth + 1) + members.join(`,${gap(depth + 1)}`) + gap(depth);
  }
}

function structOf(type: VmType | undefined): StructTag | undefined {
  return type?.tag.kind === 'struct' ? type.tag.struct : undefined;
}

function isFramework(tag: StructTag | undefined, module: string, name: string): boolean {
  return tag?.name === name && tag.module === module && tag.address === ADDRESS_ONE;
}

function formatted(
  context: NativeContext,
  type: VmType,
  value: Value,
  form: Form,
): MaybePromise<string> {
  return andThen(context.program.layout(type), (layout) =>
    new Formatter(form, context).value(layout, value, 0),
  );
}

const format: Native = (context, [value, withTypes, fullAddresses, singleLine, withIntegers]) =>
  andThen(
    formatted(context, context.typeArguments[0]!, referenced(value), {
      withTypes: withTypes as boolean,
      fullAddresses: fullAddresses as boolean,
      singleLine: singleLine as boolean,
      withIntegerTypes: withIntegers as boolean,
      signersFixed: context.world.isFeatureEnabled(SIGNER_FIX_FLAG),
    }),
    (text) => [stringOf(context.meter, text)],
  );

const VALUE = Symbol('value');
/** A part of a format string; parsing stops at an error. */
type Part = string | typeof VALUE | NativeAbort;

/** Reads `{}` as a value, `{{` and `}}` as braces. */
function formatParts(text: string): Part[] {
  const parts: Part[] = [];
  for (const [piece] of text.matchAll(/[^{}]+|\{\{|\}\}|\{\}|[{}]/g)) {
    if (piece === '{}') parts.push(VALUE);
    else if (piece === '{{' || piece === '}}') parts.push(piece[0]!);
    else if (piece === '{' || piece === '}') return [...parts, new NativeAbort(INVALID_FORMAT)];
    else parts.push(piece);
  }
  return parts;
}

/** The values are a list: `Cons(first, others)` or `NIL`. */
const formatList: Native = (context, [formatText, list]) => {
  const bytes = referencedBytes(formatText);
  context.gas.chargeFor(PER_BYTE, bytes.length);
  // Each byte may be a part of its own.
  context.meter.charge(bytes.length * PART_UNITS);
  if (!byteTools.isUtf8(bytes)) return new NativeAbort(INVALID_FORMAT);
  const form: Form = {
    withTypes: true,
    fullAddresses: false,
    singleLine: true,
    withIntegerTypes: false,
    signersFixed: context.world.isFeatureEnabled(SIGNER_FIX_FLAG),
  };
  let type = context.typeArguments[0]!;
  let left: Value = referenced(list);
  let failure: NativeAbort | undefined;
  const next = (part: Part): MaybePromise<string> => {
    if (failure !== undefined) return '';
    if (typeof part === 'string') return part;
    failure = part === VALUE ? mismatch(type, 'Cons') : part;
    if (failure !== undefined) return '';
    const [first, others] = partsOf(left);
    const [firstType, otherTypes] = type.parts;
    left = others;
    type = otherTypes!;
    return formatted(context, firstType!, first, form);
  };
  return andThen(
    mapInOrder(formatParts(textOf(bytes)), next),
    (texts): NativeResult =>
      failure ?? mismatch(type, 'NIL') ?? [stringOf(context.meter, texts.join(''))],
  );
};

/** An abort unless a type is the named one of `0x1::string_utils`. */
function mismatch(type: VmType, name: string): NativeAbort | undefined {
  if (isFramework(structOf(type), 'string_utils', name)) return undefined;
  return new NativeAbort(ARGUMENTS_MISMATCH);
}

export const FORMAT_NATIVES: Readonly<Record<string, Native>> = {
  'string_utils::native_format': format,
  'string_utils::native_format_list': formatList,
};
