/**
 * The framework's resources and events that the node itself reads, as typed values. Layouts: docs/spec/ledger.md
 * §2.3, §2.7, §5.10, docs/spec/http.md §9.5. Decoders use all bytes or throw BcsError; writers are their counterpart.
 */
import { type BcsReader, decodeBcs } from '../bcs/bcs-reader.ts';
import { type BcsWriter, encodeBcs } from '../bcs/bcs-writer.ts';
import { type EventKey, readEventKey, writeEventKey } from '../transactions/event.ts';
import { ADDRESS_ONE, type Address } from '../types/address.ts';

/** A value's reader and writer, and both over whole byte strings. */
export interface Codec<T> {
  /** @throws BcsError */
  readonly read: (reader: BcsReader) => T;
  readonly write: (writer: BcsWriter, value: T) => unknown;
  /** The value whose BCS is exactly `bytes`. @throws BcsError */
  readonly decode: (bytes: Uint8Array) => T;
  readonly encode: (value: T) => Buffer;
}

type CodecValue<C> = C extends Codec<infer T> ? T : never;

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

interface Field<T> {
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

const bool: Field<boolean> = { read: (at) => at.bool(), write: (to, value) => to.bool(value) };
export const u64: Field<bigint> = { read: (at) => at.u64(), write: (to, value) => to.u64(value) };
export const address: Field<Address> = {
  read: (at) => at.address(),
  write: (to, value) => to.address(value),
};
export const byteString: Field<Buffer> = {
  read: (at) => at.bytes(),
  write: (to, value) => to.bytes(value),
};
const u64List: Field<readonly bigint[]> = {
  read: (at) => at.vector(8, u64.read),
  write: (to, values) => to.vector(values, u64.write),
};
const optionalAddress: Field<Address | undefined> = {
  read: (at) => at.option(address.read),
  write: (to, value) => to.option(value, address.write),
};

/** An event handle inside a resource, 48 bytes; the counter is the next sequence number. */
export const eventHandleCodec = structCodec({
  counter: u64,
  key: { read: readEventKey, write: writeEventKey } as Field<EventKey>,
});
export type EventHandle = CodecValue<typeof eventHandleCodec>;

/** `0x1::coin::CoinStore<T>`. */
export const coinStoreCodec = structCodec({
  amount: u64,
  frozen: bool,
  depositEvents: eventHandleCodec,
  withdrawEvents: eventHandleCodec,
});

/** `0x1::account::Account`; the key has 32 bytes on the chain, Move fixes no size. */
export const accountCodec = structCodec({
  authenticationKey: byteString,
  sequenceNumber: u64,
  guidCreationNumber: u64,
  coinRegisterEvents: eventHandleCodec,
  keyRotationEvents: eventHandleCodec,
  rotationCapabilityOffer: optionalAddress,
  signerCapabilityOffer: optionalAddress,
});
export type Account = CodecValue<typeof accountCodec>;

/** `0x1::object::ObjectCore`. */
export const objectCoreCodec = structCodec({
  guidCreationNumber: u64,
  owner: address,
  allowUngatedTransfer: bool,
  transferEvents: eventHandleCodec,
});

/** `0x1::fungible_asset::FungibleStore`. */
export const fungibleStoreCodec = structCodec({
  metadata: address,
  balance: u64,
  frozen: bool,
});

/** `0x1::fungible_asset::ConcurrentFungibleBalance`. */
export const concurrentFungibleBalanceCodec = structCodec({
  value: u64,
  maxValue: u64,
});

/** `0x1::block::BlockResource`. */
export const blockResourceCodec = structCodec({
  height: u64,
  epochIntervalUsecs: u64,
  newBlockEvents: eventHandleCodec,
  updateEpochIntervalEvents: eventHandleCodec,
});

/** `0x1::chain_id::ChainId`: the chain id, u8. */
export const chainIdCodec = codec<number>(
  (reader) => reader.u8(),
  (writer, chainId) => {
    writer.u8(chainId);
  },
);

/** `0x1::features::Features`: the feature flags as bits. */
export const featuresCodec = codec<Buffer>(byteString.read, byteString.write);

/**
 * Whether a feature is on: bit `flag % 8`, from the least, of byte `flag / 8`; off beyond the end
 * (docs/spec/move.md §4.2).
 */
export function isFeatureEnabled(features: Uint8Array, flag: number): boolean {
  return ((features[Math.floor(flag / 8)] ?? 0) & (1 << (flag % 8))) !== 0;
}

export const NEW_BLOCK_EVENT_KEY: EventKey = { creationNumber: 3n, address: ADDRESS_ONE };
/** The stream of epochs: one event where each epoch ends. */
export const NEW_EPOCH_EVENT_KEY: EventKey = { creationNumber: 2n, address: ADDRESS_ONE };

/**
 * `0x1::block::NewBlockEvent`: the hash is a block id in the form of an address, failed proposers are u64 each (u32 in
 * the block's transaction), the time is in microseconds since 1970.
 */
export const newBlockEventCodec = structCodec({
  hash: address,
  epoch: u64,
  round: u64,
  height: u64,
  previousBlockVotesBitvec: byteString,
  proposer: address,
  failedProposerIndices: u64List,
  timestampUsecs: u64,
});

/** Data of `0x1::reconfiguration::NewEpochEvent` and `NewEpoch`: the epoch that begins. */
export const newEpochEventCodec = codec<bigint>(u64.read, u64.write);
