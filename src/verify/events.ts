/**
 * Checks that each stream of events is contiguous, and sums up its rows; versions.ts has the sums of what was emitted.
 */
import { EVENTS, type ScannedRow } from '../store/columns/columns.ts';
import { decodeEventRow, decodeStreamId, type StoredEvent } from '../store/columns/event-column.ts';
import { columnPages, reportAbove, type VerifyContext } from './context.ts';

/** The stream and the event before the next row. */
export interface SavedEvents {
  readonly partition: Uint8Array | undefined;
  readonly previous: Predecessor | undefined;
}

type Predecessor = Pick<StoredEvent, 'sequenceNumber' | 'version'>;

/** @param onPageDone as that of columnPages */
export async function verifyEvents(
  context: VerifyContext,
  saved: SavedEvents | undefined,
  onPageDone: (state: () => SavedEvents) => void,
): Promise<void> {
  const { damages, found, progress, view } = context;
  let partition = saved?.partition;
  let previous = saved?.previous;
  const state = (): SavedEvents => ({
    partition,
    previous: previous && { sequenceNumber: previous.sequenceNumber, version: previous.version },
  });
  for await (const page of columnPages(context, EVENTS, { onPageDone: () => onPageDone(state) })) {
    for (const row of page) {
      if (partition === undefined || !row.partition.equals(partition)) {
        partition = row.partition;
        previous = undefined;
      }
      const event = damages.decodedNow(() => decodeEventRow(row.partition, row));
      if (event === undefined) {
        previous = undefined;
        continue;
      }
      if (event.version > view.head.version) {
        reportAbove(context, EVENTS, row);
        continue;
      }
      if (event.version >= progress.clearedBelow) found.add(EVENTS, row, row.value);
      if (previous !== undefined) checkSuccessor(context, row, previous, event);
      previous = event;
    }
  }
}

function checkSuccessor(
  { damages, pinned, progress }: VerifyContext,
  row: ScannedRow,
  previous: Predecessor,
  event: StoredEvent,
): void {
  if (event.sequenceNumber !== previous.sequenceNumber + 1n) {
    const expected = previous.sequenceNumber + 1n;
    damages.row(EVENTS, row, `it follows event ${expected - 1n}: event ${expected} is missing`);
  }
  if (event.version < previous.version) {
    const detail = `it is of version ${event.version}, the event before of ${previous.version}`;
    damages.row(EVENTS, row, detail, event.version);
  }
  const isPinned = pinned.has(decodeStreamId(row.partition).address);
  if (event.version < progress.clearedBelow && !isPinned) {
    damages.row(EVENTS, row, 'the event before it was pruned, and yet is there', event.version);
  }
}
