/** The events of a transaction as JSON (docs/spec/transactions.md §2.11). */
import { andThen, type MaybePromise, mapInOrder } from '../../maybe-promise.ts';
import type { BcsReader } from '../../move/bcs/bcs-reader.ts';
import { ContractEvent } from '../../move/transactions/event.ts';
import type { MemberPlace } from '../../move/types/resource-group.ts';
import { skipTypeTag } from '../../move/types/type-tag.ts';
import type { StoredModuleEvent } from '../../store/columns/event-column.ts';
import type { Decoding } from './decoding.ts';
import { quotedAddress } from './json-units.ts';

interface EventPlace extends MemberPlace {
  /** The members before the type. */
  readonly origin: string;
}

const MODULE_EVENT_MEMBERS =
  '"guid":{"creation_number":"0","account_address":"0x0"},"sequence_number":"0","type":';
const MODULE_EVENT_ORIGIN = `{${MODULE_EVENT_MEMBERS}`;

export function readEvents(reader: BcsReader): EventPlace[] {
  return reader.vector(ContractEvent.minBytes, readEvent);
}

function readEvent(reader: BcsReader): EventPlace {
  const isOfModule = reader.variant(2, 'ContractEvent') === 1;
  const origin = isOfModule ? MODULE_EVENT_ORIGIN : handleOrigin(reader);
  const tagStart = reader.offset;
  skipTypeTag(reader);
  const tagEnd = reader.offset;
  const dataBytes = reader.length(1);
  const dataStart = reader.skip(dataBytes);
  return { origin, tagStart, tagEnd, dataStart, dataEnd: dataStart + dataBytes };
}

function handleOrigin(reader: BcsReader): string {
  const creationNumber = reader.u64();
  const account = quotedAddress(reader.address());
  return (
    `{"guid":{"creation_number":"${creationNumber}","account_address":${account}},` +
    `"sequence_number":"${reader.u64()}","type":`
  );
}

export function moduleEventJson(
  event: StoredModuleEvent,
  decoding: Decoding,
): MaybePromise<string> {
  const { version, index, typeTag, data, encoded } = event;
  const dataStart = encoded.length - data.length;
  const place = { tagStart: 0, tagEnd: typeTag.length, dataStart, dataEnd: encoded.length };
  const members = `"version":"${version}","index":${index},${MODULE_EVENT_MEMBERS}`;
  return andThen(
    decoding.typed(encoded, place),
    (shown) => `{${members}${shown.type},"data":${shown.data}}`,
  );
}

/** @param item the transaction that the events were read from */
export function eventsJson(
  item: Buffer,
  events: readonly EventPlace[],
  decoding: Decoding,
): MaybePromise<string> {
  if (events.length === 0) return '[]';
  const { pace } = decoding;
  const show = (event: EventPlace): MaybePromise<string> =>
    andThen(
      decoding.typed(item, event),
      ({ type, data }) => `${event.origin}${type},"data":${data}}`,
    );
  const shown = mapInOrder(events, (event) =>
    pace.inTurn(event.dataEnd - event.dataStart, () => show(event)),
  );
  return andThen(shown, (texts) => `[${texts.join(',')}]`);
}
