/**
 * Makes a ledger of a snapshot: every chunk is compared with its digest, the root of the state with the one in the
 * transaction info, and the info is a leaf of the accumulator whose root is reported. What that proves, and what not:
 * docs/snapshots.md.
 */
import { createHash } from 'node:crypto';
import { BcsError, decodeBcs } from '../../move/bcs/bcs-reader.ts';
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { LeafOrderError } from '../../move/crypto/sparse-merkle.ts';
import { unlessRefused } from '../../move/errors.ts';
import { readTransactionInfo } from '../../move/transactions/transaction-info.ts';
import { ADDRESS_ONE } from '../../move/types/address.ts';
import { CHAIN_ID_TAG } from '../../move/types/framework-tag.ts';
import { hashedStateKey, resourceStateKey } from '../../move/types/state-key.ts';
import { chainIdCodec } from '../../move/values/framework-resource.ts';
import type { ScannedRow } from '../../store/columns/columns.ts';
import { decodeEventRow } from '../../store/columns/event-column.ts';
import { frozenRootCount, type Head } from '../../store/columns/head.ts';
import { accumulatorAfter, type LedgerBase, StateImport } from '../../store/state-import.ts';
import type { Store } from '../../store/store.ts';
import { isStoreError, RowDamagedError } from '../../store/store-error.ts';
import { openView } from '../../store/view.ts';
import { LedgerWriter } from '../../store/writer.ts';
import { Committer } from '../committer.ts';
import { ChunkAssembler } from '../feed/chunk-assembler.ts';
import { checkStoredRoots } from '../feed/known-history.ts';
import type { TrustedRoot } from '../feed/page-verifier.ts';
import type { Verifier } from '../feed/verifier.ts';
import { readAhead } from '../read-ahead.ts';
import {
  checkChunkSize,
  chunkContent,
  damagedChunk,
  partCount,
  streamEndsIn,
  valuesIn,
} from './chunk-file.ts';
import {
  type ChunkEntry,
  type ChunkKind,
  parseManifest,
  type SnapshotManifest,
} from './manifest.ts';
import { SnapshotError } from './snapshot-error.ts';

/** Where the files of a snapshot are. */
export interface SnapshotSource {
  /** The bytes of the manifest. */
  manifest(): Promise<Buffer>;
  /** The bytes of a chunk's file; they are compared with the entry later. */
  chunk(entry: ChunkEntry): Promise<Uint8Array>;
  close(): Promise<void>;
}

export interface LoadedSnapshot {
  readonly head: Head;
  readonly chainId: number;
  readonly stateVersion: bigint;
  readonly keys: number;
  readonly stateRoot: Buffer;
  /** Of the transaction accumulator after the version of the state. */
  readonly accumulatorRoot: Buffer;
  readonly isTrustCompared: boolean;
}

export interface LoadOptions {
  readonly trustedRoots: readonly TrustedRoot[];
  readonly verifier: Verifier;
  readonly onProgress: (chunks: number) => void;
}

/** A snapshot whose manifest was read and agrees with the trusted roots. */
export class SnapshotLoad {
  readonly manifest: SnapshotManifest;
  /** What identifies the snapshot: the digest of its manifest. */
  readonly digest: Buffer;
  readonly #source: SnapshotSource;
  readonly #options: LoadOptions;
  readonly #base: LedgerBase;
  readonly #stateRoot: Buffer;
  #chunksDone = 0;

  private constructor(
    source: SnapshotSource,
    bytes: Buffer,
    manifest: SnapshotManifest,
    options: LoadOptions,
  ) {
    this.manifest = manifest;
    this.digest = createHash('sha256').update(bytes).digest();
    this.#source = source;
    this.#options = options;
    const { chainId, genesisWaypointHash } = manifest;
    const identity = { chainId, genesisWaypointHash, keepsTransactions: true };
    this.#base = { ...manifest, identity };
    this.#stateRoot = stateRootOf(manifest);
    checkTrust(manifest, this.accumulatorRoot, options.trustedRoots);
    for (const chunk of manifest.chunks) checkChunkSize(chunk);
  }

  /** Reads and checks the manifest. @throws SnapshotError; what the source throws */
  static async open(source: SnapshotSource, options: LoadOptions): Promise<SnapshotLoad> {
    const bytes = await source.manifest();
    return new SnapshotLoad(source, bytes, parseManifest(bytes), options);
  }

  get accumulatorRoot(): Buffer {
    return accumulatorAfter(this.#base).rootHash();
  }

  /**
   * Makes the ledger in an empty store, or in one that an earlier attempt has left. Nothing of it may be used before
   * this resolves.
   * @throws StoreError `import_of_other`; SnapshotError `damaged`, `root_contradicts`, …; PageError for transactions
   *   that do not verify
   */
  async into(store: Store): Promise<LoadedSnapshot> {
    const { version, newestVersion } = this.manifest;
    const stateImport = await StateImport.open(store, this.digest, version);
    await this.#loadState(stateImport);
    const stateRoot = stateImport.stateRoot;
    if (!stateRoot.equals(this.#stateRoot)) {
      throw new SnapshotError(
        'root_contradicts',
        `the root of the snapshot’s state is ${stateRoot.toString('hex')}, the transaction info of ` +
          `version ${version} says ${this.#stateRoot.toString('hex')}: nothing was stored`,
      );
    }
    await stateImport.begin(this.#base);
    await this.#checkChainId(store);
    const head = await this.#loadTransactions(store);
    if (head.version !== newestVersion) throw damaged(`it ends at version ${head.version}`);
    await stateImport.end();
    return {
      head,
      chainId: this.manifest.chainId,
      stateVersion: version,
      keys: stateImport.keys,
      stateRoot,
      accumulatorRoot: this.accumulatorRoot,
      isTrustCompared: this.#options.trustedRoots.length > 0,
    };
  }

  async #loadState(stateImport: StateImport): Promise<void> {
    const storedParts = Number(stateImport.parts);
    for await (const { entry, part } of this.#parts('state', storedParts, valuesIn)) {
      await withDamage(entry, () => stateImport.addValues(part));
    }
    let last: ScannedRow | undefined;
    const stateParts = this.#chunksOf('state').reduce((sum, chunk) => sum + partCount(chunk), 0);
    const storedStreams = Math.max(0, storedParts - stateParts);
    for await (const { entry, part: rows } of this.#parts('streams', storedStreams, streamEndsIn)) {
      for (const row of rows) {
        this.#checkStreamEnd(entry, row, last);
        last = row;
      }
      await stateImport.addStreamEnds(rows);
    }
    await stateImport.settle();
  }

  /** Nobody can prove them; but they must be rows of their place. */
  #checkStreamEnd(entry: ChunkEntry, row: ScannedRow, before: ScannedRow | undefined): void {
    const { version } = this.manifest;
    const event = readOf(entry, () => decodeEventRow(row.partition, row));
    const isAfter = before === undefined || Buffer.compare(before.partition, row.partition) < 0;
    if (isAfter && event.version <= version) return;
    throw damagedChunk(entry, 'its events are out of order, or of later versions');
  }

  /** The chain id is a part of the state, whose root has been compared. */
  async #checkChainId(store: Store): Promise<void> {
    const { chainId } = this.manifest;
    const view = await openView(store);
    const key = hashedStateKey(resourceStateKey(ADDRESS_ONE, CHAIN_ID_TAG));
    const bytes = (await view.state(key, this.manifest.version))?.bytes;
    const isSame = () => bytes !== undefined && chainIdCodec.decode(bytes) === chainId;
    if (unlessRefused(isSame) === true) return;
    throw damaged(`its chain id is ${chainId}, not that of its state`);
  }

  /** Commits the transactions after the state, verified as those of a node. */
  async #loadTransactions(store: Store): Promise<Head> {
    const writer = await LedgerWriter.open(store);
    const head = writer.head!;
    const { trustedRoots, verifier } = this.#options;
    // An earlier attempt may have been given other roots, or none.
    await checkStoredRoots(store, head, trustedRoots);
    const nextVersion = head.version + 1n;
    const { frozenRoots } = head;
    verifier.start({ nextVersion, frozenRoots, trustedRoots, waypoint: undefined });
    const chunks: ChunkEntry[] = [];
    let first = this.manifest.version + 1n;
    for (const chunk of this.#chunksOf('transactions')) {
      if (first >= nextVersion) chunks.push(chunk);
      first += BigInt(chunk.records);
    }
    const committer = new Committer(writer);
    const assembler = new ChunkAssembler(nextVersion, true);
    for await (const { entry, content } of this.#contents(chunks)) {
      const count = encodeBcs((bcs) => bcs.length32(entry.records));
      const page = await verifier.verify(new Uint8Array(Buffer.concat([count, content])));
      assembler.add(page, true);
      await committer.push(assembler.takeChunk()!);
    }
    await committer.drain();
    return writer.head!;
  }

  #chunksOf(kind: ChunkKind): readonly ChunkEntry[] {
    return this.manifest.chunks.filter((chunk) => chunk.kind === kind);
  }

  /** The records of a kind in parts, without those that an earlier attempt has stored. */
  async *#parts<T>(
    kind: ChunkKind,
    storedParts: number,
    read: (entry: ChunkEntry, content: Buffer) => Generator<T[]>,
  ) {
    const chunks = [...this.#chunksOf(kind)];
    let stored = storedParts;
    for (; chunks.length > 0 && stored >= partCount(chunks[0]!); this.#chunksDone += 1) {
      stored -= partCount(chunks.shift()!);
    }
    for await (const { entry, content } of this.#contents(chunks)) {
      for (const part of read(entry, content)) {
        stored -= 1;
        if (stored < 0) yield { entry, part };
      }
    }
  }

  /** The contents of chunks, in their order. */
  async *#contents(chunks: readonly ChunkEntry[]) {
    const read = (chunk: ChunkEntry) => this.#source.chunk(chunk);
    for await (const [entry, file] of readAhead(chunks, read)) {
      const content = await chunkContent(entry, file);
      yield { entry, content };
      this.#chunksDone += 1;
      this.#options.onProgress(this.#chunksDone);
    }
  }
}

/** @throws SnapshotError `damaged` for an info without a root, or roots of another version */
function stateRootOf({ info, rootsBefore, version }: SnapshotManifest): Buffer {
  if (rootsBefore.length !== frozenRootCount(version)) {
    throw damaged(`it has ${rootsBefore.length} accumulator roots before version ${version}`);
  }
  try {
    const { stateCheckpointHash } = decodeBcs(info, readTransactionInfo);
    if (stateCheckpointHash !== undefined) return stateCheckpointHash;
  } catch (cause) {
    if (!(cause instanceof BcsError)) throw cause;
    throw damaged('its transaction info does not decode');
  }
  throw damaged('its transaction info states no root of the state');
}

/** @throws SnapshotError `trust_contradicts`, `trust_elsewhere` */
function checkTrust(
  { version, newestVersion }: SnapshotManifest,
  accumulatorRoot: Buffer,
  trustedRoots: readonly TrustedRoot[],
): void {
  for (const trusted of trustedRoots) {
    if (trusted.version < version || trusted.version > newestVersion) {
      throw new SnapshotError(
        'trust_elsewhere',
        `the snapshot has versions ${version} to ${newestVersion}: a root of version ` +
          `${trusted.version} cannot be compared with it`,
      );
    }
    if (trusted.version !== version || accumulatorRoot.equals(trusted.root)) continue;
    throw new SnapshotError(
      'trust_contradicts',
      `the accumulator root of the snapshot at version ${version} is ${accumulatorRoot.toString('hex')}, ` +
        `the trusted one is ${Buffer.from(trusted.root).toString('hex')}: nothing was stored`,
    );
  }
}

function damaged(detail: string): SnapshotError {
  return new SnapshotError('damaged', `the snapshot is damaged: ${detail}`);
}

function readOf<T>(entry: ChunkEntry, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof RowDamagedError)) throw cause;
    throw damagedChunk(entry, cause.message, cause);
  }
}

async function withDamage(entry: ChunkEntry, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    const isOfContent = cause instanceof LeafOrderError || isStoreError(cause, 'chunk_state_key');
    if (!isOfContent) throw cause;
    throw damagedChunk(entry, (cause as Error).message, cause);
  }
}
