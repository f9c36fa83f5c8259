/**
 * The framework's resources and events that the node itself reads, as typed values. Layouts: docs/spec/ledger.md
 * §2.3, §2.7, §5.10, docs/spec/http.md §9.5. Decoders take all bytes or throw BcsError; writers mirror them.
 */
import { type BcsReader, decodeBcs } from '../bcs/bcs-reader.ts';
import { type BcsWriter, encodeBcs } from '../bcs/bcs-writer.ts';
import { type EventKey, readEventKey, writeEventKey } from '../transactions/event.ts';
import { ADDRESS_ONE, type Address } from '../types/address.ts';

/** A value's reader and writer, and both over whole byte strings. */
export interface Codec<T> {
  /** @throws BcsError */
  readonly read: (reader: BcsReader) => T;
  readonly write: (writer: BcsWriter, value: T) => void;
  /** The value whose BCS is exactly `bytes`. @throws BcsError */
  readonly decode: (bytes: Uint8Array) => T;
  readonly encode: (value: T) => Buffer;
}

/** A codec from its two halves. */
export function codec<T>(
  read: (reader: BcsReader) => T,
  write: (writer: BcsWriter, value: T) => void,
): Codec<T> {
  return {
    read,
    write,
    decode: (bytes) => decodeBcs(bytes, read),
    encode: (value) => encodeBcs((writer) => write(writer, value)),
  };
}

/** An event handle inside a resource, 48 bytes. */
export interface EventHandle {
  /** Events emitted so far: the next sequence number. */
  readonly counter: bigint;
  readonly key: EventKey;
}

export const eventHandleCodec = codec<EventHandle>(
  (reader) => {
    const counter = reader.u64();
    return { counter, key: readEventKey(reader) };
  },
  (writer, handle) => {
    writer.u64(handle.counter);
    writeEventKey(writer, handle.key);
  },
);

const readHandle = eventHandleCodec.read;
const writeHandle = eventHandleCodec.write;

/** `0x1::coin::CoinStore<T>`. */
export interface CoinStore {
  readonly amount: bigint;
  readonly frozen: boolean;
  readonly depositEvents: EventHandle;
  readonly withdrawEvents: EventHandle;
}

export const coinStoreCodec = codec<CoinStore>(
  (reader) => ({
    amount: reader.u64(),
    frozen: reader.bool(),
    depositEvents: readHandle(reader),
    withdrawEvents: readHandle(reader),
  }),
  (writer, store) => {
    writer.u64(store.amount).bool(store.frozen);
    writeHandle(writer, store.depositEvents);
    writeHandle(writer, store.withdrawEvents);
  },
);

/** `0x1::account::Account`. */
export interface Account {
  /** 32 bytes on the chain; Move fixes no size. */
  readonly authenticationKey: Buffer;
  readonly sequenceNumber: bigint;
  readonly guidCreationNumber: bigint;
  readonly coinRegisterEvents: EventHandle;
  readonly keyRotationEvents: EventHandle;
  readonly rotationCapabilityOffer: Address | undefined;
  readonly signerCapabilityOffer: Address | undefined;
}

export const accountCodec = codec<Account>(
  (reader) => ({
    authenticationKey: reader.bytes(),
    sequenceNumber: reader.u64(),
    guidCreationNumber: reader.u64(),
    coinRegisterEvents: readHandle(reader),
    keyRotationEvents: readHandle(reader),
    rotationCapabilityOffer: reader.option((inner) => inner.address()),
    signerCapabilityOffer: reader.option((inner) => inner.address()),
  }),
  (writer, account) => {
    writer.bytes(account.authenticationKey).u64(account.sequenceNumber);
    writer.u64(account.guidCreationNumber);
    writeHandle(writer, account.coinRegisterEvents);
    writeHandle(writer, account.keyRotationEvents);
    writer.option(account.rotationCapabilityOffer, (inner, address) => inner.address(address));
    writer.option(account.signerCapabilityOffer, (inner, address) => inner.address(address));
  },
);

/** `0x1::object::ObjectCore`. */
interface ObjectCore {
  readonly guidCreationNumber: bigint;
  readonly owner: Address;
  readonly allowUngatedTransfer: boolean;
  readonly transferEvents: EventHandle;
}

export const objectCoreCodec = codec<ObjectCore>(
  (reader) => ({
    guidCreationNumber: reader.u64(),
    owner: reader.address(),
    allowUngatedTransfer: reader.bool(),
    transferEvents: readHandle(reader),
  }),
  (writer, core) => {
    writer.u64(core.guidCreationNumber).address(core.owner).bool(core.allowUngatedTransfer);
    writeHandle(writer, core.transferEvents);
  },
);

/** `0x1::fungible_asset::FungibleStore`. */
interface FungibleStore {
  readonly metadata: Address;
  readonly balance: bigint;
  readonly frozen: boolean;
}

export const fungibleStoreCodec = codec<FungibleStore>(
  (reader) => ({ metadata: reader.address(), balance: reader.u64(), frozen: reader.bool() }),
  (writer, store) => {
    writer.address(store.metadata).u64(store.balance).bool(store.frozen);
  },
);

/** `0x1::fungible_asset::ConcurrentFungibleBalance`. */
interface ConcurrentFungibleBalance {
  readonly value: bigint;
  readonly maxValue: bigint;
}

export const concurrentFungibleBalanceCodec = codec<ConcurrentFungibleBalance>(
  (reader) => ({ value: reader.u64(), maxValue: reader.u64() }),
  (writer, balance) => {
    writer.u64(balance.value).u64(balance.maxValue);
  },
);

/** `0x1::chain_id::ChainId`: the chain id, u8. */
export const chainIdCodec = codec<number>(
  (reader) => reader.u8(),
  (writer, chainId) => {
    writer.u8(chainId);
  },
);

/** `0x1::features::Features`: the feature flags as bits. */
export const featuresCodec = codec<Buffer>(
  (reader) => reader.bytes(),
  (writer, bits) => {
    writer.bytes(bits);
  },
);

/**
 * Whether a feature is on: bit `flag % 8`, from the least, of byte `flag / 8`; off beyond the end
 * (docs/spec/move.md §4.2).
 */
export function isFeatureEnabled(features: Uint8Array, flag: number): boolean {
  return ((features[Math.floor(flag / 8)] ?? 0) & (1 << (flag % 8))) !== 0;
}

/** The stream of blocks: one event where each block begins. */
export const NEW_BLOCK_EVENT_KEY: EventKey = { creationNumber: 3n, address: ADDRESS_ONE };
/** The stream of epochs: one event where each epoch ends. */
export const NEW_EPOCH_EVENT_KEY: EventKey = { creationNumber: 2n, address: ADDRESS_ONE };

/** `0x1::block::NewBlockEvent`. */
export interface NewBlockEvent {
  /** Block id, in the form of an address. */
  readonly hash: Address;
  readonly epoch: bigint;
  readonly round: bigint;
  readonly height: bigint;
  readonly previousBlockVotesBitvec: Buffer;
  readonly proposer: Address;
  /** u64 each here; u32 in the block's transaction. */
  readonly failedProposerIndices: readonly bigint[];
  /** Microseconds since 1970. */
  readonly timestampUsecs: bigint;
}

export const newBlockEventCodec = codec<NewBlockEvent>(
  (reader) => ({
    hash: reader.address(),
    epoch: reader.u64(),
    round: reader.u64(),
    height: reader.u64(),
    previousBlockVotesBitvec: reader.bytes(),
    proposer: reader.address(),
    failedProposerIndices: reader.vector(8, (inner) => inner.u64()),
    timestampUsecs: reader.u64(),
  }),
  (writer, event) => {
    writer.address(event.hash).u64(event.epoch).u64(event.round).u64(event.height);
    writer.bytes(event.previousBlockVotesBitvec).address(event.proposer);
    writer.vector(event.failedProposerIndices, (inner, index) => inner.u64(index));
    writer.u64(event.timestampUsecs);
  },
);

/** Data of `0x1::reconfiguration::NewEpochEvent` and `NewEpoch`: the epoch that begins. */
export const newEpochEventCodec = codec<bigint>(
  (reader) => reader.u64(),
  (writer, epoch) => {
    writer.u64(epoch);
  },
);
