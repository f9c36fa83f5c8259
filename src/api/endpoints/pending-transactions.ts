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
import type { Upstream } from '../upstream.ts';

/** A source of transactions that this ledger does not have: another node, or the chain of this process. */
type PendingSource = Pick<Upstream, 'transactionByHash'> & {
  /** Resolves when its transactions may have changed; absent: the ledger is polled. */
  changed?(): Promise<unknown>;
};

/** How long a request waits for this ledger to have a transaction, in milliseconds. */
const WAIT_MS = 1_000;
/** How often the ledger is polled if the source has no `changed`, in milliseconds. */
const POLL_INTERVAL_MS = 20;
/** Maximum waiting requests of one process; further ones are answered immediately. */
export const MAX_WAITING = 100;

interface PendingQuery {
  readonly hash: Uint8Array;
  readonly headers: IncomingHttpHeaders;
  own(view: LedgerView): MaybePromise<Buffer | undefined>;
  readonly waits: boolean;
}

/** The committed transaction from a newer view, or the pending one as signed. */
type Found =
  | { readonly view: LedgerView; readonly item: Buffer; readonly signed?: undefined }
  | { readonly view: LedgerView; readonly item?: undefined; readonly signed: Buffer };

export class PendingTransactions {
  readonly #ledger: LedgerReader;
  readonly #source: PendingSource;
  readonly #waitMs: number;
  #waiting = 0;

  constructor(ledger: LedgerReader, source: PendingSource, waitMs = WAIT_MS) {
    this.#ledger = ledger;
    this.#source = source;
    this.#waitMs = waitMs;
  }

  /** @returns undefined if the transaction is unknown, or was pruned here @throws ApiError 503 */
  async find(wanted: PendingQuery): Promise<Found | undefined> {
    const { hash, headers } = wanted;
    const { state } = await this.#ledger.view();
    let theirs = await this.#source.transactionByHash(hash, state.chainId, headers);
    // The ledger may have received it meanwhile.
    let { view, item } = await this.#look(wanted);
    if (item === undefined && theirs !== undefined) {
      // It was pruned here and will not return.
      if (theirs.version !== undefined && theirs.version <= view.state.version) return undefined;
      if (wanted.waits) ({ view, item } = await this.#wait(wanted, { view }));
      // A chain may have dropped it meanwhile.
      if (item === undefined && this.#source.changed !== undefined) {
        theirs = await this.#source.transactionByHash(hash, state.chainId, headers);
      }
    }
    if (item !== undefined) return { view, item };
    return theirs?.signed === undefined ? undefined : { view, signed: theirs.signed };
  }

  async #wait(wanted: PendingQuery, looked: LookupResult): Promise<LookupResult> {
    if (this.#waiting >= MAX_WAITING) return looked;
    this.#waiting += 1;
    let last = looked;
    try {
      const deadlineMs = performance.now() + this.#waitMs;
      while (last.item === undefined && performance.now() < deadlineMs) {
        const isDropped = await this.#nextChange(wanted);
        last = await this.#look(wanted, last);
        if (isDropped) break;
      }
    } finally {
      this.#waiting -= 1;
    }
    return last;
  }

  /** @returns whether the chain of this process no longer has it, because it is committed or dropped */
  async #nextChange({ hash, headers }: PendingQuery): Promise<boolean> {
    const { changed } = this.#source;
    if (changed === undefined) {
      await delay(POLL_INTERVAL_MS);
      return false;
    }
    const over = new AbortController();
    const limit = delay(this.#waitMs, undefined, over).catch(() => undefined);
    await Promise.race([changed.call(this.#source), limit]);
    over.abort();
    return (await this.#source.transactionByHash(hash, 0, headers)) === undefined;
  }

  /** Looks it up in the newest view, unless that view was checked before. */
  async #look({ own }: PendingQuery, last?: LookupResult): Promise<LookupResult> {
    const view = await this.#ledger.view();
    return view === last?.view ? last : { view, item: await own(view) };
  }
}

interface LookupResult {
  readonly view: LedgerView;
  readonly item?: Buffer | undefined;
}
