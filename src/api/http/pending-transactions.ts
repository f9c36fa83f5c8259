/**
 * Transactions that this ledger does not have yet. Clients wait for their transactions here and read here afterwards,
 * so a transaction is pending until this ledger has it, even if the upstream has committed it
 * (docs/spec/transactions.md §1.5).
 */
import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { LedgerView } from '../../ledger/ledger-view.ts';
import type { LedgerReader } from '../../ledger/open.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import type { Upstream } from './upstream.ts';

/** How long a request waits for this ledger to have a transaction, in milliseconds. */
const WAIT_MS = 1_000;
/** How often it is looked for, in milliseconds. */
const POLL_INTERVAL_MS = 20;
/** Requests of one process that wait; further ones are answered at once. */
export const MAX_WAITING = 100;

interface Wanted {
  readonly hash: Uint8Array;
  /** Of the request. */
  readonly headers: IncomingHttpHeaders;
  /** Looks for it in this ledger. */
  own(view: LedgerView): MaybePromise<Buffer | undefined>;
  /** Whether to wait for this ledger to have it. */
  readonly waits: boolean;
}

/** The transaction of a newer view, or as a user signed it. */
type Found =
  | { readonly view: LedgerView; readonly item: Buffer; readonly signed?: undefined }
  | { readonly view: LedgerView; readonly item?: undefined; readonly signed: Buffer };

export class PendingTransactions {
  readonly #ledger: LedgerReader;
  readonly #upstream: Upstream;
  readonly #waitMs: number;
  #waiting = 0;

  constructor(ledger: LedgerReader, upstream: Upstream, waitMs = WAIT_MS) {
    this.#ledger = ledger;
    this.#upstream = upstream;
    this.#waitMs = waitMs;
  }

  /** @returns undefined when the upstream has no such transaction either @throws ApiError 503 */
  async find(wanted: Wanted): Promise<Found | undefined> {
    const { hash, headers } = wanted;
    const { state } = await this.#ledger.view();
    const theirs = await this.#upstream.transactionByHash(hash, state.chainId, headers);
    // The ledger may have got it meanwhile.
    let { view, item } = await this.#look(wanted);
    if (item === undefined && theirs !== undefined) {
      // Pruned here: it will not come again.
      if (theirs.version !== undefined && theirs.version <= view.state.version) return undefined;
      if (wanted.waits) ({ view, item } = await this.#wait(wanted, { view }));
    }
    if (item !== undefined) return { view, item };
    return theirs?.signed === undefined ? undefined : { view, signed: theirs.signed };
  }

  async #wait(wanted: Wanted, looked: Looked): Promise<Looked> {
    if (this.#waiting >= MAX_WAITING) return looked;
    this.#waiting += 1;
    let last = looked;
    try {
      const deadlineMs = performance.now() + this.#waitMs;
      while (last.item === undefined && performance.now() < deadlineMs) {
        await delay(POLL_INTERVAL_MS);
        last = await this.#look(wanted, last);
      }
    } finally {
      this.#waiting -= 1;
    }
    return last;
  }

  /** Looks at the newest view, unless that was looked at before. */
  async #look({ own }: Wanted, last?: Looked): Promise<Looked> {
    const view = await this.#ledger.view();
    return view === last?.view ? last : { view, item: await own(view) };
  }
}

interface Looked {
  readonly view: LedgerView;
  readonly item?: Buffer | undefined;
}
