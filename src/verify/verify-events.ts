/**
 * Checks streams of events and module events: that they decode, hang together, and were emitted.
 */

import type { ScannedRow } from '../store/columns/column.ts';
import { EVENTS, MODULE_EVENTS, VERSION_WRITES } from '../store/columns/columns.ts';
import {
  decodeEventRow,
  decodeModuleEventRow,
  decodeStreamId,
  type StoredEvent,
} from '../store/columns/event-column.ts';
import { decodeBucketKey, encodeBucketKey } from '../store/columns/order-key.ts';
import { decodeVersionWrites } from '../store/columns/version-writes-column.ts';
import { noteAbove, scanColumn, type VerifyContext } from './verify-context.ts';

/** Checks events and module_events. */
export async function verifyEvents(context: VerifyContext): Promise<void> {
  const rows = await checkStreams(context);
  if (rows !== context.reached.events) await nameUnemittedEvents(context);
  await checkModuleEvents(context);
}

/**
 * Checks that each stream is contiguous. Gives how many rows versions that are not cleared have.
 */
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
  { damages, kept, progress }: VerifyContext,
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
  const isKept = kept.has(decodeStreamId(row.partition).address);
  if (event.version < progress.clearedBelow && !isKept) {
    damages.row(EVENTS, row, 'the event before it was pruned, and yet is there', event.version);
  }
}

/** There are more or fewer events than versions emitted: finds those that no version emitted. */
async function nameUnemittedEvents(context: VerifyContext): Promise<void> {
  const { damages, progress, store, view } = context;
  const before = damages.count;
  for await (const row of scanColumn(context, EVENTS)) {
    const event = await damages.decoded(() => decodeEventRow(row.partition, row));
    if (event === undefined) continue;
    const { version } = event;
    if (version < progress.clearedBelow || version > view.head.version) continue;
    const { partition, order } = encodeBucketKey(version);
    const value = await store.get(VERSION_WRITES, partition, order);
    const writes =
      value && (await damages.decoded(() => decodeVersionWrites({ partition, order }, value)));
    const { address, creationNumber } = decodeStreamId(row.partition);
    const isEmitted = writes?.events.some(
      (emitted) =>
        emitted.address === address &&
        emitted.creationNumber === creationNumber &&
        emitted.sequenceNumber === event.sequenceNumber,
    );
    if (isEmitted !== true) damages.row(EVENTS, row, 'its version did not emit it', version);
  }
  if (damages.count > before) return;
  damages.add({ column: EVENTS.name, detail: 'it has not the events that the versions emitted' });
}

async function checkModuleEvents(context: VerifyContext): Promise<void> {
  const { damages, progress, reached, view } = context;
  let rows = 0n;
  for await (const row of scanColumn(context, MODULE_EVENTS)) {
    const version = decodeBucketKey(row.partition, row.order);
    if (version > view.head.version) {
      noteAbove(context, MODULE_EVENTS, row);
      break;
    }
    rows += 1n;
    await damages.decoded(() => decodeModuleEventRow(row), version);
    if (version < progress.clearedBelow) {
      damages.row(MODULE_EVENTS, row, 'its version was pruned, and yet it is there', version);
    }
  }
  if (rows !== reached.moduleEvents) {
    const detail = `${rows} rows, ${reached.moduleEvents} were found by their versions`;
    damages.add({ column: MODULE_EVENTS.name, detail });
  }
}
