/**
 * Chunks for the store from versions as they are on the wire: the one way in for genesis, a feed and the sample
 * ledger. Blocks and epochs are read off the framework's events (docs/spec/ledger.md §2.3). Events and writes are
 * views on the wire bytes (§1.1–1.3).
 */
import { BcsError, BcsReader } from '../move/bcs/bcs-reader.ts';
import { encodeBcs } from '../move/bcs/bcs-writer.ts';
import { HASH_BYTES } from '../move/crypto/hash.ts';
import { type EventKey, writeEventKey } from '../move/transactions/event.ts';
import { MIN_WRITE_BYTES, readWriteOp } from '../move/transactions/write-set.ts';
import { ADDRESS_BYTES, addressBytes } from '../move/types/address.ts';
import { NEW_EPOCH_TAG } from '../move/types/framework-tag.ts';
import { physicalStateKey, readStateKey } from '../move/types/state-key.ts';
import { encodeTypeTag, readTypeTag } from '../move/types/type-tag.ts';
import {
  NEW_BLOCK_EVENT_KEY,
  NEW_EPOCH_EVENT_KEY,
  newBlockEventCodec,
  newEpochEventCodec,
} from '../move/values/framework-resource.ts';
import type {
  Chunk,
  ChunkModuleEvent,
  ChunkStreamEvent,
  ChunkTransaction,
  StateWrite,
} from '../store/chunk.ts';
import type { Block, EpochEnd } from '../store/columns/block-column.ts';
import type { LedgerIdentity } from '../store/columns/identity-column.ts';

/** A verified version whose blocks, epochs, events or writes this node cannot read. */
export class ChunkDataError extends Error {
  constructor(version: bigint, detail: string, options?: ErrorOptions) {
    super(`version ${version}: ${detail}`, options);
    this.name = 'ChunkDataError';
  }
}

/** One version in its wire bytes; they must stay unchanged until the chunk is committed. */
export interface EncodedVersion {
  /** BCS of the TransactionInfo. */
  readonly info: Buffer;
  /** BCS of each event, in the order of emission. */
  readonly events: readonly Buffer[];
  /** BCS of the WriteSet. */
  readonly writeSet: Buffer;
  /** BCS of the TransactionOnChainData; absent when the ledger does not store transactions. */
  readonly transaction: Buffer | undefined;
}

const MODULE_EVENT_VARIANT = 1;
const ACCESS_PATH_VARIANT = 0;
const TABLE_ITEM_VARIANT = 1;
const STRUCT_TAG = 7;

type ChunkEvent = ChunkStreamEvent | ChunkModuleEvent;

/** A ledger with only genesis is in epoch 0, at time 0, whatever the chain's own resources say (§2.1). */
const GENESIS_BLOCK: Block = {
  height: 0n,
  firstVersion: 0n,
  epoch: 0n,
  round: 0n,
  timestampUsecs: 0n,
  id: Buffer.alloc(HASH_BYTES),
};
const GENESIS_EPOCH_END: EpochEnd = { epoch: 0n, lastVersion: 0n };

function streamPrefix(key: EventKey): Buffer {
  return encodeBcs((writer) => writeEventKey(writer.uleb32(0), key));
}

const NEW_BLOCK_PREFIX = streamPrefix(NEW_BLOCK_EVENT_KEY);
const NEW_EPOCH_PREFIX = streamPrefix(NEW_EPOCH_EVENT_KEY);
const NEW_EPOCH_MODULE_PREFIX = Buffer.concat([
  Buffer.of(1),
  encodeTypeTag({ kind: 'struct', struct: NEW_EPOCH_TAG }),
]);

/** Whether a version begins a block: it emits an event of the stream of blocks (§2.3). */
export function beginsBlock(version: bigint, events: readonly Buffer[]): boolean {
  return version === 0n || events.some((event) => startsWith(event, NEW_BLOCK_PREFIX));
}

export function endsEpoch(version: bigint, events: readonly Buffer[]): boolean {
  return version === 0n || events.some(isEpochEvent);
}

function isEpochEvent(event: Buffer): boolean {
  return startsWith(event, NEW_EPOCH_PREFIX) || startsWith(event, NEW_EPOCH_MODULE_PREFIX);
}

/** Compares from the end, where most other events differ: a native comparison costs more than all of this. */
function startsWith(bytes: Buffer, prefix: Buffer): boolean {
  if (bytes.length < prefix.length) return false;
  for (let at = prefix.length - 1; at >= 0; at -= 1) if (bytes[at] !== prefix[at]) return false;
  return true;
}

/** Collects versions that follow one another and makes a chunk of them. */
export class ChunkBuilder {
  readonly #firstVersion: bigint;
  readonly #transactions: ChunkTransaction[] = [];
  readonly #blocks: Block[] = [];
  readonly #epochEnds: EpochEnd[] = [];

  constructor(firstVersion: bigint) {
    this.#firstVersion = firstVersion;
  }

  get nextVersion(): bigint {
    return this.#firstVersion + BigInt(this.#transactions.length);
  }

  /** Versions so far. */
  get length(): number {
    return this.#transactions.length;
  }

  /** Adds the next version. @throws ChunkDataError for parts that do not decode; nothing is added then. */
  add({ info, events, writeSet, transaction }: EncodedVersion): void {
    const version = this.nextVersion;
    const added = {
      writes: decodePart(version, 'write set', () => stateWritesOf(writeSet)),
      events: events.map((event) => decodePart(version, 'event', () => chunkEventOf(event))),
      info,
      transaction,
    };
    const block = blockBegunBy(version, events, added.events);
    const epochEnd = epochEndedBy(version, events, added.events);
    this.#transactions.push(added);
    if (block !== undefined) this.#blocks.push(block);
    if (epochEnd !== undefined) this.#epochEnds.push(epochEnd);
  }

  /**
   * The chunk of all versions added.
   * @param frozenRoots full subtrees of the transaction accumulator after the last of them
   * @param identity with version 0, and only there
   */
  finish(frozenRoots: readonly Buffer[], identity?: LedgerIdentity): Chunk {
    return {
      firstVersion: this.#firstVersion,
      transactions: this.#transactions,
      blocks: this.#blocks,
      epochEnds: this.#epochEnds,
      frozenRoots,
      identity,
    };
  }
}

function blockBegunBy(
  version: bigint,
  encoded: readonly Buffer[],
  events: readonly ChunkEvent[],
): Block | undefined {
  if (version === 0n) return GENESIS_BLOCK;
  const index = encoded.findIndex((event) => startsWith(event, NEW_BLOCK_PREFIX));
  const event = events[index];
  if (event?.kind !== 'stream') return undefined;
  const { hash, epoch, round, timestampUsecs } = decodePart(version, 'NewBlockEvent', () =>
    newBlockEventCodec.decode(event.data),
  );
  // The place in the stream is the height (§2.3); the field of the same name only repeats it.
  const height = event.sequenceNumber;
  return {
    height,
    firstVersion: version,
    epoch,
    round,
    timestampUsecs,
    id: Buffer.from(addressBytes(hash)),
  };
}

function epochEndedBy(
  version: bigint,
  encoded: readonly Buffer[],
  events: readonly ChunkEvent[],
): EpochEnd | undefined {
  if (version === 0n) return GENESIS_EPOCH_END;
  const event = events[encoded.findIndex(isEpochEvent)];
  if (event === undefined) return undefined;
  const begins = decodePart(version, 'NewEpochEvent', () => newEpochEventCodec.decode(event.data));
  if (begins === 0n) throw new ChunkDataError(version, 'epoch 0 cannot follow another');
  return { epoch: begins - 1n, lastVersion: version };
}

function decodePart<T>(version: bigint, what: string, decode: () => T): T {
  try {
    return decode();
  } catch (cause) {
    if (!(cause instanceof BcsError)) throw cause;
    throw new ChunkDataError(version, `${what} does not decode: ${cause.message}`, { cause });
  }
}

/** The store’s form of an event, as views on its bytes. @throws BcsError */
export function chunkEventOf(bytes: Buffer): ChunkEvent {
  const reader = new BcsReader(bytes);
  if (reader.variant(2, 'ContractEvent') === MODULE_EVENT_VARIANT) {
    return { kind: 'module', ...eventBody(reader) };
  }
  const creationNumber = reader.u64();
  const address = reader.address();
  const sequenceNumber = reader.u64();
  return { kind: 'stream', address, creationNumber, sequenceNumber, ...eventBody(reader) };
}

function eventBody(reader: BcsReader): { readonly typeTag: Buffer; readonly data: Buffer } {
  const start = reader.offset;
  skipTypeTag(reader);
  const typeTag = reader.buffer.subarray(start, reader.offset);
  const data = reader.bytes();
  reader.finish();
  return { typeTag, data };
}

/** Steps over a type tag, of which only the length matters: making texts of struct tags took 2 % of following. */
function skipTypeTag(reader: BcsReader): void {
  if (reader.buffer[reader.offset] !== STRUCT_TAG) {
    readTypeTag(reader);
    return;
  }
  reader.fixed(1 + ADDRESS_BYTES);
  reader.bytes();
  reader.bytes();
  const typeArguments = reader.length(1);
  for (let index = 0; index < typeArguments; index += 1) readTypeTag(reader);
}

/**
 * The writes of a write set. Hot keys and extensions of a V1 write set are not account state and are left out
 * (docs/spec/ledger.md §1.1).
 * @throws BcsError
 */
export function stateWritesOf(writeSet: Buffer): StateWrite[] {
  const reader = new BcsReader(writeSet);
  reader.variant(2, 'WriteSet');
  const count = reader.length(MIN_WRITE_BYTES);
  const writes: StateWrite[] = [];
  for (let index = 0; index < count; index += 1) {
    const key = readPhysicalKey(reader);
    const op = readWriteOp(reader);
    writes.push({
      key,
      value: op.kind === 'deletion' ? undefined : op.bytes,
      metadata: op.metadata,
    });
  }
  return writes;
}

/** The physical form of a key in BCS; for an access path the bytes are the same (docs/spec/ledger.md §1.2). */
export function readPhysicalKey(reader: BcsReader): Buffer {
  const { buffer, offset: start } = reader;
  const variant = buffer[start];
  if (variant !== ACCESS_PATH_VARIANT && variant !== TABLE_ITEM_VARIANT) {
    return physicalStateKey(readStateKey(reader));
  }
  reader.fixed(1 + ADDRESS_BYTES);
  const headEnd = reader.offset;
  const rest = reader.bytes();
  if (variant === ACCESS_PATH_VARIANT) return buffer.subarray(start, reader.offset);
  return Buffer.concat([buffer.subarray(start, headEnd), rest]);
}
