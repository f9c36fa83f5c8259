/** The events of a transaction as JSON (docs/spec/transactions.md §2.11). */
import { andThen, type MaybePromise, mapInOrder } from '../../maybe-promise.ts';
import type { BcsReader } from '../../move/bcs/bcs-reader.ts';
import { MIN_EVENT_BYTES } from '../../move/transactions/event.ts';
import { skipTypeTag } from '../../move/types/type-tag.ts';
import type { Decoding } from './decoding.ts';
import { quotedAddress } from './json-units.ts';

/** An event with its parts as views on the transaction. */
interface EventBytes {
  /** The members before the type. */
  readonly origin: string;
  readonly typeTag: Buffer;
  readonly data: Buffer;
}

const MODULE_EVENT_ORIGIN =
  '{"guid":{"creation_number":"0","account_address":"0x0"},"sequence_number":"0","type":';

export function readEvents(reader: BcsReader): EventBytes[] {
  return reader.vector(MIN_EVENT_BYTES, readEvent);
}

function readEvent(reader: BcsReader): EventBytes {
  const isOfModule = reader.variant(2, 'ContractEvent') === 1;
  const origin = isOfModule ? MODULE_EVENT_ORIGIN : handleOrigin(reader);
  const start = reader.offset;
  skipTypeTag(reader);
  const typeTag = reader.buffer.subarray(start, reader.offset);
  return { origin, typeTag, data: reader.bytes() };
}

function handleOrigin(reader: BcsReader): string {
  const creationNumber = reader.u64();
  const account = quotedAddress(reader.address());
  return (
    `{"guid":{"creation_number":"${creationNumber}","account_address":${account}},` +
    `"sequence_number":"${reader.u64()}","type":`
  );
}

export function eventsJson(
  events: readonly EventBytes[],
  decoding: Decoding,
): MaybePromise<string> {
  const shown = mapInOrder(events, ({ origin, typeTag, data }) =>
    andThen(decoding.pace.after(data.length), () =>
      andThen(
        decoding.typed(typeTag, data),
        (value) => `${origin}${value.type},"data":${value.data}}`,
      ),
    ),
  );
  return andThen(shown, (texts) => `[${texts.join(',')}]`);
}
