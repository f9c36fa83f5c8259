/**
 * Events: handle events by stream and sequence number, module events by version. A row is self-contained: a page needs
 * no second read. Type tag and data together are the end of the event's BCS (docs/spec/ledger.md §1.3,
 * docs/spec/http.md §7.5), so that a BCS response copies them unchanged.
 */
import type { BcsReader } from '../../move/bcs/bcs-reader.ts';
import { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import {
  ADDRESS_BYTES,
  type Address,
  addressBytes,
  addressFromBytes,
} from '../../move/types/address.ts';
import type { Batch } from '../batch.ts';
import { EVENTS, MODULE_EVENTS, type Row, type ScannedRow } from './columns.ts';
import {
  type BucketKey,
  decodeBucketKey,
  decodeU64Key,
  encodeBucketKey,
  encodeU64Key,
  U64_BYTES,
} from './order-key.ts';
import { decodeRow } from './row-codec.ts';

/** Names an event stream (docs/spec/ledger.md §5.7). */
export interface StreamId {
  readonly address: Address;
  readonly creationNumber: bigint;
}

/** Where an event stands. */
export interface EventPlace {
  readonly version: bigint;
  /** Among the events of its transaction. */
  readonly index: number;
}

/** Type and data of an event, as views on its row. */
interface EventBody {
  /** BCS of the type tag. */
  readonly typeTag: Buffer;
  /** BCS of the event's value. */
  readonly data: Buffer;
  /** BCS of type tag and data together: how the BCS of an event ends. */
  readonly encoded: Buffer;
}

export interface StoredEvent extends EventBody, EventPlace {
  readonly sequenceNumber: bigint;
}

/** A module event, which does not belong to a stream. */
export interface StoredModuleEvent extends EventBody, EventPlace {}

/** The index of a module event, after the order of its version. */
const INDEX_BYTES = 4;
const TAG_LENGTH_BYTES = 4;
const FIXED_BYTES = U64_BYTES + 4 + TAG_LENGTH_BYTES;
const LENGTH_BYTES = 5;

export function encodeStreamId({ address, creationNumber }: StreamId): Buffer {
  const bytes = Buffer.allocUnsafe(ADDRESS_BYTES + U64_BYTES);
  bytes.set(addressBytes(address), 0);
  bytes.writeBigUInt64BE(creationNumber, ADDRESS_BYTES);
  return bytes;
}

export function decodeStreamId(partition: Buffer): StreamId {
  return {
    address: addressFromBytes(partition),
    creationNumber: decodeU64Key(partition, ADDRESS_BYTES),
  };
}

/** Files an event of a stream. Type tag and data are BCS. */
export function putEvent(
  batch: Batch,
  stream: StreamId,
  sequenceNumber: bigint,
  place: EventPlace,
  body: { readonly typeTag: Uint8Array; readonly data: Uint8Array },
): void {
  const { typeTag, data } = body;
  const writer = new BcsWriter(FIXED_BYTES + typeTag.length + LENGTH_BYTES + data.length);
  writer.u64(place.version).u32(place.index);
  writeBody(writer, typeTag, data);
  batch.put(EVENTS, encodeStreamId(stream), encodeU64Key(sequenceNumber), writer.view());
}

/** Reads a row of a stream. @throws RowDamagedError */
export function decodeEventRow(partition: Uint8Array, { order, value }: Row): StoredEvent {
  return decodeRow(EVENTS, { partition, order }, value, (reader) => {
    const version = reader.u64();
    const index = reader.u32();
    const { typeTag, data, encoded } = readBody(reader);
    return { sequenceNumber: decodeU64Key(order), version, index, typeTag, data, encoded };
  });
}

/** Files a module event. Type tag and data are BCS. */
export function putModuleEvent(
  batch: Batch,
  place: EventPlace,
  body: { readonly typeTag: Uint8Array; readonly data: Uint8Array },
): void {
  const { typeTag, data } = body;
  const writer = new BcsWriter(TAG_LENGTH_BYTES + typeTag.length + LENGTH_BYTES + data.length);
  writeBody(writer, typeTag, data);
  const { partition, order } = moduleEventKey(place);
  batch.put(MODULE_EVENTS, partition, order, writer.view());
}

export function moduleEventKey({ version, index }: EventPlace): BucketKey {
  const { partition, order: first } = encodeBucketKey(version);
  const order = Buffer.allocUnsafe(first.length + INDEX_BYTES);
  order.set(first, 0);
  order.writeUInt32BE(index, first.length);
  return { partition, order };
}

/** Partition and bounds of the module events of a version, or of some that share a bucket. */
export function moduleEventBounds(first: BucketKey, last = first) {
  const from = Buffer.concat([first.order, Buffer.alloc(INDEX_BYTES)]);
  const to = Buffer.concat([last.order, Buffer.alloc(INDEX_BYTES, 0xff)]);
  return [first.partition, { from, to }] as const;
}

/** Reads a module event. @throws RowDamagedError */
export function decodeModuleEventRow(row: ScannedRow): StoredModuleEvent {
  const { partition, order, value } = row;
  return decodeRow(MODULE_EVENTS, row, value, (reader) => {
    const version = decodeBucketKey(partition, order);
    const index = order.readUInt32BE(order.length - INDEX_BYTES);
    const { typeTag, data, encoded } = readBody(reader);
    return { version, index, typeTag, data, encoded };
  });
}

function writeBody(writer: BcsWriter, typeTag: Uint8Array, data: Uint8Array): void {
  writer.u32(typeTag.length).fixed(typeTag).bytes(data);
}

function readBody(reader: BcsReader): EventBody {
  const typeTagBytes = reader.u32();
  const start = reader.offset;
  const typeTag = reader.fixed(typeTagBytes);
  const data = reader.bytes();
  return { typeTag, data, encoded: reader.buffer.subarray(start, reader.offset) };
}
