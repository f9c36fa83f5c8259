/** Pages of an event stream as JSON and BCS (spec/http.md §7.4, §7.5). */
import { type Address, addressBytes, formatAddress } from '../move/address.ts';
import { BcsWriter } from '../move/bcs-writer.ts';
import type { ModuleLookup } from '../move/module/lookup.ts';
import { renderValue } from '../move/value-json.ts';
import type { StoredEvent } from '../store/event-column.ts';
import { conversionError } from './conversion-error.ts';
import type { LayoutCache } from './layout-cache.ts';

/** Variant of handle events in BCS: this operation has no others. */
const HANDLE_EVENT_VARIANT = 0;
/** Bytes of a BCS event before its type tag: version, variant, key, sequence number. */
const BCS_EVENT_OVERHEAD_BYTES = 8 + 1 + 40 + 8;
const MAX_ULEB32_BYTES = 5;

/**
 * The JSON text of a page: an array of event records, their fields in the interface's order.
 * @throws LedgerError `internal_error` when one event cannot be rendered.
 */
export async function eventsJson(
  address: Address,
  creationNumber: bigint,
  events: readonly StoredEvent[],
  layouts: LayoutCache,
  lookup: ModuleLookup,
): Promise<string> {
  const guid = `"guid":{"creation_number":"${creationNumber}","account_address":"${formatAddress(address)}"}`;
  let text = '[';
  for (const event of events) {
    if (text.length > 1) text += ',';
    text += `{"version":"${event.version}",${guid},"sequence_number":"${event.sequenceNumber}",`;
    try {
      const type =
        layouts.ready(event.typeTag, lookup) ?? (await layouts.resolve(event.typeTag, lookup));
      text += `"type":${type.jsonText},"data":${renderValue(type.layout, event.data)}}`;
    } catch (cause) {
      throw conversionError('Failed to convert events from storage into response', cause);
    }
  }
  return text + ']';
}

/** The BCS of a page: a vector of versioned events. */
export function eventsBcs(
  address: Address,
  creationNumber: bigint,
  events: readonly StoredEvent[],
): Buffer {
  const sizeBytes = events.reduce(
    (sum, { encoded }) => sum + BCS_EVENT_OVERHEAD_BYTES + encoded.length,
    MAX_ULEB32_BYTES,
  );
  const writer = new BcsWriter(sizeBytes);
  const account = addressBytes(address);
  writer.vector(events, (_, event) => {
    writer.u64(event.version).uleb32(HANDLE_EVENT_VARIANT);
    writer.u64(creationNumber).fixed(account).u64(event.sequenceNumber);
    writer.fixed(event.encoded);
  });
  return writer.view();
}
