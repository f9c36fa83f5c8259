/**
 * Makes a ledger of the state at one version, with nothing before it: what a snapshot or a backup contains. Values come
 * in the order of their key hashes, so that the root is computed while they are stored, and part by part, so that a run
 * that was killed is continued.
 *
 * Such a ledger begins after that version: of it there is the state, but no transaction, event or block. The head says
 * so by an oldest block that does not exist yet; with the next block the ledger is like a pruned one.
 */
import { MerkleAccumulator } from '../move/crypto/accumulator.ts';
import { HASH_BYTES } from '../move/crypto/hash.ts';
import { StateRootBuilder } from '../move/crypto/sparse-merkle.ts';
import { transactionInfoHash } from '../move/transactions/transaction-info.ts';
import { stateKeyHash } from '../move/types/state-key.ts';
import { type StateValue, stateValueHash } from '../move/types/state-value.ts';
import { type BalanceWrite, balanceWriteOf, putBalances } from './balance-index.ts';
import { Batch } from './batch.ts';
import { checkStateKey } from './chunk-rows.ts';
import { EVENTS, type ScannedRow, STATE } from './columns/columns.ts';
import { HEAD_ROW, type Head, readHead } from './columns/head.ts';
import { IMPORT, LEDGER_IDENTITY, type LedgerIdentity } from './columns/identity-column.ts';
import { encodeU64Key } from './columns/order-key.ts';
import { PRUNE_PROGRESS } from './columns/pruning-column.ts';
import { encodeStateRow } from './columns/state-column.ts';
import { putKey, rowsOfKey } from './columns/state-key-column.ts';
import type { Store } from './store.ts';
import { StoreError } from './store-error.ts';

/** The version after which a ledger begins. */
export interface LedgerBase {
  readonly identity: LedgerIdentity;
  readonly version: bigint;
  /** BCS of its TransactionInfo. */
  readonly info: Uint8Array;
  /** The accumulator's full subtrees before the version, the largest first. */
  readonly rootsBefore: readonly Buffer[];
  /** Of the block that ends with the version. */
  readonly timestampUsecs: bigint;
  readonly epoch: bigint;
  readonly blockHeight: bigint;
}

export interface ImportedValue extends StateValue {
  /** The physical state key. */
  readonly key: Buffer;
}

/** The transaction accumulator after the version of a base. */
export function accumulatorAfter({ info, rootsBefore, version }: Omit<LedgerBase, 'identity'>) {
  const accumulator = new MerkleAccumulator('TransactionAccumulator', version, rootsBefore);
  accumulator.append(transactionInfoHash(info));
  return accumulator;
}

export class StateImport {
  readonly #store: Store;
  readonly #source: Buffer;
  readonly #version: bigint;
  readonly #root: StateRootBuilder;
  #parts: bigint;
  #committed: Promise<unknown> = Promise.resolve();

  private constructor(
    store: Store,
    source: Buffer,
    version: bigint,
    { parts, root }: { readonly parts: bigint; readonly root: StateRootBuilder },
  ) {
    this.#store = store;
    this.#source = source;
    this.#version = version;
    this.#parts = parts;
    this.#root = root;
  }

  /**
   * Begins an import into an empty store, or continues one.
   * @param source what identifies it, 32 bytes: nothing else is continued
   * @param version of the state
   * @throws StoreError `import_of_other` when the store has anything else
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
    const parts = progress?.parts ?? 0n;
    const root = progress === undefined ? undefined : StateRootBuilder.restore(progress.root);
    return new StateImport(store, source, version, { parts, root: root ?? new StateRootBuilder() });
  }

  /** Parts that are stored, of values and of events. */
  get parts(): bigint {
    return this.#parts;
  }

  /** Values so far. */
  get keys(): number {
    return this.#root.count;
  }

  /** The root over all values so far. */
  get stateRoot(): Buffer {
    return this.#root.rootHash();
  }

  /** The computation of the root so far, to try values that are not stored yet. */
  rootCopy(): StateRootBuilder {
    return StateRootBuilder.restore(this.#root.save());
  }

  /**
   * Stores the next values as one part, after everything added before; their buffers must stay unchanged. Resolves when
   * the next part may come; `settle` waits for the disk.
   * @throws LeafOrderError; StoreError `chunk_state_key` and those of Store.commit
   */
  async addValues(values: readonly ImportedValue[]): Promise<void> {
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
    await this.#committed;
    // What this part adds to a balance may follow from an earlier one, so state is read as it is after the version.
    await putBalances(batch, this.#store, balances, version + 1n);
    this.#commit(batch);
  }

  /**
   * Stores rows of events as one part: the newest event of each stream up to the version. Nobody can prove them; they
   * tell how far the streams had come, and are never shown.
   */
  async addStreamEnds(rows: readonly ScannedRow[]): Promise<void> {
    const batch = new Batch();
    for (const { partition, order, value } of rows) batch.put(EVENTS, partition, order, value);
    await this.#committed;
    this.#commit(batch);
  }

  /** Resolves when all parts are on disk. @throws StoreError */
  async settle(): Promise<void> {
    await this.#committed;
  }

  /** Makes the ledger of what was added, whose root the caller has compared. @returns its head */
  async begin(base: LedgerBase): Promise<Head> {
    await this.#committed;
    const known = await readHead(this.#store);
    if (known !== undefined) return known;
    const { leafCount, frozenSubtreeRoots: frozenRoots } = accumulatorAfter(base);
    const { version, timestampUsecs, epoch, blockHeight } = base;
    const head: Head = {
      ...{ version, timestampUsecs, epoch, blockHeight, frozenRoots },
      oldestVersion: version,
      oldestBlockHeight: blockHeight + 1n,
    };
    const batch = new Batch();
    LEDGER_IDENTITY.put(batch, undefined, base.identity);
    PRUNE_PROGRESS.put(batch, undefined, { clearedBelow: leafCount, frozenRoots });
    HEAD_ROW.publish(batch, undefined, head);
    await this.#store.commit(batch);
    return head;
  }

  /** Forgets that the ledger was imported: the last step. */
  async end(): Promise<void> {
    const batch = new Batch();
    IMPORT.delete(batch, undefined);
    await this.#store.commit(batch);
  }

  #commit(batch: Batch): void {
    this.#parts += 1n;
    const progress = { source: this.#source, parts: this.#parts, root: this.#root.save() };
    IMPORT.put(batch, undefined, progress);
    this.#committed = this.#store.commit(batch);
    // Awaited by the next part; until then a failure is not "unhandled".
    this.#committed.catch(() => undefined);
  }
}
