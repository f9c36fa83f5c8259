/** Pages of an event stream as JSON and BCS (docs/spec/http.md §7.4, §7.5). */
import { andThen, type MaybePromise, mapInOrder, settle } from '../../maybe-promise.ts';
import { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import { addressBytes, formatAddress } from '../../move/types/address.ts';
import { renderValueUtf8 } from '../../move/values/value-json.ts';
import type { StoredEvent, StreamId } from '../../store/columns/event-column.ts';
import { conversionError } from '../ledger-error.ts';
import type { Derived, ModuleStamp } from '../modules/derived.ts';
import type { ModuleView, RenderedType } from '../modules/module-view.ts';

/** Variant of handle events in BCS: this operation has no others. */
const HANDLE_EVENT_VARIANT = 0;
/** Bytes of a BCS event before its type tag: version, variant, key, sequence number. */
const BCS_EVENT_OVERHEAD_BYTES = 8 + 1 + 40 + 8;
const MAX_ULEB32_BYTES = 5;

interface JsonPage {
  readonly body: Buffer;
  /** The modules that the layouts of its types were made from. */
  readonly modules: readonly ModuleStamp[];
}

/** How a type was resolved; a failure counts where the first event of the type is rendered. */
type Resolved = { readonly type: Derived<RenderedType> } | { readonly failure: unknown };

/**
 * A page as JSON: an array of event records, their fields in the interface's order.
 * @throws LedgerError `internal_error` when one event cannot be rendered; or rejects with it
 */
export function eventsJson(
  stream: StreamId,
  events: readonly StoredEvent[],
  view: ModuleView,
): MaybePromise<JsonPage> {
  const tags: Buffer[] = [];
  for (const { typeTag } of events) {
    // Most events of a stream are of one type.
    if (!tags.some((tag) => tag.equals(typeTag))) tags.push(typeTag);
  }
  const types = mapInOrder(tags, (tag) =>
    settle<Derived<RenderedType>, Resolved>(
      () => view.type(tag),
      (type) => ({ type }),
      (failure) => ({ failure }),
    ),
  );
  return andThen(types, (resolved) => {
    const body = renderEvents(stream, events, (typeTag) => {
      const of = resolved[tags.findIndex((tag) => tag.equals(typeTag))]!;
      if ('failure' in of) throw of.failure;
      return of.type.value;
    });
    const modules = resolved.flatMap((one) => ('type' in one ? one.type.modules : []));
    return { body, modules };
  });
}

/** The UTF-8 of a page, a unit for each byte, made of few pieces: putting them together is much of the work. */
function renderEvents(
  { address, creationNumber }: StreamId,
  events: readonly StoredEvent[],
  typeOf: (typeTag: Buffer) => RenderedType,
): Buffer {
  if (events.length === 0) return Buffer.from('[]');
  const afterVersion = onePiece(
    `","guid":{"creation_number":"${creationNumber}","account_address":"${formatAddress(address)}"}` +
      ',"sequence_number":"',
  );
  let body = '';
  let separator = '[{"version":"';
  let typeTag: Buffer | undefined;
  let type: RenderedType | undefined;
  let afterNumber = '';
  for (const event of events) {
    try {
      if (type === undefined || !typeTag!.equals(event.typeTag)) {
        ({ typeTag } = event);
        type = typeOf(typeTag);
        afterNumber = onePiece(`","type":${type.jsonUtf8},"data":`);
      }
      body += separator + u64Text(event.version) + afterVersion + u64Text(event.sequenceNumber);
      body += afterNumber + renderValueUtf8(type.layout, event.data);
    } catch (cause) {
      throw conversionError('Failed to convert events from storage into response', cause);
    }
    separator = '},{"version":"';
  }
  return Buffer.from(`${body}}]`, 'latin1');
}

/** A text of units up to 255 in one piece, where concatenation would leave a rope of several. */
function onePiece(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

/** The decimal digits of a u64: formatting a number takes half the time of a bigint. */
function u64Text(value: bigint): string {
  return value <= Number.MAX_SAFE_INTEGER ? String(Number(value)) : String(value);
}

/** The BCS of a page: a vector of versioned events. */
export function eventsBcs(
  { address, creationNumber }: StreamId,
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
