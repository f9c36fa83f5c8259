/**
 * The history of a sample ledger as drafts: blocks with signed transactions, events and write sets, not hashed yet.
 * Drafts are what the generator's thread hands to the one that hashes and commits. They pass between threads as bytes:
 * transferring one buffer costs a tenth of cloning thousands of objects. Both sides are the same program, so lengths
 * are trusted and there is no version number.
 */
import { BcsReader } from '../../move/bcs/bcs-reader.ts';
import { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import {
  readExecutionStatus,
  writeExecutionStatus,
} from '../../move/transactions/transaction-info.ts';
import { SampleError, type SampleHistory } from '../settings.ts';
import type { Outcome } from './recorder.ts';
import { type BlockPosition, SampleLedger } from './sample-ledger.ts';

export interface DraftRequest {
  readonly settings: SampleHistory;
  /** The block after which the part begins; absent: it begins with genesis. */
  readonly after: BlockPosition | undefined;
  /** Version that the part reaches; its last block is completed. */
  readonly end: bigint;
  readonly stepTransactions: number;
  /** Versions per second by which new blocks follow the wall clock; 0 for the sample's own clock. */
  readonly wallRate: number;
}

/** The genesis file, or the transactions of consecutive whole blocks. */
export type DraftStep =
  | { readonly kind: 'genesis'; readonly bytes: Buffer }
  | { readonly kind: 'blocks'; readonly outcomes: readonly Outcome[] };

/** Generates a part of a history, step by step. @throws SampleError `not_this_sample` */
export function* makeDrafts(request: DraftRequest): Generator<DraftStep, void, undefined> {
  const { settings, after, end, stepTransactions, wallRate } = request;
  const ledger = new SampleLedger(settings, after === undefined);
  if (after === undefined) {
    yield { kind: 'genesis', bytes: ledger.takeGenesis() };
  } else if (!ledger.replayTo(after)) {
    throw new SampleError(
      'not_this_sample',
      `a sample ledger of seed ${settings.seed} with ${settings.accounts} accounts has no block ` +
        `${after.blockHeight} that ends at version ${after.version}: this ledger is another one`,
    );
  }
  while (ledger.nextVersion < end) {
    const full = ledger.nextVersion + BigInt(stepTransactions);
    const outcomes: Outcome[] = [];
    while (ledger.nextVersion < end && ledger.nextVersion < full) {
      ledger.chooseClock(wallRate);
      for (const outcome of ledger.nextBlock()) outcomes.push(outcome);
    }
    yield { kind: 'blocks', outcomes };
  }
}

/** One for all steps: it grows to the size of the largest. */
const writer = new BcsWriter();
/** Minimum bytes of an outcome: far less than any has. */
const MIN_OUTCOME_BYTES = 16;

/** The bytes of drafts, in a new buffer. */
export function encodeDrafts(outcomes: readonly Outcome[]): Uint8Array<ArrayBuffer> {
  writer.reset();
  writer.vector(outcomes, (to, outcome) => {
    to.bytes(outcome.transaction).u32(outcome.gasUsed);
    writeExecutionStatus(to, outcome.status);
    to.option(outcome.indexInBlock, (inner, index) => inner.u32(index));
    to.vector(outcome.events, (inner, event) => inner.bytes(event));
    to.bytes(outcome.writeSet);
  });
  return new Uint8Array(writer.view());
}

/** Decodes drafts; their buffers reference the bytes. */
export function decodeDrafts(bytes: Uint8Array): Outcome[] {
  const reader = new BcsReader(bytes);
  const outcomes = reader.vector(MIN_OUTCOME_BYTES, (from) => ({
    transaction: from.bytes(),
    gasUsed: from.u32(),
    status: readExecutionStatus(from),
    indexInBlock: from.option((inner) => inner.u32()),
    events: from.vector(1, (inner) => inner.bytes()),
    writeSet: from.bytes(),
  }));
  reader.finish();
  return outcomes;
}
