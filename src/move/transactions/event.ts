/**
 * Events of transactions, and events as the interface's BCS form gives them (docs/spec/ledger.md §1.3,
 * docs/spec/http.md §7.5).
 */
import type { BcsReader } from '../bcs/bcs-reader.ts';
import type { BcsWriter } from '../bcs/bcs-writer.ts';
import { domainHash } from '../crypto/hash.ts';
import type { Address } from '../types/address.ts';
import { readTypeTag, type TypeTag, writeTypeTag } from '../types/type-tag.ts';

/** Identifies an event stream: 40 bare bytes on the wire. */
export interface EventKey {
  readonly creationNumber: bigint;
  readonly address: Address;
}

export interface StreamEvent {
  readonly kind: 'v1';
  readonly key: EventKey;
  readonly sequenceNumber: bigint;
  readonly typeTag: TypeTag;
  /** BCS of the event's own value. */
  readonly data: Buffer;
}

/** A module event, which does not belong to a stream. */
interface ModuleEvent {
  readonly kind: 'v2';
  readonly typeTag: TypeTag;
  /** BCS of the event's own value. */
  readonly data: Buffer;
}

export type ContractEvent = StreamEvent | ModuleEvent;

/** Fewest bytes an event takes: V2, a primitive type, no data. */
export const MIN_EVENT_BYTES = 3;

export function readEventKey(reader: BcsReader): EventKey {
  const creationNumber = reader.u64();
  return { creationNumber, address: reader.address() };
}

export function writeEventKey(writer: BcsWriter, key: EventKey): void {
  writer.u64(key.creationNumber).address(key.address);
}

export function readContractEvent(reader: BcsReader): ContractEvent {
  if (reader.variant(2, 'ContractEvent') === 1) {
    const typeTag = readTypeTag(reader);
    return { kind: 'v2', typeTag, data: reader.bytes() };
  }
  const key = readEventKey(reader);
  const sequenceNumber = reader.u64();
  const typeTag = readTypeTag(reader);
  return { kind: 'v1', key, sequenceNumber, typeTag, data: reader.bytes() };
}

export function writeContractEvent(writer: BcsWriter, event: ContractEvent): void {
  writer.uleb32(event.kind === 'v1' ? 0 : 1);
  if (event.kind === 'v1') {
    writeEventKey(writer, event.key);
    writer.u64(event.sequenceNumber);
  }
  writeTypeTag(writer, event.typeTag);
  writer.bytes(event.data);
}

/** The leaf of an event in its transaction's event accumulator: of the event's own BCS (docs/spec/ledger.md §2.7). */
export function contractEventHash(eventBytes: Uint8Array): Buffer {
  return domainHash('ContractEvent', eventBytes);
}
