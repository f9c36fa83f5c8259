/**
 * Deletes the values of state that cleared versions superseded, for many keys together. The newest row of a key at its
 * last cleared write determines which rows are deleted, so the older rows are not read.
 */
import { addressFromBytes } from '../../move/types/address.ts';
import type { Batch } from '../batch.ts';
import { type Column, type Row, type RowKey, STATE } from '../columns/columns.ts';
import { encodeU64Key } from '../columns/order-key.ts';
import type { PinnedAccounts } from '../columns/pruning-column.ts';
import { decodeStateRow, type StateEntry } from '../columns/state-column.ts';
import { rowsOfKey } from '../columns/state-key-column.ts';
import type { VersionWrites, WrittenKey } from '../columns/version-writes-column.ts';
import { type PartitionRange, rowsBetween, type StoreReader } from '../store.ts';
import { keyText } from '../store-error.ts';

/**
 * For a key under another address, returns the version from which a pinned account retains it, or `undefined` if none
 * does. The store itself does not know the owners of objects.
 * @param entries writes of the key, the newest first
 */
export type PinnedObject = (key: WrittenKey, entries: readonly StateEntry[]) => bigint | undefined;

export interface Retained {
  readonly accounts: PinnedAccounts;
  readonly objectSince: PinnedObject;
}

/** A key, and the cleared versions that wrote it, ascending. */
interface ClearedKey {
  readonly key: WrittenKey;
  readonly name: string;
  readonly versions: bigint[];
}

interface DeletedKey {
  readonly hash: Buffer;
  readonly physical: Buffer;
  readonly version: bigint;
}

export class SupersededState {
  readonly #store: StoreReader;
  readonly #batch: Batch;
  readonly #retained: Retained;
  /** The last cleared write of each key, by key hash. Older rows are deleted. */
  readonly #cleared = new Map<string, bigint>();
  /** The last deleted row of each key, by key hash. */
  readonly #deleted = new Map<string, bigint>();
  readonly #deletedKeyRows = new Set<string>();

  /** @param batch gets the changes */
  constructor(store: StoreReader, batch: Batch, retained: Retained) {
    this.#store = store;
    this.#batch = batch;
    this.#retained = retained;
  }

  /**
   * Notes what some writes superseded, and what they deleted.
   * @param writes by version, ascending
   * @throws RowDamagedError
   */
  async clear(writes: ReadonlyMap<bigint, VersionWrites>): Promise<void> {
    const keys = this.#keysIn(writes);
    const found = await this.#store.rangeMany(
      STATE,
      keys.map((key) => this.#newestRows(key)),
    );
    const deleted: DeletedKey[] = [];
    for (const [index, key] of keys.entries()) {
      const gone = await this.#clearKey(key, found[index]!);
      if (gone !== undefined) deleted.push(gone);
    }
    await this.#forgetKeys(deleted);
  }

  /** Adds the deletions to the batch, one range for each key. */
  finish(): void {
    for (const [name, last] of this.#deleted) {
      const to = encodeU64Key(last);
      this.#batch.deleteRange(STATE, Buffer.from(name, 'latin1'), { to });
    }
  }

  #keysIn(writes: ReadonlyMap<bigint, VersionWrites>): ClearedKey[] {
    const byName = new Map<string, ClearedKey>();
    for (const [version, { keys }] of writes) {
      for (const key of keys) {
        if (this.#isRetainedAt(key.owner, version)) continue;
        const name = key.hash.toString('latin1');
        const known = byName.get(name);
        if (known === undefined) byName.set(name, { key, name, versions: [version] });
        else known.versions.push(version);
      }
    }
    return [...byName.values()];
  }

  /** The newest row decides what is deleted. Whether an object is pinned may depend on older rows. */
  #newestRows({ key, name, versions }: ClearedKey): PartitionRange {
    return {
      partition: key.hash,
      from: this.#firstLeft(name),
      to: encodeU64Key(versions[versions.length - 1]!),
      limit: this.#hasPinned ? rowsAround(versions) : 1,
      reverse: true,
    };
  }

  async #clearKey(cleared: ClearedKey, rows: readonly Row[]): Promise<DeletedKey | undefined> {
    const { hash } = cleared.key;
    const version = this.#hasPinned
      ? await this.#lastClearedWrite(cleared, rows)
      : cleared.versions[cleared.versions.length - 1]!;
    if (version === undefined) return undefined;
    this.#cleared.set(cleared.name, version);
    const order = encodeU64Key(version);
    const newest = rows.find((row) => Buffer.compare(row.order, order) <= 0);
    if (newest === undefined) return undefined;
    const entry = decodeStateRow(hash, newest);
    const isDeletion = entry.bytes === undefined;
    const last = isDeletion ? entry.version : entry.version - 1n;
    if (last >= 0n) this.#deleted.set(cleared.name, last);
    const physical = entry.deletedKey;
    return physical === undefined ? undefined : { hash, physical, version };
  }

  /** The last write that no pinned account retains. Each write is judged by the rows that remain after earlier ones. */
  async #lastClearedWrite(cleared: ClearedKey, rows: readonly Row[]): Promise<bigint | undefined> {
    const { key, versions } = cleared;
    let entries: readonly StateEntry[] = rows.map((row) => decodeStateRow(key.hash, row));
    let hasAllRows = rows.length < rowsAround(versions);
    let last: bigint | undefined;
    for (const version of versions) {
      let since = this.#retained.objectSince(key, upTo(entries, version));
      if (since === undefined && !hasAllRows) {
        // The object may have a long retained history, and its newest values do not name the owner: reads all of it.
        entries = await this.#allEntries(cleared);
        hasAllRows = true;
        since = this.#retained.objectSince(key, upTo(entries, version));
      }
      if (since !== undefined && version > since) continue;
      last = version;
      entries = entries.filter((entry) => entry.version >= version);
      hasAllRows = true;
    }
    return last;
  }

  async #allEntries({ key: { hash }, name, versions }: ClearedKey): Promise<StateEntry[]> {
    const bounds = { from: this.#firstLeft(name), to: encodeU64Key(versions.at(-1)!) };
    const entries: StateEntry[] = [];
    for await (const row of rowsBetween(this.#store, STATE, hash, bounds)) {
      entries.push(decodeStateRow(hash, row));
    }
    return entries.reverse();
  }

  /** The lowest row of a key that this step retains so far; `undefined` if it has not cleared the key. */
  #firstLeft(name: string): Buffer | undefined {
    const cleared = this.#cleared.get(name);
    return cleared === undefined ? undefined : encodeU64Key(cleared);
  }

  /** Deletes the keys whose last row is deleted. They are unknown until they are written again. */
  async #forgetKeys(deleted: readonly DeletedKey[]): Promise<void> {
    const later = await this.#store.rangeMany(
      STATE,
      deleted.map(({ hash, version }) => ({
        partition: hash,
        from: encodeU64Key(version + 1n),
        limit: 1,
      })),
    );
    for (const [index, { physical, hash }] of deleted.entries()) {
      if (later[index]!.length === 0) await this.#forgetKey(physical, hash);
    }
  }

  /** Deletes the end of a long key first, then the branches to which nothing else is attached. */
  async #forgetKey(physical: Buffer, hash: Buffer): Promise<void> {
    const rows = rowsOfKey(physical, hash);
    for (const [level, row] of [...rows.entries()].reverse()) {
      this.#batch.delete(row.column, row.partition, row.order);
      this.#deletedKeyRows.add(keyText(row));
      if (level === 0 || (await this.#hasKeys(row))) return;
    }
  }

  /** Whether the partition of a key's row has rows that this step does not delete. */
  async #hasKeys({ column, partition }: RowKey & { readonly column: Column }): Promise<boolean> {
    for await (const { order } of rowsBetween(this.#store, column, partition, {})) {
      if (!this.#deletedKeyRows.has(keyText({ partition, order }))) return true;
    }
    return false;
  }

  get #hasPinned(): boolean {
    return this.#retained.accounts.size > 0;
  }

  /** Rows superseded up to the version from which a history is complete do not belong to the history. */
  #isRetainedAt(owner: Buffer, version: bigint): boolean {
    if (!this.#hasPinned) return false;
    const since = this.#retained.accounts.get(addressFromBytes(owner));
    return since !== undefined && version > since;
  }
}

/** Counts the rows of some writes, the one they superseded, and one more, which shows whether there are older ones. */
function rowsAround(versions: readonly bigint[]): number {
  return versions.length + 2;
}

function upTo(entries: readonly StateEntry[], version: bigint): readonly StateEntry[] {
  return entries.filter((entry) => entry.version <= version);
}
