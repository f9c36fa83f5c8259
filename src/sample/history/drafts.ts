/**
 * The history of a sample ledger as drafts: blocks with signed transactions, events and write sets, not hashed yet.
 * Drafts are what the generator's thread hands to the one that hashes and commits (draft-codec.ts).
 */
import type { Head } from '../../store/columns/head.ts';
import type { SampleSettings } from '../framework/genesis-resources.ts';
import { SampleError } from '../sample-error.ts';
import { SampleLedger } from '../sample-ledger.ts';
import type { Outcome } from './recorder.ts';

/** What a continuation needs to know of the ledger that is there. */
export type SampleHead = Pick<Head, 'version' | 'blockHeight' | 'timestampUsecs' | 'frozenRoots'>;

/** A stretch of a history. */
export interface DraftRequest {
  readonly settings: SampleSettings;
  /** Where the stretch begins; absent: with genesis. */
  readonly after: Omit<SampleHead, 'frozenRoots'> | undefined;
  /** Version that the stretch reaches; its last block is completed. */
  readonly end: bigint;
  /** Fewest transactions of a step. */
  readonly stepTransactions: number;
}

/** The genesis file, or the transactions of whole blocks that follow one another. */
export type DraftStep =
  | { readonly kind: 'genesis'; readonly bytes: Buffer }
  | { readonly kind: 'blocks'; readonly outcomes: readonly Outcome[] };

/** Makes a stretch of a history, step by step. @throws SampleError `not_this_sample` */
export function* makeDrafts(request: DraftRequest): Generator<DraftStep, void, undefined> {
  const { settings, after, end, stepTransactions } = request;
  const ledger = new SampleLedger(settings);
  if (after === undefined) yield { kind: 'genesis', bytes: ledger.genesis() };
  else replay(ledger, settings, after);
  while (ledger.nextVersion < end) {
    const full = ledger.nextVersion + BigInt(stepTransactions);
    const outcomes: Outcome[] = [];
    while (ledger.nextVersion < end && ledger.nextVersion < full) {
      for (const outcome of ledger.nextBlock()) outcomes.push(outcome);
    }
    yield { kind: 'blocks', outcomes };
  }
}

function replay(
  ledger: SampleLedger,
  settings: SampleSettings,
  after: NonNullable<DraftRequest['after']>,
): void {
  const isReached = ledger.replayTo(after.version + 1n);
  const { chain } = ledger.world;
  const isSameBlock = BigInt(chain.height) === after.blockHeight;
  if (isReached && isSameBlock && BigInt(chain.now) === after.timestampUsecs) return;
  throw new SampleError(
    'not_this_sample',
    `a sample ledger of seed ${settings.seed} with ${settings.accounts} accounts has no block ` +
      `${after.blockHeight} that ends at version ${after.version}: this ledger is another one`,
  );
}
