/** The events of a transaction as JSON (docs/spec/transactions.md §2.11). */
import { andThen, eachInOrder, type MaybePromise } from '../../maybe-promise.ts';
import type { BcsReader } from '../../move/bcs/bcs-reader.ts';
import type { JsonWriter } from '../../move/json/json-writer.ts';
import { ContractEvent } from '../../move/transactions/event.ts';
import { ADDRESS_BYTES } from '../../move/types/address.ts';
import type { MemberPlace } from '../../move/types/resource-group.ts';
import { skipTypeTag } from '../../move/types/type-tag.ts';
import type { StoredModuleEvent } from '../../store/columns/event-column.ts';
import type { Decoding } from './decoding.ts';

const U64_BYTES = 8;
const KEY_BYTES = U64_BYTES + ADDRESS_BYTES;

interface EventPlace extends MemberPlace {
  /** Offset of creation number, address and sequence number; -1 for a module event. */
  readonly keyStart: number;
}

const MODULE_EVENT_MEMBERS =
  '"guid":{"creation_number":"0","account_address":"0x0"},"sequence_number":"0","type":';
const MODULE_EVENT_ORIGIN = Buffer.from(`{${MODULE_EVENT_MEMBERS}`);
const CREATION_NUMBER = Buffer.from('{"guid":{"creation_number":');
const ACCOUNT = Buffer.from(',"account_address":');
const SEQUENCE_NUMBER = Buffer.from('},"sequence_number":');
const TYPE = Buffer.from(',"type":');
const OPEN = Buffer.from('[');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from('}');
const END = Buffer.from(']');

export function readEvents(reader: BcsReader): EventPlace[] {
  return reader.vector(ContractEvent.minBytes, readEvent);
}

function readEvent(reader: BcsReader): EventPlace {
  const isOfModule = reader.variant(2, 'ContractEvent') === 1;
  const keyStart = isOfModule ? -1 : reader.skip(KEY_BYTES + U64_BYTES);
  const tagStart = reader.offset;
  skipTypeTag(reader);
  const tagEnd = reader.offset;
  const dataBytes = reader.length(1);
  const dataStart = reader.skip(dataBytes);
  return { tagStart, tagEnd, dataStart, dataEnd: dataStart + dataBytes, keyStart };
}

export function writeModuleEvent(
  out: JsonWriter,
  event: StoredModuleEvent,
  decoding: Decoding,
): MaybePromise<void> {
  const { version, index, typeTag, data, encoded } = event;
  const dataStart = encoded.length - data.length;
  const place = { tagStart: 0, tagEnd: typeTag.length, dataStart, dataEnd: encoded.length };
  out.units(`{"version":"${version}","index":${index},${MODULE_EVENT_MEMBERS}`);
  return decoding.writeTypedValue(out, encoded, place, CLOSE);
}

/** @param item the transaction that the events were read from */
export function writeEvents(
  out: JsonWriter,
  item: Buffer,
  events: readonly EventPlace[],
  decoding: Decoding,
): MaybePromise<void> {
  const { pace } = decoding;
  out.part(OPEN);
  const written = eachInOrder(events, (event, index) => {
    if (index > 0) out.part(COMMA);
    const mustYield = pace.mustYield(event.dataEnd - event.dataStart);
    return mustYield
      ? andThen(pace.nextTurn(), () => writeEvent(out, item, event, decoding))
      : writeEvent(out, item, event, decoding);
  });
  return andThen(written, () => out.part(END));
}

function writeEvent(
  out: JsonWriter,
  item: Buffer,
  event: EventPlace,
  decoding: Decoding,
): MaybePromise<void> {
  const { keyStart } = event;
  if (keyStart < 0) out.part(MODULE_EVENT_ORIGIN);
  else {
    out.part(CREATION_NUMBER);
    out.quotedU64(item, keyStart);
    out.part(ACCOUNT);
    out.quotedAddress(item, keyStart + U64_BYTES);
    out.part(SEQUENCE_NUMBER);
    out.quotedU64(item, keyStart + KEY_BYTES);
    out.part(TYPE);
  }
  return decoding.writeTypedValue(out, item, event, CLOSE);
}
