/**
 * Creates a ledger from the state at one version, which comes from a snapshot or a backup (docs/data-layout.md,
 * "Ledgers of a snapshot"). Values arrive in the order of their key hashes, so that the root is computed while they are
 * stored. They arrive in parts, so that a run that was killed can be resumed.
 */
import { HASH_BYTES } from '../../move/crypto/hash.ts';
import { StateRootBuilder } from '../../move/crypto/sparse-merkle.ts';
import { stateKeyHash } from '../../move/types/state-key.ts';
import { type StateValue, stateValueHash } from '../../move/types/state-value.ts';
import { Batch } from '../batch.ts';
import { EVENTS, type ScannedRow, STATE } from '../columns/columns.ts';
import { HEAD_ROW, type Head, readHead } from '../columns/head.ts';
import { IMPORT, LEDGER_IDENTITY, type LedgerIdentity } from '../columns/identity-column.ts';
import { encodeU64Key } from '../columns/order-key.ts';
import { PRUNE_PROGRESS } from '../columns/pruning-column.ts';
import { encodeStateRow } from '../columns/state-column.ts';
import { putKey, rowsOfKey } from '../columns/state-key-column.ts';
import type { Store } from '../store.ts';
import { StoreError } from '../store-error.ts';
import { type BalanceWrite, balanceWriteOf, putBalances } from './balance-index.ts';
import { checkStateKey } from './chunk-rows.ts';

/** The version after which a ledger begins, with the time and the epoch of the block that ends there. */
export interface LedgerBase extends Omit<Head, 'oldestVersion' | 'oldestBlockHeight'> {
  readonly identity: LedgerIdentity;
}

export interface ImportedValue extends StateValue {
  readonly key: Buffer;
}

export class StateImport {
  readonly #store: Store;
  readonly #source: Buffer;
  readonly #version: bigint;
  readonly #root: StateRootBuilder;
  #committed: Promise<unknown> = Promise.resolve();

  private constructor(store: Store, source: Buffer, version: bigint, root: StateRootBuilder) {
    this.#store = store;
    this.#source = source;
    this.#version = version;
    this.#root = root;
  }

  /**
   * Starts an import into an empty store, or resumes one.
   * @param source identifies the import, 32 bytes; an import with a different source is not resumed
   * @param version of the state
   * @throws StoreError `import_of_other` when the store contains anything else
   */
  static async open(store: Store, source: Buffer, version: bigint): Promise<StateImport> {
    if (source.length !== HASH_BYTES) throw new RangeError(`a source of ${source.length} bytes`);
    const progress = await IMPORT.get(store, undefined);
    const isOther =
      progress === undefined
        ? (await store.scan(STATE, { maxRows: 1, maxBytes: 1 })).length > 0
        : !progress.source.equals(source);
    if (isOther) {
      throw new StoreError('import_of_other', 'the store has something else than this import');
    }
    const root =
      progress === undefined ? new StateRootBuilder() : StateRootBuilder.restore(progress.root);
    return new StateImport(store, source, version, root);
  }

  get keys(): number {
    return this.#root.count;
  }

  get stateRoot(): Buffer {
    return this.#root.rootHash();
  }

  /** A copy of the root's computation so far, to try values that are not stored yet. */
  rootCopy(): StateRootBuilder {
    return StateRootBuilder.restore(this.#root.save());
  }

  /**
   * Stores the next values as one part, after everything added before. Their buffers must stay unchanged. Resolves when
   * the next part may be added; `settle` waits for the disk.
   * @param streamEnds the newest events of streams up to the version. They cannot be proven. They only say how far the
   *   streams had come, and are never shown
   * @throws LeafOrderError; StoreError `chunk_state_key` and those of Store.commit
   */
  async add(
    values: readonly ImportedValue[],
    streamEnds: readonly ScannedRow[] = [],
  ): Promise<void> {
    const version = this.#version;
    const order = encodeU64Key(version);
    const batch = new Batch();
    const balances: BalanceWrite[] = [];
    for (const value of values) {
      const { key, bytes, metadata } = value;
      checkStateKey(key, version);
      const hash = stateKeyHash(key);
      this.#root.add(hash, stateValueHash(value));
      batch.put(STATE, hash, order, encodeStateRow(key, bytes, metadata));
      putKey(batch, rowsOfKey(key, hash), key, version);
      const write = balanceWriteOf(key, bytes, version);
      if (write !== undefined) balances.push(write);
    }
    for (const { partition, order, value } of streamEnds) {
      batch.put(EVENTS, partition, order, value);
    }
    await this.#committed;
    // A balance may depend on an earlier part, so this reads the state at the imported version.
    await putBalances(batch, this.#store, balances, version + 1n);
    this.#commit(batch);
  }

  async settle(): Promise<void> {
    await this.#committed;
  }

  /** Creates the ledger from all added values. The caller has verified their root. @returns its head */
  async begin(base: LedgerBase): Promise<Head> {
    await this.#committed;
    const known = await readHead(this.#store);
    if (known !== undefined) return known;
    const { identity, ...last } = base;
    const { version, frozenRoots } = last;
    const head = { ...last, oldestVersion: version, oldestBlockHeight: last.blockHeight + 1n };
    const batch = new Batch();
    LEDGER_IDENTITY.put(batch, undefined, identity);
    PRUNE_PROGRESS.put(batch, undefined, { clearedBelow: version + 1n, frozenRoots });
    HEAD_ROW.publish(batch, undefined, head);
    await this.#store.commit(batch);
    return head;
  }

  /** Deletes the progress of the import. This is the last step. */
  async end(): Promise<void> {
    const batch = new Batch();
    IMPORT.delete(batch, undefined);
    await this.#store.commit(batch);
  }

  #commit(batch: Batch): void {
    IMPORT.put(batch, undefined, { source: this.#source, root: this.#root.save() });
    this.#committed = this.#store.commit(batch);
    // The next part awaits it. Until then this prevents an unhandled rejection.
    this.#committed.catch(() => undefined);
  }
}
