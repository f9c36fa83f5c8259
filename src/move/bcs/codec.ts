/** Readers and writers of values, made of those of their fields. */
import { HASH_BYTES } from '../crypto/hash.ts';
import type { Address } from '../types/address.ts';
import { type BcsReader, decodeBcs } from './bcs-reader.ts';
import { type BcsWriter, encodeBcs } from './bcs-writer.ts';
import { readHash, writeHash } from './fixed-bytes.ts';

/** A value's reader and writer, and both over whole byte strings. */
export interface Codec<T> {
  /** @throws BcsError */
  readonly read: (reader: BcsReader) => T;
  readonly write: (writer: BcsWriter, value: T) => unknown;
  /** The value whose BCS is exactly `bytes`. @throws BcsError */
  readonly decode: (bytes: Uint8Array) => T;
  readonly encode: (value: T) => Buffer;
}

export type CodecValue<C> = C extends Codec<infer T> ? T : never;

export function codec<T>(
  read: (reader: BcsReader) => T,
  write: (writer: BcsWriter, value: T) => unknown,
): Codec<T> {
  return {
    read,
    write,
    decode: (bytes) => decodeBcs(bytes, read),
    encode: (value) => encodeBcs((writer) => write(writer, value)),
  };
}

export interface Field<T> {
  readonly read: (reader: BcsReader) => T;
  readonly write: (writer: BcsWriter, value: T) => unknown;
}

/** A codec of a struct from its fields, in their order in BCS. */
export function structCodec<T extends object>(
  fields: {
    readonly [Name in keyof T]: Field<T[Name]>;
  },
): Codec<T> {
  const names = Object.keys(fields) as (keyof T)[];
  return codec<T>(
    (reader) => {
      const value: Partial<T> = {};
      for (const name of names) value[name] = fields[name].read(reader);
      return value as T;
    },
    (writer, value) => {
      for (const name of names) fields[name].write(writer, value[name]);
    },
  );
}

export const bool: Field<boolean> = {
  read: (at) => at.bool(),
  write: (to, value) => to.bool(value),
};
export const u8: Field<number> = { read: (at) => at.u8(), write: (to, value) => to.u8(value) };
export const u64: Field<bigint> = { read: (at) => at.u64(), write: (to, value) => to.u64(value) };
export const address: Field<Address> = {
  read: (at) => at.address(),
  write: (to, value) => to.address(value),
};
export const byteString: Field<Buffer> = {
  read: (at) => at.bytes(),
  write: (to, value) => to.bytes(value),
};
export const u64List: Field<readonly bigint[]> = {
  read: (at) => at.vector(8, u64.read),
  write: (to, values) => to.vector(values, u64.write),
};
export const optionalAddress: Field<Address | undefined> = {
  read: (at) => at.option(address.read),
  write: (to, value) => to.option(value, address.write),
};
export const text: Field<string> = {
  read: (at) => at.string(),
  write: (to, value) => to.string(value),
};
/** 32 bytes. */
export const hash: Field<Buffer> = { read: readHash, write: writeHash };
/** A hash that does not hold the bytes it was read from. */
export const ownHash: Field<Buffer> = {
  read: (at) => Buffer.from(readHash(at)),
  write: writeHash,
};
export const hashes: Field<readonly Buffer[]> = {
  read: (at) => at.vector(HASH_BYTES, readHash),
  write: (to, values) => to.vector(values, writeHash),
};
