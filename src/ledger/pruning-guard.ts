/**
 * Says what of a ledger was pruned, key by key: below the oldest version only the history of kept
 * accounts can be asked, from the version on that it is whole from.
 *
 * It also sees to it that nothing is answered from half-pruned state. A view may be older than the
 * newest pruning. A row that is found is right all the same (src/store/pruning/prune-step.ts); absence is
 * trusted only while nothing that the view shows can have been deleted, and otherwise the head is
 * read again. Deleting begins READER_GRACE_MS after the new oldest version was published; so a view
 * whose head was still the newest half of that ago needs no second look, and a request that is
 * answered at once never pays for one.
 */

import type { MaybePromise } from '../maybe-promise.ts';
import type { Address } from '../move/types/address.ts';
import type { StreamId } from '../store/columns/event-column.ts';
import { type Head, openHead } from '../store/columns/head.ts';
import {
  PINNED_ACCOUNT,
  type PinnedAccounts,
  READER_GRACE_MS,
} from '../store/columns/pruning-column.ts';
import type { StateEntry } from '../store/columns/state-column.ts';
import { type EventPage, type EventPageQuery, EventStreamView } from '../store/event-pages.ts';
import type { StoreReader } from '../store/store.ts';
import { EventGapError } from '../store/store-error.ts';
import { resolveVersion, versionPruned } from './resolve-version.ts';
import type { StateReader } from './state-reader.ts';

/** How long a view is trusted after its head was seen to be the newest, in milliseconds. */
export const TRUSTED_MS = READER_GRACE_MS / 2;

/** What of one view was pruned. */
export class PruningGuard {
  readonly #store: StoreReader;
  readonly #head: Head;
  readonly #kept: PinnedAccounts;
  #confirmedMs: number;

  /** @param kept the kept accounts, read no earlier than the head's oldest version was published */
  constructor(store: StoreReader, head: Head, kept: PinnedAccounts) {
    this.#store = store;
    this.#head = head;
    this.#kept = kept;
    this.#confirmedMs = performance.now();
  }

  /** Says that the view's head is the newest, now. */
  confirm(): void {
    this.#confirmedMs = performance.now();
  }

  /**
   * The version to read at, of things that belong to an account when one is given.
   * @throws LedgerError `version_not_found`, `version_pruned`
   */
  resolveVersion(asked: bigint | undefined, account?: Address): bigint {
    if (asked !== undefined && asked < this.#head.oldestVersion && account !== undefined) {
      const since = this.#kept.get(account);
      if (since !== undefined && since <= asked) return asked;
    }
    return resolveVersion(this.#head, asked);
  }

  /**
   * A page of a stream, which is kept as far back as its account. A gap that pruning has made since
   * the view was taken comes out as what it is: pruned.
   * @throws EventGapError, RowDamagedError
   */
  async eventPage(stream: StreamId, query: EventPageQuery): Promise<EventPage> {
    let { oldestVersion } = this.#head;
    for (;;) {
      try {
        const head = this.#headOf(stream.address, oldestVersion);
        return await new EventStreamView(this.#store, head, stream).page(query);
      } catch (error) {
        if (!(error instanceof EventGapError)) throw error;
        const newest = await openHead(this.#store);
        if (newest.oldestVersion === oldestVersion) throw error;
        ({ oldestVersion } = newest);
      }
    }
  }

  /** The version from which the history of an account is whole at this view. */
  oldestVersionOf(account: Address): bigint {
    return this.#headOf(account, this.#head.oldestVersion).oldestVersion;
  }

  #headOf(account: Address, oldestVersion: bigint): Head {
    const since = this.#kept.get(account) ?? oldestVersion;
    if (since >= this.#head.oldestVersion && oldestVersion === this.#head.oldestVersion) {
      return this.#head;
    }
    return { ...this.#head, oldestVersion: since < oldestVersion ? since : oldestVersion };
  }

  /**
   * Makes a state reader see what was pruned: it throws LedgerError `version_pruned` where nothing
   * is found because it is gone.
   * @param account whose keys it reads; absent: keys of nobody whose history is kept
   */
  reader(read: StateReader, account?: Address): StateReader {
    return (keyHash, version) => {
      const entry = read(keyHash, version);
      if (entry instanceof Promise) {
        return entry.then((found) => found ?? this.#absent(version, account));
      }
      return entry ?? this.#absent(version, account);
    };
  }

  /**
   * Passes when what belongs to a version is all there, now.
   * @throws LedgerError `version_pruned`
   */
  assertKept(version: bigint, account?: Address): MaybePromise<void> {
    return this.#absent(version, account) as MaybePromise<void>;
  }

  /** Whether a block is gone, now. */
  async isBlockPruned(height: bigint): Promise<boolean> {
    const { oldestBlockHeight } = await openHead(this.#store);
    return height < oldestBlockHeight;
  }

  #absent(version: bigint, account: Address | undefined): MaybePromise<StateEntry | undefined> {
    const isTrusted =
      version >= this.#head.oldestVersion && performance.now() - this.#confirmedMs < TRUSTED_MS;
    return isTrusted ? undefined : this.#lookAgain(version, account);
  }

  async #lookAgain(version: bigint, account: Address | undefined): Promise<undefined> {
    const { oldestVersion } = await openHead(this.#store);
    if (version >= oldestVersion) return undefined;
    const since =
      account === undefined ? undefined : await PINNED_ACCOUNT.get(this.#store, account);
    if (since === undefined || since > version) throw versionPruned(version);
    return undefined;
  }
}
