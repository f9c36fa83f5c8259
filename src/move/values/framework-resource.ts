/**
 * The framework's resources and events that the node itself reads, as typed values. Layouts: docs/spec/ledger.md
 * §2.3, §2.7, §5.10, docs/spec/http.md §9.5. Decoders use all bytes or throw BcsError; writers are their counterpart.
 */
import {
  address,
  bool,
  byteString,
  type CodecValue,
  list,
  option,
  structCodec,
  text,
  u8,
  u64,
} from '../bcs/codec.ts';
import { EventKey } from '../transactions/event.ts';
import { ADDRESS_ONE } from '../types/address.ts';

/** An event handle inside a resource, 48 bytes; the counter is the next sequence number. */
export const eventHandleCodec = structCodec({
  counter: u64,
  key: EventKey,
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
  rotationCapabilityOffer: option(address),
  signerCapabilityOffer: option(address),
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

/** `0x1::chain_id::ChainId`. */
export const chainIdCodec = u8;

/** `0x1::features::Features`: the feature flags as bits. */
export const featuresCodec = byteString;

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
  failedProposerIndices: list(u64),
  timestampUsecs: u64,
});

/** Data of `0x1::reconfiguration::NewEpochEvent` and `NewEpoch`: the epoch that begins. */
export const newEpochEventCodec = u64;

const anyCodec = structCodec({ typeName: text, data: byteString });

/** `0x1::code::PackageRegistry`; sources and source maps are compressed with gzip, and empty if not published. */
export const packageRegistryCodec = structCodec({
  packages: list(
    structCodec({
      name: text,
      upgradePolicy: u8,
      upgradeNumber: u64,
      sourceDigest: text,
      manifest: byteString,
      modules: list(
        structCodec({
          name: text,
          source: byteString,
          sourceMap: byteString,
          extension: option(anyCodec),
        }),
      ),
      dependencies: list(structCodec({ account: address, name: text })),
      extension: option(anyCodec),
    }),
  ),
});
