/**
 * Drafts as bytes, to pass between threads: one buffer that changes hands without being copied costs a tenth of
 * cloning thousands of objects. Both sides are the same program, so lengths are believed and nothing is versioned.
 */
import { BcsReader } from '../../move/bcs/bcs-reader.ts';
import { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import {
  readExecutionStatus,
  writeExecutionStatus,
} from '../../move/transactions/transaction-info.ts';
import type { Outcome } from './recorder.ts';

const BUFFER_BYTES = 1024 * 1024;
/** Fewest bytes of an outcome: far less than any has. */
const MIN_ITEM_BYTES = 16;

/** The bytes of drafts, in a buffer of their own. */
export function encodeDrafts(outcomes: readonly Outcome[]): Uint8Array<ArrayBuffer> {
  const writer = new BcsWriter(BUFFER_BYTES);
  writer.vector(outcomes, writeOutcome);
  const bytes = new Uint8Array(writer.length);
  bytes.set(writer.view());
  return bytes;
}

/** The drafts of such bytes; their buffers are views on them. */
export function decodeDrafts(bytes: Uint8Array): Outcome[] {
  const reader = new BcsReader(bytes);
  const outcomes = reader.vector(MIN_ITEM_BYTES, readOutcome);
  reader.finish();
  return outcomes;
}

function writeOutcome(writer: BcsWriter, outcome: Outcome): void {
  writer.bytes(outcome.transaction).u32(outcome.gasUsed);
  writeExecutionStatus(writer, outcome.status);
  writer.option(outcome.indexInBlock, (to, index) => to.u32(index));
  writer.vector(outcome.events, (to, event) => to.bytes(event));
  writer.bytes(outcome.writeSet);
}

function readOutcome(reader: BcsReader): Outcome {
  const transaction = reader.bytes();
  const gasUsed = reader.u32();
  const status = readExecutionStatus(reader);
  const indexInBlock = reader.option((from) => from.u32());
  const events = reader.vector(1, (from) => from.bytes());
  return { transaction, gasUsed, status, indexInBlock, events, writeSet: reader.bytes() };
}
