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
  findCommitted(view: LedgerView): MaybePromise<Buffer | undefined>;
  readonly canWait: boolean;
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
  async find(query: PendingQuery): Promise<Found | undefined> {
    const { hash, headers } = query;
    const { state } = await this.#ledger.view();
    let foreign = await this.#source.transactionByHash(hash, state.chainId, headers);
    // The ledger may have received it meanwhile.
    let { view, item } = await this.#lookUp(query);
    if (item === undefined && foreign !== undefined) {
      // It was pruned here and will not return.
      if (foreign.version !== undefined && foreign.version <= view.state.version) return undefined;
      if (query.canWait) ({ view, item } = await this.#wait(query, { view }));
      // A chain may have dropped it meanwhile.
      if (item === undefined && this.#source.changed !== undefined) {
        foreign = await this.#source.transactionByHash(hash, state.chainId, headers);
      }
    }
    if (item !== undefined) return { view, item };
    return foreign?.signed === undefined ? undefined : { view, signed: foreign.signed };
  }

  async #wait(query: PendingQuery, first: LookupResult): Promise<LookupResult> {
    if (this.#waiting >= MAX_WAITING) return first;
    this.#waiting += 1;
    let last = first;
    try {
      const deadlineMs = performance.now() + this.#waitMs;
      while (last.item === undefined && performance.now() < deadlineMs) {
        const isGone = await this.#nextChange(query);
        last = await this.#lookUp(query, last);
        if (isGone) break;
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
    const timeout = new AbortController();
    const limit = delay(this.#waitMs, undefined, timeout).catch(() => undefined);
    await Promise.race([changed.call(this.#source), limit]);
    timeout.abort();
    return (await this.#source.transactionByHash(hash, 0, headers)) === undefined;
  }

  /** Looks it up in the newest view, unless that view was checked before. */
  async #lookUp({ findCommitted }: PendingQuery, last?: LookupResult): Promise<LookupResult> {
    const view = await this.#ledger.view();
    return view === last?.view ? last : { view, item: await findCommitted(view) };
  }
}

interface LookupResult {
  readonly view: LedgerView;
  readonly item?: Buffer | undefined;
}
