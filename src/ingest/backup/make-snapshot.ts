/** Makes a snapshot of a ledger, in the format of public backups, while others read and write the ledger. */
import { closeSync, fsyncSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import { MerkleAccumulator } from '../../move/crypto/accumulator.ts';
import { transactionInfoHash } from '../../move/transactions/transaction-info.ts';
import { parsePhysicalStateKey, StateKey } from '../../move/types/state-key.ts';
import { StateValue } from '../../move/types/state-value.ts';
import { IDENTITY } from '../../store/columns/columns.ts';
import { openHead } from '../../store/columns/head.ts';
import { LEDGER_IDENTITY, type LedgerIdentity } from '../../store/columns/identity-column.ts';
import { readPruneProgress } from '../../store/columns/pruning-column.ts';
import { liveState, streamEnds } from '../../store/read/live-state.ts';
import { openView, type StoreView } from '../../store/read/view.ts';
import type { StoreReader } from '../../store/store.ts';
import { RowDamagedError } from '../../store/store-error.ts';
import { type Checkpoint, checkpointUpTo, MAX_CHECKPOINT_DISTANCE } from '../checkpoint.ts';
import { ChunkContent } from './backup-files.ts';
import { METADATA_FOLDER, zip } from './backup-source.ts';
import { KeyFiles } from './key-files.ts';
import { encodeLedgerFacts, LEDGER_FILE, sha256 } from './ledger-facts.ts';
import { encodeInfoProof, encodeRangeProof } from './ledger-proofs.ts';
import { StateProofs } from './range-proofs.ts';
import { TransactionRecords } from './transaction-chunks.ts';

/** Suffix of the folder in which a snapshot is created. */
export const UNFINISHED_ENDING = '.unfinished';
const ACCESS_PATH_TAG = 0;
/** A chunk is closed when its content has this many bytes. The largest manifest that is accepted covers 375 GiB. */
const CHUNK_BYTES = 16 * 1024 * 1024;
const INFOS_AT_ONCE = 1_000;
const TRANSACTIONS_AT_ONCE = 100;

export class SnapshotError extends Error {
  readonly code: 'no_checkpoint' | 'pruned' | 'no_transactions' | 'root_contradicts';

  constructor(code: SnapshotError['code'], message: string) {
    super(message);
    this.name = 'SnapshotError';
    this.code = code;
  }
}

export interface SnapshotRequest {
  /** The version of the state. If absent, the newest version that states a root. */
  readonly version?: bigint | undefined;
  /** Whether the snapshot contains the transactions after that version too, with their events and infos. */
  readonly withTransactions: boolean;
}

export interface SnapshotProgress {
  readonly what: string;
  readonly done: number;
}

export interface SnapshotResult {
  readonly version: bigint;
  readonly newestVersion: bigint;
  readonly keys: number;
  readonly stateRoot: Buffer;
  readonly accumulatorRoot: Buffer;
  readonly chunks: number;
  /** Sizes of all chunks, as stored and unpacked. */
  readonly bytes: number;
  readonly contentBytes: number;
}

interface SnapshotPlace {
  readonly folder: string;
  /** An empty folder for temporary files. */
  readonly workFolder: string;
  readonly chunkBytes?: number;
}

/**
 * Makes the files of a snapshot. All of them are on disk when this resolves.
 * @throws SnapshotError; StoreError `ledger_empty` and others
 */
export async function makeSnapshot(
  store: StoreReader,
  place: SnapshotPlace,
  { version: requested, withTransactions }: SnapshotRequest,
  onProgress: (progress: SnapshotProgress) => void,
): Promise<SnapshotResult> {
  const view = await openView(store);
  const identity = await LEDGER_IDENTITY.get(store);
  if (identity === undefined) {
    throw new RowDamagedError(IDENTITY, LEDGER_IDENTITY.keyOf(), 'it is missing');
  }
  if (withTransactions && !identity.keepsTransactions) {
    throw new SnapshotError('no_transactions', 'the ledger stores no whole transactions');
  }
  const checkpoint = await checkpointFor(view, requested);
  const maker = new SnapshotMaker({ store, view, ...place, onProgress });
  return await maker.make(checkpoint, withTransactions, identity);
}

interface SnapshotContext extends SnapshotPlace {
  readonly store: StoreReader;
  readonly view: StoreView;
  readonly onProgress: (progress: SnapshotProgress) => void;
}

/** Records of one kind, and how their chunks are named and listed. */
interface ChunkPlan<T> {
  readonly what: string;
  readonly first: number;
  readonly pages: AsyncIterable<readonly T[]>;
  write(record: BcsWriter, item: T): void;
  nameOf(first: number): string;
  /** The manifest entry of a chunk; writes its proof if it has one. */
  entryOf(chunk: WrittenChunk): object | Promise<object>;
}

interface WrittenChunk {
  readonly first: number;
  readonly last: number;
  readonly handle: string;
  readonly content: Buffer;
}

class SnapshotMaker {
  readonly #context: SnapshotContext;
  readonly #totals = { chunks: 0, bytes: 0, contentBytes: 0 };

  constructor(context: SnapshotContext) {
    this.#context = context;
  }

  async make(
    { version, info, stateRoot }: Checkpoint,
    withTransactions: boolean,
    { chainId, genesisWaypointHash: hash }: LedgerIdentity,
  ): Promise<SnapshotResult> {
    const { view } = this.#context;
    const { epoch, timestampUsecs } = await blockOf(view, version);
    // The folder names of public backups end with four random digits. Here they are the same in every run.
    const suffix = stateRoot.toString('hex', 0, 2);
    const folder = `state_epoch_${epoch}_ver_${version}.${suffix}`;
    const { keys, chunks } = await this.#makeState(folder, version, stateRoot);
    const streams = await this.#makeStreams(folder, version);
    const before = await this.#accumulatorBefore(version);
    const newestVersion = withTransactions ? view.head.version : version;
    const facts = encodeLedgerFacts(
      { chainId, genesis: { version: 0n, hash }, timestampUsecs, newestVersion },
      streams,
    );
    const ledger = { file: `${folder}/${LEDGER_FILE}`, sha256: sha256(facts).toString('hex') };
    await this.#write(ledger.file, facts);
    const proof = `${folder}/state.proof`;
    await this.#write(proof, encodeInfoProof(before, info, { epoch, timestampUsecs }));
    const range = { version: Number(version), epoch: Number(epoch) };
    const root_hash = stateRoot.toString('hex');
    const manifest = { ...range, root_hash, chunks, proof, signed: false, ledger };
    const metadata = `state_snapshot_ver_${version}`;
    await this.#writeManifest(`${folder}/state.manifest`, manifest, {
      ...{ metadata, tag: 'StateSnapshotBackup', range },
    });
    const accumulator = before.clone();
    accumulator.append(transactionInfoHash(info));
    if (newestVersion > version) {
      const transactionFolder = `transaction_${version + 1n}-.${suffix}`;
      await this.#makeTransactions(transactionFolder, accumulator, newestVersion);
    }
    const accumulatorRoot = accumulator.rootHash();
    return { version, newestVersion, keys, stateRoot, accumulatorRoot, ...this.#totals };
  }

  /** Writes every value of the version, compares the root, and writes the proofs. */
  async #makeState(folder: string, version: bigint, stateRoot: Buffer) {
    const { store, workFolder, onProgress } = this.#context;
    const keyFiles = await KeyFiles.make(store, workFolder, (done) =>
      onProgress({ what: 'keys sorted', done }),
    );
    const proofs = new StateProofs();
    const proofFiles: string[] = [];
    const chunks = await this.#writeChunks({
      ...{ what: 'keys', first: 0, pages: keyFiles.withKeys(liveState(store, version)) },
      write(record, [key, value]) {
        proofs.add(value);
        // The two forms of an access path are the same bytes (docs/spec/ledger.md §1.2).
        if (key[0] === ACCESS_PATH_TAG) record.fixed(key);
        else StateKey.write(record, parsePhysicalStateKey(key));
        StateValue.write(record, value);
      },
      nameOf: (first) => `${folder}/${first}-.chunk`,
      entryOf({ first, last, handle }) {
        const proof = `${folder}/${first}-${last}.proof`;
        proofFiles.push(proof);
        const { firstKey, lastKey } = proofs.endChunk();
        const keys = { first_key: firstKey.toString('hex'), last_key: lastKey.toString('hex') };
        return { first_idx: first, last_idx: last, ...keys, blobs: handle, proof };
      },
    });
    const { oldestVersion } = await openHead(store);
    if (version < oldestVersion) {
      throw new SnapshotError('pruned', `version ${version} was pruned meanwhile`);
    }
    const root = proofs.rootHash();
    if (!root.equals(stateRoot)) {
      throw new SnapshotError(
        'root_contradicts',
        `the root of the state at version ${version} is ${root.toString('hex')}, the ` +
          `transaction info says ${stateRoot.toString('hex')}: the ledger is damaged, see daybook verify`,
      );
    }
    for (const [index, proof] of proofs.proofs().entries()) {
      await this.#write(proofFiles[index]!, proof);
    }
    return { keys: proofs.keys, chunks };
  }

  async #makeStreams(folder: string, version: bigint): Promise<object[]> {
    const { store, view } = this.#context;
    return await this.#writeChunks({
      ...{ what: 'streams', first: 0, pages: streamEnds(store, view.head, version) },
      write: (record, { partition, order, value }) =>
        record.fixed(partition).fixed(order).fixed(value),
      nameOf: (first) => `${folder}/streams-${first}-.chunk`,
      entryOf: ({ first, last, handle: blobs, content }) => ({
        ...{ first_idx: first, last_idx: last, blobs },
        sha256: sha256(content).toString('hex'),
      }),
    });
  }

  async #makeTransactions(
    folder: string,
    known: MerkleAccumulator,
    newestVersion: bigint,
  ): Promise<void> {
    const { view } = this.#context;
    const records = new TransactionRecords(known.clone());
    let before = known;
    const first = Number(known.leafCount);
    const chunks = await this.#writeChunks({
      ...{
        what: 'transactions',
        first,
        pages: transactionsOf(view, known.leafCount, newestVersion),
      },
      write: (record, item) => records.write(record, item),
      nameOf: (from) => `${folder}/${from}-.chunk`,
      entryOf: async ({ first: from, last, handle: transactions }) => {
        const proof = `${folder}/${from}-${last}.proof`;
        const after = records.accumulator.clone();
        const time = await blockOf(view, BigInt(last));
        await this.#write(proof, encodeRangeProof(before, after, time));
        before = after;
        return { first_version: from, last_version: last, transactions, proof, format: 'V1' };
      },
    });
    const range = { first_version: first, last_version: Number(newestVersion) };
    const metadata = `transaction_${first}-${newestVersion}`;
    await this.#writeManifest(
      `${folder}/transaction.manifest`,
      { ...range, chunks },
      { metadata, tag: 'TransactionBackup', range },
    );
  }

  async #writeChunks<T>(plan: ChunkPlan<T>): Promise<object[]> {
    const { chunkBytes = CHUNK_BYTES, onProgress } = this.#context;
    const entries: object[] = [];
    const chunk = new ChunkContent();
    let { first } = plan;
    const close = async (): Promise<void> => {
      if (chunk.records === 0) return;
      const last = first + chunk.records - 1;
      const content = chunk.take();
      const handle = plan.nameOf(first);
      this.#totals.bytes += await this.#write(handle, content);
      this.#totals.contentBytes += content.length;
      this.#totals.chunks += 1;
      entries.push(await plan.entryOf({ first, last, handle, content }));
      first = last + 1;
    };
    for await (const page of plan.pages) {
      for (const item of page) {
        chunk.add((record) => plan.write(record, item));
        if (chunk.byteLength >= chunkBytes) await close();
      }
      onProgress({ what: plan.what, done: first + chunk.records - plan.first });
      await nextTurn();
    }
    await close();
    return entries;
  }

  async #writeManifest(
    manifest: string,
    content: object,
    line: { readonly metadata: string; readonly tag: string; readonly range: object },
  ): Promise<void> {
    await this.#write(manifest, Buffer.from(JSON.stringify(content)));
    const text = `${JSON.stringify({ [line.tag]: { ...line.range, manifest } })}\n`;
    await this.#write(`${METADATA_FOLDER}/${line.metadata}.meta`, Buffer.from(text));
  }

  /** Writes a file to the disk. @returns its size */
  async #write(handle: string, content: Buffer): Promise<number> {
    const bytes = await zip(content);
    const path = join(this.#context.folder, handle);
    mkdirSync(dirname(path), { recursive: true });
    const file = openSync(path, 'wx');
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    return bytes.length;
  }

  /**
   * The accumulator before a version. At the head only the infos that share the version's last full subtree are read, a
   * dozen on average. For an older version all retained infos before it are read.
   */
  async #accumulatorBefore(version: bigint): Promise<MerkleAccumulator> {
    const { store, view, onProgress } = this.#context;
    const { head } = view;
    const cleared = await readPruneProgress(store);
    if (cleared.clearedBelow > version) {
      throw new SnapshotError('pruned', `what is before version ${version} was pruned meanwhile`);
    }
    const leaves = version + 1n;
    // The last full subtree has as many leaves as the lowest set bit of the number of leaves.
    const first = leaves - (leaves & -leaves);
    const isNear = version === head.version && first >= cleared.clearedBelow;
    const accumulator = isNear
      ? new MerkleAccumulator('TransactionAccumulator', first, head.frozenRoots.slice(0, -1))
      : new MerkleAccumulator('TransactionAccumulator', cleared.clearedBelow, cleared.frozenRoots);
    while (accumulator.leafCount < version) {
      const next = accumulator.leafCount;
      const limit = Math.min(INFOS_AT_ONCE, Number(version - next));
      const infos = await view.transactionInfos(next, limit);
      if (infos.length === 0)
        throw new SnapshotError('pruned', `version ${next} was pruned meanwhile`);
      for (const info of infos) accumulator.append(transactionInfoHash(info));
      onProgress({ what: 'transaction infos', done: Number(accumulator.leafCount) });
      await nextTurn();
    }
    return accumulator;
  }
}

/** The transactions from one version to another, page by page. @throws SnapshotError `pruned` */
async function* transactionsOf(
  view: StoreView,
  first: bigint,
  last: bigint,
): AsyncGenerator<readonly Buffer[]> {
  for (let version = first; version <= last; ) {
    const limit = Math.min(Number(last - version) + 1, TRANSACTIONS_AT_ONCE);
    const items = await view.transactions(version, limit);
    if (items.length === 0) {
      throw new SnapshotError('pruned', `version ${version} was pruned meanwhile`);
    }
    yield items;
    version += BigInt(items.length);
  }
}

/** @throws SnapshotError `pruned` */
async function blockOf(view: StoreView, version: bigint) {
  const { head } = view;
  if (version === head.version) return { ...head, height: head.blockHeight };
  const block = await view.blockOfVersion(version);
  // If the block is no longer retained, this may be an older one.
  const last = block && (await view.lastVersionOfBlock(block));
  if (block !== undefined && last !== undefined && last >= version) return block;
  throw new SnapshotError('pruned', `the block of version ${version} was pruned meanwhile`);
}

/** @throws SnapshotError `no_checkpoint`, `pruned` */
async function checkpointFor(view: StoreView, requested: bigint | undefined): Promise<Checkpoint> {
  const { oldestVersion, version: newest } = view.head;
  const version = requested ?? newest;
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
  if (checkpoint !== undefined && (requested === undefined || checkpoint.version === requested)) {
    return checkpoint;
  }
  const nearest =
    checkpoint === undefined
      ? `nor do the ${MAX_CHECKPOINT_DISTANCE} versions before it`
      : `the nearest one before it that does is ${checkpoint.version}`;
  const message = `version ${version} states no root of the state (state_checkpoint_hash); ${nearest}`;
  throw new SnapshotError('no_checkpoint', message);
}
