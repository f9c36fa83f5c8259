/**
 * Drafts as bytes, to pass between threads: one buffer that changes hands without being copied costs a tenth of
 * cloning thousands of objects. Both sides are the same program, so lengths are believed and nothing is versioned.
 */
import { BcsReader } from '../../move/bcs-reader.ts';
import { BcsWriter } from '../../move/bcs-writer.ts';
import { readHash, writeHash } from '../../move/fixed-bytes.ts';
import { readExecutionStatus, writeExecutionStatus } from '../../move/transaction-info.ts';
import type { Block } from '../../store/block-column.ts';
import type { BlockDraft } from './drafts.ts';
import { SPAN_FIELDS } from './effects.ts';
import type { Outcome } from './recorder.ts';

const BUFFER_BYTES = 1024 * 1024;
/** Fewest bytes of an outcome or a block: far less than any has. */
const MIN_ITEM_BYTES = 16;

/** The bytes of drafts, in a buffer of their own. */
export function encodeDrafts(drafts: readonly BlockDraft[]): Uint8Array<ArrayBuffer> {
  const writer = new BcsWriter(BUFFER_BYTES);
  writer.vector(drafts, writeDraft);
  const bytes = new Uint8Array(writer.length);
  bytes.set(writer.view());
  return bytes;
}

/** The drafts of such bytes; their buffers are views on them. */
export function decodeDrafts(bytes: Uint8Array): BlockDraft[] {
  const reader = new BcsReader(bytes);
  const drafts = reader.vector(MIN_ITEM_BYTES, readDraft);
  reader.finish();
  return drafts;
}

function writeDraft(writer: BcsWriter, { block, epochEnd, outcomes }: BlockDraft): void {
  writer.u64(block.height).u64(block.firstVersion).u64(block.epoch).u64(block.round);
  writer.u64(block.timestampUsecs);
  writeHash(writer, block.id);
  writer.option(epochEnd, (to, end) => to.u64(end.epoch).u64(end.lastVersion));
  writer.vector(outcomes, writeOutcome);
}

function readDraft(reader: BcsReader): BlockDraft {
  const block: Block = {
    height: reader.u64(),
    firstVersion: reader.u64(),
    epoch: reader.u64(),
    round: reader.u64(),
    timestampUsecs: reader.u64(),
    id: readHash(reader),
  };
  const epochEnd = reader.option((from) => {
    const epoch = from.u64();
    return { epoch, lastVersion: from.u64() };
  });
  return { block, epochEnd, outcomes: reader.vector(MIN_ITEM_BYTES, readOutcome) };
}

function writeOutcome(writer: BcsWriter, outcome: Outcome): void {
  writer.bytes(outcome.transaction).u32(outcome.gasUsed);
  writeExecutionStatus(writer, outcome.status);
  writer.option(outcome.indexInBlock, (to, index) => to.u32(index));
  writer.vector(outcome.events, (to, event) => to.uleb32(event.typeTagBytes).bytes(event.bytes));
  const { bytes, spans } = outcome.writeSet;
  writer.bytes(bytes).length32(spans.length / SPAN_FIELDS);
  for (const offset of spans) writer.u32(offset);
}

function readOutcome(reader: BcsReader): Outcome {
  const transaction = reader.bytes();
  const gasUsed = reader.u32();
  const status = readExecutionStatus(reader);
  const indexInBlock = reader.option((from) => from.u32());
  const events = reader.vector(2, (from) => {
    const typeTagBytes = from.uleb32();
    return { bytes: from.bytes(), typeTagBytes };
  });
  const bytes = reader.bytes();
  const spanCount = reader.length(SPAN_FIELDS * 4) * SPAN_FIELDS;
  const spans: number[] = [];
  for (let index = 0; index < spanCount; index += 1) spans.push(reader.u32());
  return { transaction, gasUsed, status, indexInBlock, events, writeSet: { bytes, spans } };
}
