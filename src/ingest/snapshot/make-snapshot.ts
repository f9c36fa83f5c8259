/**
 * Makes a snapshot of a ledger in a folder, while others read and write the ledger. What is complete is in a journal,
 * so that a run that was killed is continued by the next.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MerkleAccumulator } from '../../move/crypto/accumulator.ts';
import { StateRootBuilder } from '../../move/crypto/sparse-merkle.ts';
import { transactionInfoHash } from '../../move/transactions/transaction-info.ts';
import { stateValueHash } from '../../move/types/state-value.ts';
import { IDENTITY, STATE, STATE_KEYS } from '../../store/columns/columns.ts';
import { openHead } from '../../store/columns/head.ts';
import { LEDGER_IDENTITY } from '../../store/columns/identity-column.ts';
import { NO_ORDER } from '../../store/columns/order-key.ts';
import { readPruneProgress } from '../../store/columns/pruning-column.ts';
import { type LiveValue, liveState } from '../../store/live-state.ts';
import { getAll, type StoreReader } from '../../store/store.ts';
import { RowDamagedError } from '../../store/store-error.ts';
import { streamEnds } from '../../store/stream-ends.ts';
import { openView, type StoreView } from '../../store/view.ts';
import { type Checkpoint, checkpointUpTo, MAX_CHECKPOINT_DISTANCE } from './checkpoint.ts';
import { ChunkContent } from './chunk-file.ts';
import { KeyFiles } from './key-files.ts';
import { type ChunkEntry, type ChunkKind, encodeManifest, MANIFEST_NAME } from './manifest.ts';
import { SnapshotError } from './snapshot-error.ts';
import { SnapshotJournal } from './snapshot-journal.ts';

const KEYS_FOLDER = 'keys';
const INFOS_AT_ONCE = 1_000;
const TRANSACTIONS_AT_ONCE = 100;

export interface SnapshotRequest {
  /** Of the state; absent: the newest version that states a root. */
  readonly version?: bigint | undefined;
  /** Whether the transactions after that version are in the snapshot too, with their events and infos. */
  readonly withTransactions: boolean;
}

export interface SnapshotProgress {
  /** The plural of what is counted. */
  readonly what: string;
  readonly done: number;
}

export interface MadeSnapshot {
  readonly version: bigint;
  readonly newestVersion: bigint;
  readonly keys: number;
  readonly stateRoot: Buffer;
  readonly accumulatorRoot: Buffer;
  readonly chunks: readonly ChunkEntry[];
}

/**
 * Makes the files of a snapshot in a folder, or continues to; the manifest comes last. The journal is left.
 * @throws SnapshotError `no_checkpoint`, `pruned`, `other_snapshot`, `no_transactions`, `root_contradicts`;
 *   StoreError `ledger_empty` and others
 */
export async function makeSnapshot(
  store: StoreReader,
  folder: string,
  request: SnapshotRequest,
  onProgress: (progress: SnapshotProgress) => void,
): Promise<MadeSnapshot> {
  const view = await openView(store);
  const identity = await LEDGER_IDENTITY.get(store);
  if (identity === undefined) {
    throw new RowDamagedError(IDENTITY, LEDGER_IDENTITY.keyOf(), 'it is missing');
  }
  if (request.withTransactions && !identity.keepsTransactions) {
    throw new SnapshotError('no_transactions', 'the ledger stores no whole transactions');
  }
  let journal = SnapshotJournal.open(folder);
  if ((journal.begun?.version ?? view.head.version) < view.head.oldestVersion) {
    // What was begun cannot be finished any more.
    rmSync(folder, { recursive: true });
    journal = SnapshotJournal.open(folder);
  }
  const { begun } = journal;
  const checkpoint = await checkpointFor(view, begun?.version ?? request.version);
  const { version } = checkpoint;
  const newestVersion =
    begun?.newestVersion ?? (request.withTransactions ? view.head.version : version);
  const isOther =
    begun !== undefined &&
    ((request.version ?? version) !== version ||
      begun.isWithTransactions !== request.withTransactions);
  if (isOther) {
    const message = `an unfinished snapshot of version ${version} is in ${folder}: finish or remove it`;
    throw new SnapshotError('other_snapshot', message);
  }
  journal.begin({ version, newestVersion, isWithTransactions: request.withTransactions });
  const maker = new SnapshotMaker(store, view, folder, journal, onProgress);
  const keys = await maker.makeState(checkpoint);
  await maker.makeStreams(version);
  await maker.makeTransactions(version + 1n, newestVersion);
  const rootsBefore = await maker.rootsBefore(version);
  const { timestampUsecs, epoch, height: blockHeight } = await blockOf(view, version);
  const { chainId, genesisWaypointHash } = identity;
  const { info, stateRoot } = checkpoint;
  const { chunks } = journal;
  journal.finish(
    MANIFEST_NAME,
    encodeManifest({
      ...{ chainId, genesisWaypointHash, version, timestampUsecs, epoch, blockHeight },
      ...{ info, rootsBefore, newestVersion, chunks },
    }),
  );
  rmSync(join(folder, KEYS_FOLDER), { recursive: true, force: true });
  const accumulator = new MerkleAccumulator('TransactionAccumulator', version, rootsBefore);
  accumulator.append(transactionInfoHash(info));
  return {
    ...{ version, newestVersion, keys, stateRoot, chunks },
    accumulatorRoot: accumulator.rootHash(),
  };
}

/** @throws SnapshotError `pruned` */
async function blockOf(view: StoreView, version: bigint) {
  const { head } = view;
  if (version === head.version) return { ...head, height: head.blockHeight };
  const block = await view.blockOfVersion(version);
  // Where it is not retained any more, an older one may be.
  const last = block && (await view.lastVersionOfBlock(block));
  if (block !== undefined && last !== undefined && last >= version) return block;
  throw new SnapshotError('pruned', `the block of version ${version} was pruned meanwhile`);
}

/** @throws SnapshotError `no_checkpoint`, `pruned` */
async function checkpointFor(view: StoreView, asked: bigint | undefined): Promise<Checkpoint> {
  const { oldestVersion, version: newest } = view.head;
  const version = asked ?? newest;
  if (version > newest) {
    throw new SnapshotError('no_checkpoint', `version ${version} is above the newest, ${newest}`);
  }
  if (version < oldestVersion) {
    throw new SnapshotError(
      'pruned',
      `version ${version} is pruned, the oldest is ${oldestVersion}`,
    );
  }
  const checkpoint = await checkpointUpTo(view, version);
  if (checkpoint !== undefined && (asked === undefined || checkpoint.version === asked)) {
    return checkpoint;
  }
  const nearest =
    checkpoint === undefined
      ? `nor do the ${MAX_CHECKPOINT_DISTANCE} versions before it`
      : `the nearest one before it that does is ${checkpoint.version}`;
  const message = `version ${version} states no root of the state (state_checkpoint_hash); ${nearest}`;
  throw new SnapshotError('no_checkpoint', message);
}

class SnapshotMaker {
  readonly #store: StoreReader;
  readonly #view: StoreView;
  readonly #folder: string;
  readonly #journal: SnapshotJournal;
  readonly #onProgress: (progress: SnapshotProgress) => void;
  readonly #content = new ChunkContent();

  constructor(
    store: StoreReader,
    view: StoreView,
    folder: string,
    journal: SnapshotJournal,
    onProgress: (progress: SnapshotProgress) => void,
  ) {
    this.#store = store;
    this.#view = view;
    this.#folder = folder;
    this.#journal = journal;
    this.#onProgress = onProgress;
  }

  /** Writes every value of the version and compares their root. @returns the number of keys */
  async makeState({ version, stateRoot }: Checkpoint): Promise<number> {
    const kind = 'state';
    const journal = this.#journal;
    if (journal.isDone(kind)) return journal.records(kind);
    const keyFolder = join(this.#folder, KEYS_FOLDER);
    const keyFiles = await KeyFiles.make(this.#store, keyFolder, (done) =>
      this.#onProgress({ what: 'keys sorted', done }),
    );
    const cursor = journal.cursor(kind);
    const root =
      cursor === undefined ? new StateRootBuilder() : StateRootBuilder.restore(cursor.subarray(32));
    for await (const page of liveState(this.#store, version, cursor?.subarray(0, 32))) {
      const keys = await this.#keysOf(keyFiles, page);
      for (const [index, value] of page.entries()) {
        root.add(value.keyHash, stateValueHash(value));
        this.#content.addValue(keys[index]!, value);
        if (this.#content.isFull)
          await this.#close(kind, Buffer.concat([value.keyHash, root.save()]));
      }
      this.#onProgress({ what: 'keys', done: root.count });
      await nextTurn();
    }
    const { oldestVersion } = await openHead(this.#store);
    if (version < oldestVersion) {
      throw new SnapshotError('pruned', `version ${version} was pruned meanwhile`);
    }
    if (!root.rootHash().equals(stateRoot)) {
      throw new SnapshotError(
        'root_contradicts',
        `the root of the state at version ${version} is ${root.rootHash().toString('hex')}, the ` +
          `transaction info says ${stateRoot.toString('hex')}: the ledger is damaged, see daybook verify`,
      );
    }
    await this.#close(kind, Buffer.alloc(0));
    journal.done(kind);
    return root.count;
  }

  async #keysOf(keyFiles: KeyFiles, page: readonly LiveValue[]): Promise<readonly Buffer[]> {
    const keys = page.map(({ keyHash }) => keyFiles.keyOf(keyHash));
    const others = page.filter((_, index) => keys[index] === undefined);
    const places = others.map(({ keyHash }) => ({ partition: keyHash, order: NO_ORDER }));
    const found = await getAll(this.#store, STATE_KEYS, places);
    let next = 0;
    return keys.map((key) => {
      if (key !== undefined) return key;
      const other = found[next];
      if (other === undefined)
        throw new RowDamagedError(STATE, places[next]!, 'its key is unknown');
      next += 1;
      return other;
    });
  }

  /** Writes the newest event of each stream. */
  async makeStreams(version: bigint): Promise<void> {
    const kind = 'streams';
    if (this.#journal.isDone(kind)) return;
    let done = this.#journal.records(kind);
    const after = this.#journal.cursor(kind);
    for await (const page of streamEnds(this.#store, this.#view.head, version, after)) {
      for (const row of page) {
        this.#content.addStreamEnd(row);
        if (this.#content.isFull) await this.#close(kind, row.partition);
      }
      done += page.length;
      this.#onProgress({ what: 'streams', done });
      await nextTurn();
    }
    await this.#close(kind, Buffer.alloc(0));
    this.#journal.done(kind);
  }

  /** Writes the transactions from one version to another. */
  async makeTransactions(first: bigint, last: bigint): Promise<void> {
    const kind = 'transactions';
    if (this.#journal.isDone(kind)) return;
    let version = first + BigInt(this.#journal.records(kind));
    while (version <= last) {
      const left = Number(last - version) + 1;
      const items = await this.#view.transactions(version, Math.min(left, TRANSACTIONS_AT_ONCE));
      if (items.length === 0) {
        throw new SnapshotError('pruned', `version ${version} was pruned meanwhile`);
      }
      for (const item of items) {
        this.#content.addTransaction(item);
        if (this.#content.isFull) await this.#close(kind, Buffer.alloc(0));
      }
      version += BigInt(items.length);
      this.#onProgress({ what: 'transactions', done: Number(version - first) });
      await nextTurn();
    }
    await this.#close(kind, Buffer.alloc(0));
    this.#journal.done(kind);
  }

  /** Closes a chunk, unless it is empty. @param cursor where the next one begins */
  async #close(kind: ChunkKind, cursor: Buffer): Promise<void> {
    if (this.#content.records === 0) return;
    const { entry, file } = await this.#content.take(kind, this.#journal.count(kind));
    this.#journal.add(entry, file, cursor);
  }

  /**
   * The full subtrees of the accumulator before a version. At the head only the infos that share the version's last
   * full subtree are read, a dozen on average; elsewhere all before it.
   */
  async rootsBefore(version: bigint): Promise<readonly Buffer[]> {
    const { head } = this.#view;
    const cleared = await readPruneProgress(this.#store);
    if (cleared.clearedBelow > version) {
      throw new SnapshotError('pruned', `what is before version ${version} was pruned meanwhile`);
    }
    const leaves = version + 1n;
    // The last full subtree of a number of leaves has as many as its lowest bit says.
    const first = leaves - (leaves & -leaves);
    const isNear = version === head.version && first >= cleared.clearedBelow;
    const accumulator = isNear
      ? new MerkleAccumulator('TransactionAccumulator', first, head.frozenRoots.slice(0, -1))
      : new MerkleAccumulator('TransactionAccumulator', cleared.clearedBelow, cleared.frozenRoots);
    while (accumulator.leafCount < version) {
      const next = accumulator.leafCount;
      const limit = Math.min(INFOS_AT_ONCE, Number(version - next));
      const infos = await this.#view.transactionInfos(next, limit);
      if (infos.length === 0)
        throw new SnapshotError('pruned', `version ${next} was pruned meanwhile`);
      for (const info of infos) accumulator.append(transactionInfoHash(info));
      this.#onProgress({ what: 'transaction infos', done: Number(accumulator.leafCount) });
      await nextTurn();
    }
    return accumulator.frozenSubtreeRoots;
  }
}
