/**
 * Events: handle events by stream and sequence number, module events by version. A row is self-contained: a page needs
 * no second read. Type tag and data together are the end of the event's BCS (docs/spec/ledger.md §1.3,
 * docs/spec/http.md §7.5), so that a BCS response copies them unchanged.
 */
import type { BcsReader } from '../../move/bcs/bcs-reader.ts';
import type { BcsWriter } from '../../move/bcs/bcs-writer.ts';
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
  encodeU64Key,
  U64_BYTES,
} from './order-key.ts';
import { decodeRow, rowWriter } from './row-codec.ts';

export interface StreamId {
  readonly address: Address;
  readonly creationNumber: bigint;
}

export interface EventPlace {
  readonly version: bigint;
  readonly index: number;
}

/** Type tag and data in BCS. */
interface EncodedBody {
  readonly typeTag: Uint8Array;
  readonly data: Uint8Array;
}

/** Type and data of an event, as views on its row. */
interface EventBody {
  /** BCS of the type tag. */
  readonly typeTag: Buffer;
  readonly data: Buffer;
  /** BCS of type tag and data together: the end of the event's BCS. */
  readonly encoded: Buffer;
}

export interface StoredEvent extends EventBody, EventPlace {
  readonly sequenceNumber: bigint;
}

export interface StoredModuleEvent extends EventBody, EventPlace {}

/** Length of a module event's index, which follows the order of its version. */
const INDEX_BYTES = 4;

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

export function putEvent(
  batch: Batch,
  stream: StreamId,
  sequenceNumber: bigint,
  place: EventPlace,
  body: EncodedBody,
): void {
  const { partition, order, value } = eventRow(stream, sequenceNumber, place, body);
  batch.put(EVENTS, partition, order, value);
}

export function eventRow(
  stream: StreamId,
  sequenceNumber: bigint,
  place: EventPlace,
  body: EncodedBody,
): ScannedRow {
  const value = writeBody(rowWriter.next().u64(place.version).u32(place.index), body).view();
  return { partition: encodeStreamId(stream), order: encodeU64Key(sequenceNumber), value };
}

export function decodeEventRow(partition: Uint8Array, { order, value }: Row): StoredEvent {
  return decodeRow(EVENTS, { partition, order }, value, (reader) => {
    const version = reader.u64();
    const index = reader.u32();
    const { typeTag, data, encoded } = readBody(reader);
    return { sequenceNumber: decodeU64Key(order), version, index, typeTag, data, encoded };
  });
}

/** Puts a module event into a batch. @param version the key of its version */
export function putModuleEvent(
  batch: Batch,
  version: BucketKey,
  index: number,
  body: EncodedBody,
): void {
  const value = writeBody(rowWriter.next(), body).view();
  batch.put(MODULE_EVENTS, version.partition, moduleEventOrder(version, index), value);
}

export function moduleEventOrder({ order: first }: BucketKey, index: number): Buffer {
  const order = Buffer.allocUnsafe(first.length + INDEX_BYTES);
  for (let at = 0; at < first.length; at += 1) order[at] = first[at]!;
  for (let at = 0; at < INDEX_BYTES; at += 1) {
    order[first.length + at] = index >>> (8 * (INDEX_BYTES - 1 - at));
  }
  return order;
}

/** Partition and bounds of the module events of a version, or of several versions that share a bucket. */
export function moduleEventBounds(first: BucketKey, last = first) {
  const from = Buffer.concat([first.order, Buffer.alloc(INDEX_BYTES)]);
  const to = Buffer.concat([last.order, Buffer.alloc(INDEX_BYTES, 0xff)]);
  return [first.partition, { from, to }] as const;
}

export function decodeModuleEventRow(row: ScannedRow): StoredModuleEvent {
  const { partition, order, value } = row;
  return decodeRow(MODULE_EVENTS, row, value, (reader) => {
    const version = decodeBucketKey(partition, order);
    const index = order.readUInt32BE(order.length - INDEX_BYTES);
    const { typeTag, data, encoded } = readBody(reader);
    return { version, index, typeTag, data, encoded };
  });
}

function writeBody(writer: BcsWriter, { typeTag, data }: EncodedBody): BcsWriter {
  return writer.u32(typeTag.length).fixed(typeTag).bytes(data);
}

function readBody(reader: BcsReader): EventBody {
  const typeTagBytes = reader.u32();
  const start = reader.offset;
  const typeTag = reader.fixed(typeTagBytes);
  const data = reader.bytes();
  return { typeTag, data, encoded: reader.buffer.subarray(start, reader.offset) };
}
