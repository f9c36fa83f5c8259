/**
 * The state of a ledger while versions are run in order. Writes of versions after the stored ones are read from here;
 * other recent reads and writes are cached. Nothing is written to the store.
 */
import { copiedBytes } from '../cache.ts';
import { andThen, type MaybePromise, together } from '../maybe-promise.ts';
import { type WriteSetEntry, writtenValue } from '../move/transactions/write-set.ts';
import { type HashedStateKey, hashedStateKey, stateKeyId } from '../move/types/state-key.ts';
import type { LedgerSource, StateSource } from '../state/source.ts';
import type { Head } from '../store/columns/head.ts';
import type { StateEntry } from '../store/columns/state-column.ts';

/** Maximum bytes of cached values; beyond it, all cached stored values are dropped together. */
const MAX_CACHED_BYTES = 32 * 1024 * 1024;
/** Memory of an entry besides its value. */
const ENTRY_BYTES = 400;

/** A write of a version that is not stored; without an entry the key has no value. */
interface UnstoredWrite {
  readonly version: bigint;
  readonly entry: StateEntry | undefined;
}

export class RecentState implements StateSource {
  readonly #entries = new Map<string, StateEntry | undefined>();
  /** Writes of versions that are not stored yet, oldest first, by the hash of the key. */
  readonly #unstored = new Map<string, UnstoredWrite[]>();
  #bytes = 0;
  readonly #sourceAt: (head: Head) => LedgerSource;
  #stored: LedgerSource;
  /** The newest stored version, or -1 if there is none. */
  #storedVersion: bigint;
  /** The version that the entries are of. */
  #version: bigint | undefined;

  /**
   * @param sourceAt opens stored data for reading at a head
   * @param isEmpty whether the head stands for an empty store
   */
  constructor(sourceAt: (head: Head) => LedgerSource, head: Head, isEmpty = false) {
    this.#sourceAt = sourceAt;
    this.#stored = sourceAt(head);
    this.#storedVersion = isEmpty ? -1n : head.version;
  }

  get source(): LedgerSource {
    return this.#stored;
  }

  /** The version whose state is read without the store where possible. */
  get version(): bigint | undefined {
    return this.#version;
  }

  state(key: HashedStateKey, version: bigint): MaybePromise<StateEntry | undefined> {
    const storedVersion = this.#storedVersion;
    if (version <= storedVersion && version !== this.#version) {
      return this.#stored.state.state(key, version);
    }
    const id = stateKeyId(key);
    const unstored = this.#unstored.get(id)?.findLast((written) => written.version <= version);
    if (unstored !== undefined) return unstored.entry;
    const known = this.#entries.get(id);
    if (known !== undefined || this.#entries.has(id) || storedVersion < 0n) return known;
    const at = version > storedVersion ? storedVersion : version;
    return andThen(this.#stored.state.state(key, at), (entry) => {
      if (version === this.#version) this.#remember(id, entry);
      return entry;
    });
  }

  stateMany(keys: readonly HashedStateKey[], version: bigint) {
    return together(keys.map((key) => () => this.state(key, version)));
  }

  stateWrites(...query: Parameters<StateSource['stateWrites']>) {
    return this.#stored.state.stateWrites(...query);
  }

  accountKeys(...query: Parameters<StateSource['accountKeys']>) {
    return this.#stored.state.accountKeys(...query);
  }

  /** Unknown, because the index of stored data lacks unstored versions. */
  balance(): undefined {
    return undefined;
  }

  balances(...query: Parameters<StateSource['balances']>) {
    return this.#stored.state.balances(...query);
  }

  /** Moves to the state after a version, which is stored. */
  goTo(version: bigint): void {
    if (version === this.#version) return;
    this.#clear();
    this.#unstored.clear();
    this.#version = version;
  }

  /**
   * Moves to the next version.
   * @param writes all its writes
   * @param isStored whether the store has them already; otherwise `markStored` says when it does
   */
  advance(writes: readonly WriteSetEntry[], isStored: boolean): void {
    if (this.#version === undefined) return;
    const version = this.#version + 1n;
    this.#version = version;
    for (const { key, op } of writes) {
      const id = stateKeyId(hashedStateKey(key));
      const value = writtenValue(op);
      const entry = value && { version, ...value, deletedKey: undefined };
      if (isStored) this.#remember(id, entry);
      else {
        const before = this.#unstored.get(id);
        if (before === undefined) this.#unstored.set(id, [{ version, entry }]);
        else before.push({ version, entry });
      }
    }
  }

  /** Notes that the store now has all versions up to the head. */
  markStored(head: Head): void {
    this.#stored = this.#sourceAt(head);
    this.#storedVersion = head.version;
    for (const [id, written] of this.#unstored) {
      const left = written.filter(({ version }) => version > head.version);
      const newest = written[written.length - left.length - 1];
      if (newest !== undefined) this.#remember(id, newest.entry);
      if (left.length === 0) this.#unstored.delete(id);
      else this.#unstored.set(id, left);
    }
  }

  #remember(id: string, entry: StateEntry | undefined): void {
    this.#bytes += ENTRY_BYTES + (entry?.bytes?.length ?? 0);
    if (this.#bytes > MAX_CACHED_BYTES) this.#clear();
    // A cached value must not keep the page that it is a part of alive.
    this.#entries.set(id, entry && { ...entry, bytes: entry.bytes && copiedBytes(entry.bytes) });
  }

  #clear(): void {
    this.#entries.clear();
    this.#bytes = 0;
  }
}
