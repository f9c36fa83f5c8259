/**
 * Builds chunks for the store from versions in their wire bytes. Genesis, feeds, blocks of a chain in this process and
 * the versions that a fork reads all pass through it. Blocks and epochs come from the framework's events
 * (docs/spec/ledger.md §2.3).
 */
import { BcsError, BcsReader } from '../move/bcs/bcs-reader.ts';
import { encodeBcs } from '../move/bcs/bcs-writer.ts';
import { HASH_BYTES } from '../move/crypto/hash.ts';
import { EventKey } from '../move/transactions/event.ts';
import { addressBytes } from '../move/types/address.ts';
import { NEW_EPOCH_TAG } from '../move/types/framework-tag.ts';
import { TypeTag } from '../move/types/type-tag.ts';
import {
  NEW_BLOCK_EVENT_KEY,
  NEW_EPOCH_EVENT_KEY,
  newBlockEventCodec,
  newEpochEventCodec,
} from '../move/values/framework-resource.ts';
import type { Block, EpochEnd } from '../store/columns/block-column.ts';
import type { LedgerIdentity } from '../store/columns/identity-column.ts';
import type { Chunk, ChunkTransaction } from '../store/write/chunk.ts';
import {
  type EventMarks,
  placeEvent,
  placeWrites,
  VersionParts,
  versionPlaces,
} from './version-parts.ts';

/** A verified version whose blocks, epochs, events or writes this node cannot read. */
export class ChunkDataError extends Error {
  constructor(version: bigint, detail: string, options?: ErrorOptions) {
    super(`version ${version}: ${detail}`, options);
    this.name = 'ChunkDataError';
  }
}

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

/** A ledger with only genesis is in epoch 0, at time 0, even if the chain's own resources differ (§2.1). */
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
  return encodeBcs((writer) => EventKey.write(writer.uleb32(0), key));
}

const NEW_BLOCK_PREFIX = streamPrefix(NEW_BLOCK_EVENT_KEY);
const NEW_EPOCH_PREFIX = streamPrefix(NEW_EPOCH_EVENT_KEY);
const NEW_EPOCH_MODULE_PREFIX = Buffer.concat([
  Buffer.of(1),
  TypeTag.encode({ kind: 'struct', struct: NEW_EPOCH_TAG }),
]);

/** Finds the event that begins a block (one of the stream of blocks, §2.3) and the one that ends an epoch. */
export function marksOf(events: readonly Buffer[]): EventMarks {
  return {
    block: events.findIndex((event) => startsWith(event, NEW_BLOCK_PREFIX)),
    epoch: events.findIndex(isEpochEvent),
  };
}

export function endsEpoch(version: bigint, events: readonly Buffer[]): boolean {
  return version === 0n || events.some(isEpochEvent);
}

function isEpochEvent(event: Buffer): boolean {
  return startsWith(event, NEW_EPOCH_PREFIX) || startsWith(event, NEW_EPOCH_MODULE_PREFIX);
}

/** Compares from the end, where most other events differ. This is faster than a native comparison. */
function startsWith(bytes: Buffer, prefix: Buffer): boolean {
  if (bytes.length < prefix.length) return false;
  for (let at = prefix.length - 1; at >= 0; at -= 1) if (bytes[at] !== prefix[at]) return false;
  return true;
}

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

  get length(): number {
    return this.#transactions.length;
  }

  /** Adds the next version. @throws ChunkDataError for parts that do not decode; nothing is added then. */
  add(encoded: EncodedVersion): void {
    this.addParts(partsOf(this.nextVersion, encoded));
  }

  /** Adds the next version, whose parts are known. @throws ChunkDataError as `add` */
  addParts(parts: VersionParts): void {
    const version = this.nextVersion;
    const block = blockBegunBy(version, parts);
    const epochEnd = epochEndedBy(version, parts);
    this.#transactions.push(parts);
    if (block !== undefined) this.#blocks.push(block);
    if (epochEnd !== undefined) this.#epochEnds.push(epochEnd);
  }

  /**
   * The chunk of all versions added.
   * @param frozenRoots full subtrees of the transaction accumulator after the last of them
   * @param identity required with version 0, absent otherwise
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

/** Copies the bytes of a version that are stored, and finds its parts in them. @throws ChunkDataError */
function partsOf(
  version: bigint,
  { info, events, writeSet, transaction }: EncodedVersion,
): VersionParts {
  const whole = transaction ?? Buffer.alloc(0);
  const bytes = Buffer.concat([whole, info, ...events, writeSet]);
  const eventPlaces: number[] = [];
  const writePlaces: number[] = [];
  const infoEnd = whole.length + info.length;
  let at = infoEnd;
  for (const event of events) {
    const reader = new BcsReader(bytes, at, at + event.length);
    decodePart(version, 'event', () => {
      placeEvent(reader, eventPlaces);
      reader.finish();
    });
    at += event.length;
  }
  decodePart(version, 'write set', () => placeWrites(new BcsReader(bytes, at), writePlaces));
  const marks = marksOf(events);
  const spans = [0, whole.length, whole.length, infoEnd] as const;
  const places = versionPlaces(spans, marks, eventPlaces, writePlaces);
  return new VersionParts(bytes, places, 0, transaction !== undefined);
}

function blockBegunBy(version: bigint, parts: VersionParts): Block | undefined {
  if (version === 0n) return GENESIS_BLOCK;
  const { block } = parts.marks;
  const event = block < 0 ? undefined : parts.events[block];
  if (event?.kind !== 'stream') return undefined;
  const { hash, epoch, round, timestampUsecs } = decodePart(version, 'NewBlockEvent', () =>
    newBlockEventCodec.decode(event.data),
  );
  // The sequence number in the stream is the height (§2.3). The field of the same name only repeats it.
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

function epochEndedBy(version: bigint, parts: VersionParts): EpochEnd | undefined {
  if (version === 0n) return GENESIS_EPOCH_END;
  const { epoch } = parts.marks;
  const event = epoch < 0 ? undefined : parts.events[epoch];
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
