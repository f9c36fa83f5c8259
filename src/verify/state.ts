/**
 * Reads all state once: its rows are summed up (versions.ts has the sums of what versions wrote), its root is computed,
 * and its keys are compared with the known ones. Keys without an account are in the same order as state; those of
 * accounts are compared by sums too (row-sums.ts), and only if these differ, each is looked up.
 */
import { checkpointUpTo } from '../ingest/checkpoint.ts';
import { BcsError } from '../move/bcs/bcs-reader.ts';
import { StateRootBuilder } from '../move/crypto/sparse-merkle.ts';
import { stateKeyHash } from '../move/types/state-key.ts';
import { stateValueHash } from '../move/types/state-value.ts';
import { type ScannedRow, STATE, STATE_KEYS } from '../store/columns/columns.ts';
import { decodeU64Key } from '../store/columns/order-key.ts';
import { decodeStateRow, type StateEntry } from '../store/columns/state-column.ts';
import { isAccountKey } from '../store/columns/state-key-column.ts';
import { isTransient, StoreError } from '../store/store-error.ts';
import { isPhysicalKey, type KnownKeys } from './account-keys.ts';
import { columnPages, DamageList, RowCursor, reportAbove, type VerifyContext } from './context.ts';
import { NO_VALUE } from './row-sums.ts';

/** How far state was examined. */
export interface SavedState {
  /** The key of the last row. */
  readonly hash: Uint8Array | undefined;
  /** The hash of the newest value of that key, as far as it was read. */
  readonly valueHash: Uint8Array | undefined;
  readonly olderRows: number;
  readonly hasUndecoded: boolean;
  readonly root: Uint8Array;
}

interface StateRun {
  /** Gets the keys that have state and should be those of accounts. */
  readonly keys: KnownKeys;
  /** Progress of the run that is continued. */
  readonly saved: SavedState | undefined;
  /** As that of columnPages. */
  onPageDone(state: () => SavedState): void;
}

/**
 * @returns the version at which the root was compared; `undefined` if no recent info states one, or state is damaged
 */
export async function verifyState(
  context: VerifyContext,
  { keys, saved, onPageDone }: StateRun,
): Promise<bigint | undefined> {
  const { damages, digests } = context;
  const checkpoint = await newestCheckpoint(context);
  const state = new StateExaminer(context, keys, checkpoint?.version ?? -1n, saved);
  const options = { onPageDone: () => onPageDone(() => state.save()) };
  for await (const page of columnPages(context, STATE, options)) {
    for (const row of page) {
      if (!state.isInKey(row)) await state.beginKey(row);
      state.examine(row);
    }
  }
  const root = await state.finish();
  // Unreadable and undecodable rows are reported; the root differs then.
  const isWhole = !state.hasUndecoded && digests.get(STATE) !== undefined;
  if (checkpoint === undefined || !isWhole) return undefined;
  const { version, stateRoot } = checkpoint;
  if (!root.equals(stateRoot)) {
    const [computed, expected] = [root.toString('hex'), stateRoot.toString('hex')];
    damages.column(
      STATE,
      `its root is ${computed}, the transaction info says ${expected}`,
      version,
    );
  }
  return version;
}

async function newestCheckpoint({ view }: VerifyContext) {
  try {
    return await checkpointUpTo(view, view.head.version);
  } catch (error) {
    // Infos that cannot be read or do not decode are reported by the check of versions.
    if (error instanceof BcsError) return undefined;
    if (error instanceof StoreError && !isTransient(error)) return undefined;
    throw error;
  }
}

class StateExaminer {
  readonly #context: VerifyContext;
  readonly #keys: KnownKeys;
  readonly #otherKeys: RowCursor;
  readonly #root: StateRootBuilder;
  readonly #rootVersion: bigint;
  /** The run before this one has examined the other keys up to this one. */
  readonly #examinedTo: Uint8Array | undefined;
  #hash: Buffer | undefined;
  /** The newest entry of the key up to the version of the root; or the hash of its value, of the run before. */
  #newest: StateEntry | Buffer | undefined;
  #olderRows: number;
  hasUndecoded: boolean;

  constructor(
    context: VerifyContext,
    keys: KnownKeys,
    rootVersion: bigint,
    saved: SavedState | undefined,
  ) {
    this.#context = context;
    this.#keys = keys;
    this.#rootVersion = rootVersion;
    this.#otherKeys = new RowCursor(context, STATE_KEYS);
    this.#root =
      saved === undefined ? new StateRootBuilder() : StateRootBuilder.restore(saved.root);
    this.#examinedTo = saved?.hash;
    this.#hash = saved?.hash && Buffer.from(saved.hash);
    this.#newest = saved?.valueHash && Buffer.from(saved.valueHash);
    this.#olderRows = saved?.olderRows ?? 0;
    this.hasUndecoded = saved?.hasUndecoded ?? false;
  }

  save(): SavedState {
    return {
      hash: this.#hash,
      valueHash: this.#newestHash(),
      olderRows: this.#olderRows,
      hasUndecoded: this.hasUndecoded,
      root: this.#root.save(),
    };
  }

  isInKey({ partition }: ScannedRow): boolean {
    return this.#hash?.equals(partition) === true;
  }

  /** Ends the key before, and begins the one whose first row this is. */
  async beginKey(row: ScannedRow): Promise<void> {
    this.#endKey();
    this.#hash = row.partition;
    this.#olderRows = 0;
    const other = await this.#otherKeyUpTo(row.partition);
    const firstVersion = decodeU64Key(row.order);
    const isAbove = firstVersion > this.#context.view.head.version;
    if (other !== undefined) {
      if (isAbove) reportAbove(this.#context, STATE_KEYS, other);
      else this.#checkOtherKey(other);
    } else if (!isAbove) this.#keys.addKeyWithState(row.partition, firstVersion);
  }

  examine(row: ScannedRow): void {
    const { damages, found, identity, pinned, progress, view } = this.#context;
    const version = decodeU64Key(row.order);
    if (version > view.head.version) {
      reportAbove(this.#context, STATE, row);
      return;
    }
    const entry = damages.decodedNow(() => decodeStateRow(row.partition, row), version);
    if (entry === undefined) this.hasUndecoded = true;
    else if (version <= this.#rootVersion) this.#newest = entry;
    const deletedKey = entry?.deletedKey;
    if (deletedKey !== undefined && !stateKeyHash(deletedKey).equals(row.partition)) {
      damages.row(STATE, row, 'the deletion names another key', version);
    }
    if (version >= progress.clearedBelow) {
      // Without transactions the values are unknown.
      found.add(STATE, row, identity.keepsTransactions ? row.value : NO_VALUE);
      return;
    }
    this.#olderRows += 1;
    if (pinned.size === 0 && (this.#olderRows > 1 || deletedKey !== undefined)) {
      damages.row(STATE, row, 'superseded and pruned, but still there', version);
    }
  }

  /** The root of the state, when all rows were examined. */
  async finish(): Promise<Buffer> {
    this.#endKey();
    await this.#otherKeyUpTo(undefined);
    return this.#root.rootHash();
  }

  #endKey(): void {
    const hash = this.#newestHash();
    if (hash !== undefined) this.#root.add(this.#hash!, hash);
    this.#newest = undefined;
  }

  #newestHash(): Buffer | undefined {
    if (Buffer.isBuffer(this.#newest)) return this.#newest;
    const { bytes, metadata } = this.#newest ?? {};
    return bytes && stateValueHash({ bytes, metadata });
  }

  /** Takes the known keys up to a hash, or all. @returns the one with that hash */
  async #otherKeyUpTo(hash: Buffer | undefined): Promise<ScannedRow | undefined> {
    const cursor = this.#otherKeys;
    for (;;) {
      if (cursor.row === undefined) await cursor.loadRow();
      const { row } = cursor;
      if (row === undefined) return undefined;
      const order = hash === undefined ? -1 : Buffer.compare(row.partition, hash);
      if (order > 0) return undefined;
      cursor.take();
      const examinedTo = this.#examinedTo;
      if (examinedTo !== undefined && Buffer.compare(row.partition, examinedTo) <= 0) continue;
      if (order === 0) return row;
      await this.#checkKeyWithoutState(row);
    }
  }

  /** The key has state if its row is damaged or was written since state was read here. */
  async #checkKeyWithoutState(row: ScannedRow): Promise<void> {
    const { damages, store, view } = this.#context;
    this.#checkOtherKey(row);
    const read = async () => store.range(STATE, row.partition, { limit: 1 });
    const rows = await new DamageList().decoded(read);
    if (rows === undefined) return;
    const [first] = rows;
    const isAbove = first !== undefined && decodeU64Key(first.order) > view.head.version;
    if (isAbove) reportAbove(this.#context, STATE_KEYS, row);
    else damages.row(STATE_KEYS, row, 'no version wrote this key');
  }

  #checkOtherKey(row: ScannedRow): void {
    const { damages } = this.#context;
    if (!stateKeyHash(row.value).equals(row.partition)) {
      damages.row(STATE_KEYS, row, 'the key’s hash is another');
    } else if (!isPhysicalKey(row.value)) damages.row(STATE_KEYS, row, 'it is not a state key');
    else if (isAccountKey(row.value)) {
      damages.row(STATE_KEYS, row, 'the key belongs to an account');
    }
  }
}
