/**
 * The parts of a version, located by their places in its wire bytes. Checking the bytes finds the places, once; they
 * pass between threads as numbers. The store's form of events and writes is created on demand, as views of the bytes.
 * So a chunk that waits to be written consists of bytes and numbers, which cost the garbage collector nothing.
 */
import { BcsReader } from '../move/bcs/bcs-reader.ts';
import { byteTools } from '../move/bcs/bytes.ts';
import { WriteSetEntry, WriteSetTail } from '../move/transactions/write-set.ts';
import { ADDRESS_BYTES, type Address } from '../move/types/address.ts';
import { physicalStateKey, StateKey } from '../move/types/state-key.ts';
import { StateValueMetadata } from '../move/types/state-value.ts';
import { readTypeTag } from '../move/types/type-tag.ts';
import type {
  ChunkModuleEvent,
  ChunkStreamEvent,
  ChunkTransaction,
  StateWrite,
} from '../store/write/chunk.ts';

type ChunkEvent = ChunkStreamEvent | ChunkModuleEvent;

const MODULE_EVENT_VARIANT = 1;
/** Creation number, address and sequence number, before the type of an event of a stream. */
const STREAM_BYTES = 8 + ADDRESS_BYTES + 8;
const ACCESS_PATH_VARIANT = 0;
const TABLE_ITEM_VARIANT = 1;
const RAW_VARIANT = 2;
const STATE_KEY_VARIANTS = 4;
const POSITION_BYTES = 3 * ADDRESS_BYTES;
const WRITE_OP_VARIANTS = 6;
const DELETION_VARIANT = 2;
const FIRST_VARIANT_WITH_METADATA = 3;

/** The numbers of an event are its variant, where its type begins and ends, and where its data begins and ends. */
const EVENT_NUMBERS = 5;
/**
 * The numbers of a write are where its key begins and ends, where its value begins and ends (0 for a deletion), and
 * where its metadata begins (0 without metadata).
 */
const WRITE_NUMBERS = 5;
/** Numbers before those of events and writes: see `versionPlaces`. */
const HEAD_NUMBERS = 8;

/** Reads an event and adds its places. @throws BcsError as `ContractEvent.read` */
export function placeEvent(reader: BcsReader, places: number[]): void {
  const variant = reader.variant(2, 'ContractEvent');
  if (variant !== MODULE_EVENT_VARIANT) reader.skip(STREAM_BYTES);
  const typeAt = reader.offset;
  readTypeTag(reader);
  const typeEnd = reader.offset;
  const dataAt = reader.skip(reader.length(1));
  places.push(variant, typeAt, typeEnd, dataAt, reader.offset);
}

/**
 * Reads a write set and adds the places of its writes.
 * @returns the number of writes
 * @throws BcsError as `WriteSet.read`
 */
export function placeWrites(reader: BcsReader, places: number[]): number {
  const form = reader.variant(2, 'WriteSet');
  const { buffer } = reader;
  const count = reader.itemCount(WriteSetEntry.minBytes);
  let previous: Buffer | undefined;
  for (let index = 0; index < count; index += 1) {
    const keyAt = reader.offset;
    skipStateKey(reader);
    const keyEnd = reader.offset;
    const key = buffer.subarray(keyAt, keyEnd);
    if (previous !== undefined && byteTools.compare(previous, key) >= 0) {
      throw reader.error('map_not_sorted', 'map keys are not in strictly increasing order', keyAt);
    }
    previous = key;
    const variant = reader.variant(WRITE_OP_VARIANTS, 'WriteOp');
    const isDeletion = variant % FIRST_VARIANT_WITH_METADATA === DELETION_VARIANT;
    const valueAt = isDeletion ? 0 : reader.skip(reader.length(1));
    const valueEnd = isDeletion ? 0 : reader.offset;
    const hasMetadata = variant >= FIRST_VARIANT_WITH_METADATA;
    const metadataAt = hasMetadata ? reader.offset : 0;
    if (hasMetadata) StateValueMetadata.read(reader);
    places.push(keyAt, keyEnd, valueAt, valueEnd, metadataAt);
  }
  if (form === 1) WriteSetTail.read(reader);
  return count;
}

function skipStateKey(reader: BcsReader): void {
  const variant = reader.variant(STATE_KEY_VARIANTS, 'StateKey');
  if (variant === ACCESS_PATH_VARIANT || variant === TABLE_ITEM_VARIANT) {
    reader.skip(ADDRESS_BYTES);
    reader.skip(reader.length(1));
  } else if (variant === RAW_VARIANT) {
    reader.skip(reader.length(1));
  } else {
    reader.variant(1, 'TradingNativeKey');
    reader.skip(POSITION_BYTES);
  }
}

/**
 * The numbers of a version are where its item and its info begin and end, which event begins a block and which ends an
 * epoch (counted from 1; 0 for neither), and the counts of events and writes. The numbers of the events and writes
 * follow.
 */
export function versionPlaces(
  spans: readonly [itemAt: number, itemEnd: number, infoAt: number, infoEnd: number],
  marks: EventMarks,
  events: readonly number[],
  writes: readonly number[],
): number[] {
  const counts = [events.length / EVENT_NUMBERS, writes.length / WRITE_NUMBERS];
  return [...spans, marks.block + 1, marks.epoch + 1, ...counts, ...events, ...writes];
}

/** Indexes of the event that begins a block and of the one that ends an epoch; -1 if the version has no such event. */
export interface EventMarks {
  readonly block: number;
  readonly epoch: number;
}

/** One version: the bytes that contain it, and the index at which the numbers of its places begin. */
export class VersionParts implements ChunkTransaction {
  readonly #bytes: Buffer;
  readonly #places: ArrayLike<number>;
  readonly #at: number;
  readonly #hasItem: boolean;

  /** @param hasItem whether the whole item is stored */
  constructor(bytes: Buffer, places: ArrayLike<number>, at: number, hasItem: boolean) {
    this.#bytes = bytes;
    this.#places = places;
    this.#at = at;
    this.#hasItem = hasItem;
  }

  get end(): number {
    return this.#writesAt + this.#places[this.#at + 7]! * WRITE_NUMBERS;
  }

  get transaction(): Buffer | undefined {
    return this.#hasItem ? this.#part(this.#at) : undefined;
  }

  get info(): Buffer {
    return this.#part(this.#at + 2);
  }

  get marks(): EventMarks {
    return { block: this.#places[this.#at + 4]! - 1, epoch: this.#places[this.#at + 5]! - 1 };
  }

  get events(): ChunkEvent[] {
    const count = this.#places[this.#at + 6]!;
    const events: ChunkEvent[] = [];
    for (let index = 0; index < count; index += 1) {
      events.push(eventAt(this.#bytes, this.#places, this.#eventsAt + index * EVENT_NUMBERS));
    }
    return events;
  }

  get writes(): StateWrite[] {
    return writesAt(this.#bytes, this.#places, this.#writesAt, this.#places[this.#at + 7]!);
  }

  get #eventsAt(): number {
    return this.#at + HEAD_NUMBERS;
  }

  get #writesAt(): number {
    return this.#eventsAt + this.#places[this.#at + 6]! * EVENT_NUMBERS;
  }

  #part(at: number): Buffer {
    return this.#bytes.subarray(this.#places[at]!, this.#places[at + 1]!);
  }
}

/** The store’s form of an event, as views of its bytes. @throws BcsError */
export function chunkEventOf(bytes: Buffer): ChunkEvent {
  const reader = new BcsReader(bytes);
  const places: number[] = [];
  placeEvent(reader, places);
  reader.finish();
  return eventAt(reader.buffer, places, 0);
}

function eventAt(bytes: Buffer, places: ArrayLike<number>, at: number): ChunkEvent {
  return places[at] === MODULE_EVENT_VARIANT
    ? new PlacedModuleEvent(bytes, places, at)
    : new PlacedStreamEvent(bytes, places, at);
}

/** The parts of an event, created on demand. */
abstract class PlacedEvent {
  readonly #bytes: Buffer;
  readonly #places: ArrayLike<number>;
  readonly #at: number;

  constructor(bytes: Buffer, places: ArrayLike<number>, at: number) {
    this.#bytes = bytes;
    this.#places = places;
    this.#at = at;
  }

  get typeTag(): Buffer {
    return this.#part(1);
  }

  get data(): Buffer {
    return this.#part(3);
  }

  #part(number: number): Buffer {
    const at = this.#at + number;
    return this.#bytes.subarray(this.#places[at]!, this.#places[at + 1]!);
  }
}

class PlacedModuleEvent extends PlacedEvent implements ChunkModuleEvent {
  readonly kind = 'module';
}

class PlacedStreamEvent extends PlacedEvent implements ChunkStreamEvent {
  readonly kind = 'stream';
  readonly creationNumber: bigint;
  readonly address: Address;
  readonly sequenceNumber: bigint;

  constructor(bytes: Buffer, places: ArrayLike<number>, at: number) {
    super(bytes, places, at);
    const reader = new BcsReader(bytes, places[at + 1]! - STREAM_BYTES);
    this.creationNumber = reader.u64();
    this.address = reader.address();
    this.sequenceNumber = reader.u64();
  }
}

/**
 * The writes of a write set. Hot keys and extensions of a V1 write set are not account state and are left out
 * (docs/spec/ledger.md §1.1). @throws BcsError
 */
export function stateWritesOf(writeSet: Buffer): StateWrite[] {
  const places: number[] = [];
  const count = placeWrites(new BcsReader(writeSet), places);
  return writesAt(writeSet, places, 0, count);
}

function writesAt(
  bytes: Buffer,
  places: ArrayLike<number>,
  start: number,
  count: number,
): StateWrite[] {
  const writes: StateWrite[] = [];
  for (let index = 0; index < count; index += 1) {
    writes.push(new PlacedWrite(bytes, places, start + index * WRITE_NUMBERS));
  }
  return writes;
}

/** The parts of a write, created on demand. */
class PlacedWrite implements StateWrite {
  readonly #bytes: Buffer;
  readonly #places: ArrayLike<number>;
  readonly #at: number;

  constructor(bytes: Buffer, places: ArrayLike<number>, at: number) {
    this.#bytes = bytes;
    this.#places = places;
    this.#at = at;
  }

  get key(): Buffer {
    return physicalKeyAt(this.#bytes, this.#places[this.#at]!, this.#places[this.#at + 1]!);
  }

  get value(): Buffer | undefined {
    const valueAt = this.#places[this.#at + 2]!;
    return valueAt === 0 ? undefined : this.#bytes.subarray(valueAt, this.#places[this.#at + 3]!);
  }

  get metadata(): StateValueMetadata | undefined {
    const metadataAt = this.#places[this.#at + 4]!;
    if (metadataAt === 0) return undefined;
    return StateValueMetadata.read(new BcsReader(this.#bytes, metadataAt));
  }
}

/** The physical form of a key in BCS; for an access path the bytes are the same (docs/spec/ledger.md §1.2). */
function physicalKeyAt(bytes: Buffer, from: number, to: number): Buffer {
  const variant = bytes[from];
  if (variant === ACCESS_PATH_VARIANT) return bytes.subarray(from, to);
  if (variant !== TABLE_ITEM_VARIANT) {
    return physicalStateKey(StateKey.read(new BcsReader(bytes, from)));
  }
  let restAt = from + 1 + ADDRESS_BYTES;
  while (bytes[restAt]! > 0x7f) restAt += 1;
  const headBytes = 1 + ADDRESS_BYTES;
  const key = Buffer.allocUnsafe(headBytes + to - restAt - 1);
  key.set(bytes.subarray(from, from + headBytes));
  key.set(bytes.subarray(restAt + 1, to), headBytes);
  return key;
}

/** Reads the physical form of a key in BCS. @throws BcsError */
export function readPhysicalKey(reader: BcsReader): Buffer {
  const from = reader.offset;
  skipStateKey(reader);
  return physicalKeyAt(reader.buffer, from, reader.offset);
}
