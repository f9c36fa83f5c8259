/** Pages of an event stream as JSON and BCS (spec/http.md §7.4, §7.5). */
import { addressBytes, formatAddress } from '../move/address.ts';
import { BcsWriter } from '../move/bcs-writer.ts';
import type { ModuleLookup } from '../move/module/lookup.ts';
import { renderValue } from '../move/value-json.ts';
import type { StoredEvent } from '../store/event-column.ts';
import type { EventStreamId } from './api-contract.ts';
import { conversionError } from './conversion-error.ts';
import type { LayoutCache, LayoutStamp, RenderedType } from './layout-cache.ts';

/** Variant of handle events in BCS: this operation has no others. */
const HANDLE_EVENT_VARIANT = 0;
/** Bytes of a BCS event before its type tag: version, variant, key, sequence number. */
const BCS_EVENT_OVERHEAD_BYTES = 8 + 1 + 40 + 8;
const MAX_ULEB32_BYTES = 5;

/** A page as JSON. */
export interface JsonPage {
  readonly body: string;
  /** The layouts of its types, each once. */
  readonly stamps: readonly LayoutStamp[];
}

/**
 * The JSON text of a page: an array of event records, their fields in the interface's order.
 * @throws LedgerError `internal_error` when one event cannot be rendered.
 */
export async function eventsJson(
  { address, creationNumber }: EventStreamId,
  events: readonly StoredEvent[],
  layouts: LayoutCache,
  lookup: ModuleLookup,
): Promise<JsonPage> {
  const guid = `"guid":{"creation_number":"${creationNumber}","account_address":"${formatAddress(address)}"}`;
  const stamps: LayoutStamp[] = [];
  let body = '[';
  let typeTag: Buffer | undefined;
  let type: RenderedType | undefined;
  for (const event of events) {
    if (body.length > 1) body += ',';
    body += `{"version":"${event.version}",${guid},"sequence_number":"${event.sequenceNumber}",`;
    try {
      // Most events of a stream are of one type.
      if (type === undefined || !typeTag!.equals(event.typeTag)) {
        ({ typeTag } = event);
        type = layouts.ready(typeTag, lookup) ?? (await layouts.resolve(typeTag, lookup));
        if (!stamps.includes(type.stamp)) stamps.push(type.stamp);
      }
      body += `"type":${type.jsonText},"data":${renderValue(type.layout, event.data)}}`;
    } catch (cause) {
      throw conversionError('Failed to convert events from storage into response', cause);
    }
  }
  return { body: body + ']', stamps };
}

/** The BCS of a page: a vector of versioned events. */
export function eventsBcs(
  { address, creationNumber }: EventStreamId,
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
