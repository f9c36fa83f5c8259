/**
 * Events of transactions, and events as the interface's BCS form gives them (docs/spec/ledger.md §1.3,
 * docs/spec/http.md §7.5).
 */
import { address, byteString, type CodecValue, structCodec, u64, variants } from '../bcs/codec.ts';
import { domainHash } from '../crypto/hash.ts';
import { TypeTag } from '../types/type-tag.ts';

/** Identifies an event stream: 40 bare bytes on the wire. */
export const EventKey = structCodec({ creationNumber: u64, address });
export type EventKey = CodecValue<typeof EventKey>;

/** A module event (`v2`) if it does not belong to a stream. `data` is the BCS of the event's own value. */
export const ContractEvent = variants('ContractEvent', {
  v1: { key: EventKey, sequenceNumber: u64, typeTag: TypeTag, data: byteString },
  v2: { typeTag: TypeTag, data: byteString },
});
export type ContractEvent = CodecValue<typeof ContractEvent>;
export type StreamEvent = Extract<ContractEvent, { kind: 'v1' }>;

/** The leaf of an event in its transaction's event accumulator: a hash of its own BCS (docs/spec/ledger.md §2.7). */
export function contractEventHash(eventBytes: Uint8Array): Buffer {
  return domainHash('ContractEvent', eventBytes);
}
