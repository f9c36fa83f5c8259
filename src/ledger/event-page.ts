/** Pages of an event stream as JSON and BCS (docs/spec/http.md §7.4, §7.5). */

import { BcsWriter } from '../move/bcs/bcs-writer.ts';
import type { ModuleLookup } from '../move/modules/lookup.ts';
import { addressBytes, formatAddress } from '../move/types/address.ts';
import { renderValueUtf8 } from '../move/values/value-json.ts';
import type { StoredEvent } from '../store/columns/event-column.ts';
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
  readonly body: Buffer;
  /** The layouts of its types, each once. */
  readonly stamps: readonly LayoutStamp[];
}

/**
 * A page as JSON: an array of event records, their fields in the interface's order.
 * @throws LedgerError `internal_error` when one event cannot be rendered.
 */
export async function eventsJson(
  { address, creationNumber }: EventStreamId,
  events: readonly StoredEvent[],
  layouts: LayoutCache,
  lookup: ModuleLookup,
): Promise<JsonPage> {
  // The UTF-8 of the page, a unit for each byte, made of few pieces: putting them together is much of the work.
  const afterVersion = onePiece(
    `","guid":{"creation_number":"${creationNumber}","account_address":"${formatAddress(address)}"}` +
      ',"sequence_number":"',
  );
  const stamps: LayoutStamp[] = [];
  let body = '';
  let separator = '[{"version":"';
  let typeTag: Buffer | undefined;
  let type: RenderedType | undefined;
  let afterNumber = '';
  for (const event of events) {
    try {
      // Most events of a stream are of one type.
      if (type === undefined || !typeTag!.equals(event.typeTag)) {
        ({ typeTag } = event);
        type = layouts.ready(typeTag, lookup) ?? (await layouts.resolve(typeTag, lookup));
        if (!stamps.includes(type.stamp)) stamps.push(type.stamp);
        afterNumber = onePiece(`","type":${type.jsonUtf8},"data":`);
      }
      body += separator + u64Text(event.version) + afterVersion + u64Text(event.sequenceNumber);
      body += afterNumber + renderValueUtf8(type.layout, event.data);
    } catch (cause) {
      throw conversionError('Failed to convert events from storage into response', cause);
    }
    separator = '},{"version":"';
  }
  return { body: Buffer.from(events.length === 0 ? '[]' : `${body}}]`, 'latin1'), stamps };
}

/** A text of units up to 255 that does not hang together of pieces. */
function onePiece(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

/** The decimal digits of a u64: those of a number are made in half the time. */
function u64Text(value: bigint): string {
  return value <= Number.MAX_SAFE_INTEGER ? String(Number(value)) : String(value);
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
