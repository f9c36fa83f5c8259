/**
 * Decides for each key whether it was pruned. Below the oldest version only pinned accounts have a history, each from
 * the version on from which it is complete.
 *
 * No read is answered from half-pruned state. A view may be older than the newest pruning. A row that is found is
 * correct anyway (src/store/pruning/prune-step.ts). A missing row is trusted only while nothing visible to the view can
 * have been deleted; otherwise the head is read again. Deleting begins READER_GRACE_MS after the new oldest version was
 * published. So a view whose head was the newest within half of that time need not read it again, and a request that is
 * answered right after the view was opened never does.
 */
import { andThen, type MaybePromise, settle } from '../maybe-promise.ts';
import type { Address } from '../move/types/address.ts';
import type { HashedStateKey } from '../move/types/state-key.ts';
import type { StreamId } from '../store/columns/event-column.ts';
import { type Head, openHead } from '../store/columns/head.ts';
import {
  PINNED_ACCOUNT,
  type PinnedAccounts,
  READER_GRACE_MS,
} from '../store/columns/pruning-column.ts';
import type { StateEntry } from '../store/columns/state-column.ts';
import type { EventPage, EventPageQuery } from '../store/read/event-pages.ts';
import type { StoreReader } from '../store/store.ts';
import { EventGapError, StoreError } from '../store/store-error.ts';
import { LedgerError, versionPruned } from './ledger-error.ts';
import type { EventSource, LedgerSource, StateSource } from './source.ts';

/** How long a view is trusted after its head was seen to be the newest, in milliseconds. */
export const TRUSTED_MS = READER_GRACE_MS / 2;
/** How long after a move to another server a request may still have read from the previous one, in milliseconds. */
const DOUBTFUL_MOVE_MS = 30_000;

export class PruningGuard {
  readonly #store: StoreReader;
  readonly #state: StateSource;
  readonly #events: EventSource;
  readonly #head: Head;
  readonly #pinned: PinnedAccounts;
  #confirmedMs: number;

  /**
   * @param pinned the accounts whose history is retained, read no earlier than the head's oldest version was published
   * @param confirmedMs when the view's head was the newest, a time of `performance.now()`
   */
  constructor(
    store: StoreReader,
    source: LedgerSource,
    pinned: PinnedAccounts,
    confirmedMs: number,
  ) {
    this.#store = store;
    this.#state = source.state;
    this.#events = source.events;
    this.#head = source.head;
    this.#pinned = pinned;
    this.#confirmedMs = confirmedMs;
  }

  /** Notes that the view's head was the newest at `atMs`, a time of `performance.now()`. */
  confirm(atMs: number): void {
    this.#confirmedMs = Math.max(this.#confirmedMs, atMs);
  }

  /**
   * The version to read at. If the data belongs to an account, the account's retained history counts.
   * @throws LedgerError `version_not_found`, `version_pruned`
   */
  resolveVersion(requestedVersion: bigint | undefined, account?: Address): bigint {
    const { version, oldestVersion } = this.#head;
    if (requestedVersion === undefined) return version;
    if (requestedVersion > version) {
      throw new LedgerError(
        'version_not_found',
        `Ledger version not found by Ledger version(${requestedVersion})`,
      );
    }
    if (requestedVersion >= oldestVersion) return requestedVersion;
    const since = account === undefined ? undefined : this.#pinned.get(account);
    if (since === undefined || since > requestedVersion) throw versionPruned(requestedVersion);
    return requestedVersion;
  }

  /**
   * A page of a stream, which is retained as far back as its account. A gap that pruning caused after the view was
   * opened is reported as pruned. @throws EventGapError, RowDamagedError
   */
  eventPage(stream: StreamId, query: EventPageQuery): MaybePromise<EventPage> {
    return this.#eventPageSince(this.#head.oldestVersion, stream, query);
  }

  #eventPageSince(
    oldestVersion: bigint,
    stream: StreamId,
    query: EventPageQuery,
  ): MaybePromise<EventPage> {
    const view = this.#events.eventStream(stream, this.#headOf(stream.address, oldestVersion));
    /** Uses what was found, or reads the page again if more has been pruned since. */
    const recheck = async (found: () => EventPage): Promise<EventPage> => {
      const newest = await this.#newestHead();
      return newest.oldestVersion === oldestVersion
        ? found()
        : await this.#eventPageSince(newest.oldestVersion, stream, query);
    };
    return settle<EventPage, EventPage>(
      () => view.page(query),
      (page) => {
        const isAbsent = page.events.length === 0 && page.pruned === undefined;
        return isAbsent && !this.#isTrusted ? recheck(() => page) : page;
      },
      (error) => {
        if (!(error instanceof EventGapError)) throw error;
        return recheck(() => {
          throw error;
        });
      },
    );
  }

  oldestVersionOf(account: Address): bigint {
    return this.#headOf(account, this.#head.oldestVersion).oldestVersion;
  }

  #headOf(account: Address, oldestVersion: bigint): Head {
    const since = this.#pinned.get(account) ?? oldestVersion;
    if (since >= this.#head.oldestVersion && oldestVersion === this.#head.oldestVersion) {
      return this.#head;
    }
    return { ...this.#head, oldestVersion: since < oldestVersion ? since : oldestVersion };
  }

  /**
   * The value of a state key after a version; `undefined` if it has none.
   * @param account the account that the key belongs to; absent if it belongs to none
   * @throws LedgerError `version_pruned` if the value may be missing because it was pruned
   */
  state(
    account: Address | undefined,
    key: HashedStateKey,
    version: bigint,
  ): MaybePromise<StateEntry | undefined> {
    return andThen(
      this.#state.state(key, version),
      (entry) => entry ?? this.#absent(version, account),
    );
  }

  /** Returns if all data of a version is still there. @throws LedgerError `version_pruned` */
  assertRetained(version: bigint, account?: Address): MaybePromise<void> {
    return this.#absent(version, account) as MaybePromise<void>;
  }

  async isPruned(version: bigint): Promise<boolean> {
    return version < (await this.#newestHead()).oldestVersion;
  }

  async isBlockPruned(height: bigint): Promise<boolean> {
    const { oldestBlockHeight } = await this.#newestHead();
    return height < oldestBlockHeight;
  }

  #absent(version: bigint, account: Address | undefined): MaybePromise<StateEntry | undefined> {
    const isTrusted = version >= this.#head.oldestVersion && this.#isTrusted;
    return isTrusted ? undefined : this.#recheck(version, account);
  }

  /** Whether nothing that the view shows from its oldest version on can have been deleted. */
  get #isTrusted(): boolean {
    return performance.now() - this.#confirmedMs < TRUSTED_MS;
  }

  /**
   * The current head, for a read that missed a row. The row may have been deleted on the server that was read from
   * before; the head of a server that is not known to be up to date may not show that pruning yet.
   * @throws StoreError `store_behind` if this process has recently moved to such a server
   */
  async #newestHead(): Promise<Head> {
    const head = await openHead(this.#store);
    const { server } = this.#store;
    if (server === undefined || server.unconfirmedMs < TRUSTED_MS) return head;
    if (server.doubtfulMoveAgeMs > DOUBTFUL_MOVE_MS) return head;
    const message = 'the server that is read from now may lack what the one before had: ask again';
    throw new StoreError('store_behind', message);
  }

  async #recheck(version: bigint, account: Address | undefined): Promise<undefined> {
    const { oldestVersion } = await this.#newestHead();
    if (version >= oldestVersion) return undefined;
    const since =
      account === undefined ? undefined : await PINNED_ACCOUNT.get(this.#store, account);
    if (since === undefined || since > version) throw versionPruned(version);
    return undefined;
  }
}
