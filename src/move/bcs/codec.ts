/**
 * Codecs of values, composed of those of their parts: one table defines the type, its reader and its writer, so that
 * they cannot disagree. A codec has the name of the type that `CodecValue` derives from it.
 */
import { HASH_BYTES } from '../crypto/hash.ts';
import { ADDRESS_BYTES, type Address } from '../types/address.ts';
import { type BcsReader, decodeBcs } from './bcs-reader.ts';
import { type BcsWriter, encodeBcs } from './bcs-writer.ts';
import { byteTools } from './bytes.ts';
import {
  readHash,
  readSizedBytes,
  writeFixedBytes,
  writeHash,
  writeSizedBytes,
} from './fixed-bytes.ts';

/** A value's reader and writer, and both over whole byte strings. */
export interface Codec<T> {
  /** @throws BcsError */
  readonly read: (reader: BcsReader) => T;
  /** @throws RangeError for a value that is not one of the type */
  readonly write: (writer: BcsWriter, value: T) => unknown;
  /** Fewest bytes of a value, so that a list with an impossible length is refused before it is read. */
  readonly minBytes: number;
  /** The value whose BCS is exactly `bytes`. @throws BcsError */
  readonly decode: (bytes: Uint8Array) => T;
  readonly encode: (value: T) => Buffer;
}

interface Readable<T> {
  readonly read: (reader: BcsReader) => T;
}

export type CodecValue<C> = C extends Readable<infer T> ? T : never;

export function codec<T>(
  read: (reader: BcsReader) => T,
  write: (writer: BcsWriter, value: T) => unknown,
  minBytes = 1,
): Codec<T> {
  return {
    read,
    write,
    minBytes,
    decode: (bytes) => decodeBcs(bytes, read),
    encode: (value) => encodeBcs((writer) => write(writer, value)),
  };
}

type FieldCodecs<T> = { readonly [Name in keyof T]: Codec<T[Name]> };

/** A codec of a struct from its fields, in their order in BCS. */
export function structCodec<T extends object>(fields: FieldCodecs<T>): Codec<Readonly<T>> {
  const names = Object.keys(fields) as (keyof T)[];
  const codecs = Object.values(fields) as Codec<unknown>[];
  return codec<Readonly<T>>(
    (reader) => {
      const value: Partial<Record<keyof T, unknown>> = {};
      for (let at = 0; at < names.length; at += 1) value[names[at]!] = codecs[at]!.read(reader);
      return value as T;
    },
    (writer, value) => {
      for (let at = 0; at < names.length; at += 1) codecs[at]!.write(writer, value[names[at]!]);
    },
    codecs.reduce((sum, { minBytes }) => sum + minBytes, 0),
  );
}

/** A value that the chain declares as an enum of one variant, so that others can be added. */
export function soleVariant<T>(name: string, { read, write, minBytes }: Codec<T>): Codec<T> {
  return codec<T>(
    (reader) => {
      reader.variant(1, name);
      return read(reader);
    },
    (writer, value) => write(writer.uleb32(0), value),
    1 + minBytes,
  );
}

type Kinds<T> = Readonly<Record<string, T>>;

/**
 * A codec of an enum from those of its kinds, in the order of their numbers.
 * @param tag the member of a value that holds its kind
 * @returns also `kinds`, indexed by number
 */
export function union<Of extends Kinds<Readable<unknown>>>(
  name: string,
  of: Of,
  tag = 'kind',
): Codec<CodecValue<Of[keyof Of]>> & { readonly kinds: readonly (keyof Of & string)[] } {
  type Value = CodecValue<Of[keyof Of]>;
  const kinds = Object.keys(of);
  const codecs = Object.values(of) as unknown as Codec<Value>[];
  const numberOf = new Map<unknown, number>(kinds.map((kind, number) => [kind, number]));
  const plain = codec<Value>(
    (reader) => codecs[reader.variant(codecs.length, name)]!.read(reader),
    (writer, value) => {
      const kind = (value as Kinds<unknown>)[tag];
      const number = numberOf.get(kind);
      if (number === undefined) throw new RangeError(`${name} has no variant ${kind}`);
      codecs[number]!.write(writer.uleb32(number), value);
    },
    1 + Math.min(...codecs.map(({ minBytes }) => minBytes)),
  );
  return { ...plain, kinds };
}

type VariantCodecs<Fields extends Kinds<Kinds<Readable<unknown>>>, Tag extends string> = {
  [Kind in keyof Fields]: Codec<
    { readonly [Name in Tag]: Kind } & {
      readonly [Name in keyof Fields[Kind]]: CodecValue<Fields[Kind][Name]>;
    }
  >;
};

/** A codec of an enum from the fields of its kinds, in the order of their numbers. */
export function variants<
  Fields extends Kinds<Kinds<Readable<unknown>>>,
  Tag extends string = 'kind',
>(name: string, fieldsOf: Fields, tag = 'kind' as Tag) {
  const codecs = Object.entries(fieldsOf).map(([kind, fields]) => [
    kind,
    structCodec({ [tag]: constant(kind), ...(fields as FieldCodecs<object>) }),
  ]);
  return union(name, Object.fromEntries(codecs) as VariantCodecs<Fields, Tag>, tag);
}

/** A member that has no bytes. */
export function constant<const T>(value: T): Codec<T> {
  return codec(
    () => value,
    () => undefined,
    0,
  );
}

export function option<T>({ read, write }: Codec<T>): Codec<T | undefined> {
  return codec(
    (reader) => reader.option(read),
    (writer, value) => writer.option(value, write),
  );
}

export function list<T>({ read, write, minBytes }: Codec<T>): Codec<readonly T[]> {
  return codec<readonly T[]>(
    (reader) => reader.vector(minBytes, read),
    (writer, values) => writer.vector(values, write),
  );
}

/** A fixed number of values, without a length prefix. */
export function repeated<T>(
  count: number,
  { read, write, minBytes }: Codec<T>,
): Codec<readonly T[]> {
  return codec<readonly T[]>(
    (reader) => Array.from({ length: count }, () => read(reader)),
    (writer, values) => {
      if (values.length !== count) throw new RangeError(`${values.length} values, not ${count}`);
      for (const value of values) write(writer, value);
    },
    count * minBytes,
  );
}

/**
 * A BCS map as a list of its entries. Only entries sorted by their keys' bytes are accepted when reading; writing sorts
 * them.
 */
export function mapList<Key, Value, Entry>(
  keys: Codec<Key>,
  values: Codec<Value>,
  entryOf: (key: Key, value: Value) => Entry,
  partsOf: (entry: Entry) => readonly [key: Key, value: Value],
): Codec<readonly Entry[]> {
  return codec<readonly Entry[]>(
    (reader) =>
      reader
        .map(keys.minBytes + values.minBytes, keys.read, values.read)
        .map(([key, value]) => entryOf(key, value)),
    (writer, entries) => {
      const sorted = entries
        .map(partsOf)
        .map(([key, value]) => ({ key: keys.encode(key), value }))
        .sort((left, right) => byteTools.compare(left.key, right.key));
      writer.length32(sorted.length);
      let previous: Buffer | undefined;
      for (const { key, value } of sorted) {
        if (previous !== undefined && byteTools.compare(previous, key) === 0) {
          throw new RangeError('a map has a key twice');
        }
        previous = key;
        values.write(writer.fixed(key), value);
      }
    },
  );
}

/** Bytes of one size, without their length. */
export function fixedBytes(byteLength: number, what: string): Codec<Buffer> {
  return codec(
    (reader) => reader.fixed(byteLength),
    (writer, bytes) => writeFixedBytes(writer, bytes, byteLength, what),
    byteLength,
  );
}

/** Bytes of one size, with their length. */
export function sizedBytes(byteLength: number, what: string): Codec<Buffer> {
  return codec(
    (reader) => readSizedBytes(reader, byteLength, what),
    (writer, bytes) => writeSizedBytes(writer, bytes, byteLength, what),
    (byteLength < 128 ? 1 : 2) + byteLength,
  );
}

/** The number of one of `count` variants that have no content. */
export function variantNumber(count: number, name: string): Codec<number> {
  return codec<number>(
    (reader) => reader.variant(count, name),
    (writer, number) => {
      if (number >= count) throw new RangeError(`no ${number} of ${name}`);
      writer.uleb32(number);
    },
  );
}

export const bool = codec<boolean>(
  (at) => at.bool(),
  (to, value) => to.bool(value),
);
export const u8 = codec<number>(
  (at) => at.u8(),
  (to, value) => to.u8(value),
);
export const u16 = codec<number>(
  (at) => at.u16(),
  (to, value) => to.u16(value),
  2,
);
export const u32 = codec<number>(
  (at) => at.u32(),
  (to, value) => to.u32(value),
  4,
);
export const u64 = codec<bigint>(
  (at) => at.u64(),
  (to, value) => to.u64(value),
  8,
);
export const u128 = codec<bigint>(
  (at) => at.u128(),
  (to, value) => to.u128(value),
  16,
);
export const address = codec<Address>(
  (at) => at.address(),
  (to, value) => to.address(value),
  ADDRESS_BYTES,
);
export const byteString = codec<Buffer>(
  (at) => at.bytes(),
  (to, value) => to.bytes(value),
);
export const text = codec<string>(
  (at) => at.string(),
  (to, value) => to.string(value),
);
/** 32 bytes. */
export const hash = codec<Buffer>(readHash, writeHash, HASH_BYTES);
/** A hash that does not hold the bytes it was read from. */
export const ownHash = codec<Buffer>(
  (at) => {
    const own = byteTools.allocate(HASH_BYTES);
    own.set(readHash(at));
    return own;
  },
  writeHash,
  HASH_BYTES,
);
export const hashes = list(hash);
