/** Polls for newer heads: one poll at a time serves everything that waits for one. */
import { setTimeout as delay } from 'node:timers/promises';
import type { LedgerView } from '../../ledger/ledger-view.ts';
import type { LedgerReader } from '../../ledger/open.ts';

/** How often the ledger is polled while something waits, in milliseconds. */
const POLL_INTERVAL_MS = 10;

export class HeadWatch {
  readonly #ledger: LedgerReader;
  #nextPoll: Promise<LedgerView> | undefined;

  constructor(ledger: LedgerReader) {
    this.#ledger = ledger;
  }

  /** The view at the next poll. Rejects with what `LedgerReader.view` throws. */
  next(): Promise<LedgerView> {
    this.#nextPoll ??= delay(POLL_INTERVAL_MS).then(() => {
      this.#nextPoll = undefined;
      return this.#ledger.view();
    });
    return this.#nextPoll;
  }
}
