/** Checks streams of events, module events and their index: that they decode, are contiguous, and were emitted. */
import { EVENTS, MODULE_EVENTS, type ScannedRow } from '../store/columns/columns.ts';
import {
  decodeEventRow,
  decodeModuleEventRow,
  decodeStreamId,
  encodeStreamId,
  type StoredEvent,
} from '../store/columns/event-column.ts';
import { encodeU64Key } from '../store/columns/order-key.ts';
import {
  nameUnwrittenRows,
  noteAbove,
  rowsByVersion,
  scanColumn,
  type VerifyContext,
} from './context.ts';
import { EventTypeExaminer } from './event-type-index.ts';

export async function verifyEvents(context: VerifyContext): Promise<void> {
  const rows = await checkStreams(context);
  if (rows !== context.reached.events) {
    await nameUnwrittenRows(
      context,
      EVENTS,
      async (row) =>
        (await context.damages.decoded(() => decodeEventRow(row.partition, row)))?.version,
      ({ events }, { partition, order }) =>
        events.some(
          (event) =>
            encodeStreamId(event).equals(partition) &&
            encodeU64Key(event.sequenceNumber).equals(order),
        ),
    );
  }
  await checkModuleEvents(context);
}

/** Checks that each stream is contiguous. Gives how many rows versions that are not cleared have. */
async function checkStreams(context: VerifyContext): Promise<bigint> {
  const { damages, progress, view } = context;
  let rows = 0n;
  let partition: Buffer | undefined;
  let previous: StoredEvent | undefined;
  for await (const row of scanColumn(context, EVENTS)) {
    if (partition === undefined || !row.partition.equals(partition)) {
      partition = row.partition;
      previous = undefined;
    }
    const event = await damages.decoded(() => decodeEventRow(row.partition, row));
    if (event === undefined) {
      previous = undefined;
      continue;
    }
    if (event.version > view.head.version) {
      noteAbove(context, EVENTS, row);
      continue;
    }
    if (event.version >= progress.clearedBelow) rows += 1n;
    if (previous !== undefined) checkSuccessor(context, row, previous, event);
    previous = event;
  }
  return rows;
}

function checkSuccessor(
  { damages, pinned, progress }: VerifyContext,
  row: ScannedRow,
  previous: StoredEvent,
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

async function checkModuleEvents(context: VerifyContext): Promise<void> {
  const { damages, progress, reached } = context;
  const types = new EventTypeExaminer(context);
  let rows = 0n;
  for await (const { row, version } of rowsByVersion(context, MODULE_EVENTS)) {
    rows += 1n;
    const event = await damages.decoded(() => decodeModuleEventRow(row), version);
    if (event !== undefined) await types.add(version, event.typeTag);
    if (version < progress.clearedBelow) {
      damages.row(MODULE_EVENTS, row, 'its version was pruned, and yet it is there', version);
    }
  }
  if (rows !== reached.moduleEvents) {
    const detail = `${rows} rows, ${reached.moduleEvents} were found by their versions`;
    damages.column(MODULE_EVENTS, detail);
  }
  await types.finish();
}
