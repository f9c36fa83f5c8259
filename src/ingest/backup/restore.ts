/**
 * Makes a ledger of a backup of the reference: the ends of epochs from a waypoint on, the newest snapshot that they
 * cover, and the transactions after it. Everything is verified before it is stored; what that proves: docs/backups.md.
 */

import { BcsError } from '../../move/bcs/bcs-reader.ts';
import { MerkleAccumulator } from '../../move/crypto/accumulator.ts';
import { domainHash } from '../../move/crypto/hash.ts';
import { formatWaypoint, type Waypoint } from '../../move/transactions/waypoint.ts';
import { ADDRESS_ONE } from '../../move/types/address.ts';
import { BLOCK_RESOURCE_TAG, CHAIN_ID_TAG } from '../../move/types/framework-tag.ts';
import { physicalStateKey, resourceStateKey, stateKeyHash } from '../../move/types/state-key.ts';
import { formatStructTag, type StructTag } from '../../move/types/type-tag.ts';
import { blockResourceCodec, chainIdCodec } from '../../move/values/framework-resource.ts';
import { STATE } from '../../store/columns/columns.ts';
import type { Head } from '../../store/columns/head.ts';
import { encodeU64Key } from '../../store/columns/order-key.ts';
import { decodeStateRow } from '../../store/columns/state-column.ts';
import { type LedgerBase, StateImport } from '../../store/state-import.ts';
import type { Store } from '../../store/store.ts';
import { LedgerWriter } from '../../store/writer.ts';
import { Committer } from '../committer.ts';
import { ChunkAssembler } from '../feed/chunk-assembler.ts';
import { CHUNK_TRANSACTIONS } from '../feed/follower.ts';
import type { Verifier } from '../feed/verifier.ts';
import { readAhead } from '../read-ahead.ts';
import { BackupError } from './backup-error.ts';
import { readPair, unpackPair } from './backup-files.ts';
import {
  type BackupIndex,
  covering,
  type RangeBackup,
  readBackupIndex,
  type SnapshotBackup,
} from './backup-index.ts';
import type { BackupSource } from './backup-source.ts';
import type { EpochChain } from './epoch-chain.ts';
import { type EpochEndings, findEpochEndings, verifyEpochEndings } from './epoch-endings.ts';
import { readEpochManifest, readTransactionManifest, type TransactionChunk } from './manifests.ts';
import { type ProvedSnapshot, proveSnapshot, restoreState } from './state-snapshot.ts';
import { verifyTransactions } from './transaction-chunks.ts';

/** The kinds of backups, in the order in which they are restored, and how far each is. */
export interface RestoreProgress {
  readonly stage: 'epochs' | 'keys' | 'transactions';
  readonly done: number;
  readonly total: number;
}

interface RestoreOptions {
  /** Of the genesis, or of the end of a later epoch. */
  readonly waypoint: Waypoint;
  readonly verifier: Verifier;
  readonly onProgress: (progress: RestoreProgress) => void;
}

export interface RestoredBackup {
  readonly head: Head;
  readonly chainId: number;
  /** Epochs whose ends were verified. */
  readonly epochs: number;
  readonly stateVersion: bigint;
  readonly stateRoot: Buffer;
  readonly keys: number;
  /** Of the genesis: covered by the waypoint that was given only if it is that one. */
  readonly genesisWaypoint: string;
  readonly isGenesisCovered: boolean;
}

/** A backup of which the epochs and the root of a snapshot were verified. */
export class BackupRestore {
  /** What identifies the state that is restored: nothing else is continued. */
  readonly digest: Buffer;
  readonly #source: BackupSource;
  readonly #options: RestoreOptions;
  readonly #signal: AbortSignal;
  readonly #index: BackupIndex;
  readonly #endings: EpochEndings;
  readonly #epochs: EpochChain;
  readonly #snapshot: ProvedSnapshot;
  readonly #genesis: Waypoint;

  private constructor(
    source: BackupSource,
    options: RestoreOptions,
    signal: AbortSignal,
    verified: {
      readonly index: BackupIndex;
      readonly endings: EpochEndings;
      readonly epochs: EpochChain;
      readonly snapshot: ProvedSnapshot;
      readonly genesis: Waypoint;
    },
  ) {
    this.#source = source;
    this.#options = options;
    this.#signal = signal;
    this.#index = verified.index;
    this.#endings = verified.endings;
    this.#epochs = verified.epochs;
    this.#snapshot = verified.snapshot;
    this.#genesis = verified.genesis;
    const { manifest, proof } = verified.snapshot;
    this.digest = domainHash('Backup', proof.infoBytes, Buffer.from(`${manifest.version}`));
  }

  /** Verifies everything up to the root of the state. @throws BackupError */
  static async open(
    source: BackupSource,
    options: RestoreOptions,
    signal: AbortSignal,
  ): Promise<BackupRestore> {
    const { waypoint, onProgress } = options;
    const index = await readBackupIndex(source, signal);
    const endings = await findEpochEndings(source, index, waypoint, signal);
    const backup = newestSnapshot(index, endings);
    const total = Number(endings.lastEpoch - endings.firstEpoch) + 1;
    const epochs = await verifyEpochEndings(source, endings, backup.epoch, signal, (epoch) =>
      onProgress({ stage: 'epochs', done: Number(epoch - endings.firstEpoch) + 1, total }),
    );
    const snapshot = await proveSnapshot(source, backup, epochs, signal);
    const genesis = waypoint.version === 0n ? waypoint : await statedGenesis(source, index, signal);
    const verified = { index, endings, epochs, snapshot, genesis };
    return new BackupRestore(source, options, signal, verified);
  }

  /**
   * Makes the ledger in a store without one. Nothing of it may be used before this resolves.
   * @throws BackupError; StoreError
   */
  async into(store: Store): Promise<RestoredBackup> {
    const { manifest, proof } = this.#snapshot;
    const { version } = manifest;
    const { onProgress } = this.#options;
    const target = await StateImport.open(store, this.digest, version);
    const total = Number(manifest.chunks[manifest.chunks.length - 1]!.last) + 1;
    await restoreState(this.#source, manifest, target, this.#signal, (done) =>
      onProgress({ stage: 'keys', done, total }),
    );
    const chainId = await resourceAt(store, version, CHAIN_ID_TAG, chainIdCodec.decode);
    const block = await resourceAt(store, version, BLOCK_RESOURCE_TAG, blockResourceCodec.decode);
    const { info } = proof.signed;
    const base: LedgerBase = {
      identity: { chainId, genesisWaypointHash: this.#genesis.hash, keepsTransactions: true },
      version,
      info: proof.infoBytes,
      rootsBefore: rootsBefore(proof.siblings, version),
      timestampUsecs: info.timestampUsecs,
      epoch: info.epoch,
      blockHeight: block.height,
    };
    await target.begin(base);
    const head = await this.#restoreTransactions(store);
    await target.end();
    return {
      ...{ head, chainId, stateVersion: version, stateRoot: manifest.rootHash, keys: target.keys },
      epochs: Number(this.#endings.lastEpoch - this.#endings.firstEpoch) + 1,
      genesisWaypoint: formatWaypoint(this.#genesis),
      isGenesisCovered: this.#genesis === this.#options.waypoint,
    };
  }

  /** Commits the transactions after the state, up to the last whole block. */
  async #restoreTransactions(store: Store): Promise<Head> {
    const writer = await LedgerWriter.open(store);
    const { version, frozenRoots } = writer.head!;
    const first = version + 1n;
    const committer = new Committer(writer);
    const assembler = new ChunkAssembler(first, true);
    let known = new MerkleAccumulator('TransactionAccumulator', first, frozenRoots);
    const backups = covering(this.#index.transactions, first, 'version');
    const total = Number((backups[backups.length - 1]?.last ?? version) - version);
    const readManifest = (backup: RangeBackup) =>
      readTransactionManifest(this.#source, backup, this.#signal);
    const readChunk = (chunk: TransactionChunk) => readPair(this.#source, chunk, this.#signal);
    let isKnown = true;
    for await (const [, chunks] of readAhead(backups, readManifest, 2)) {
      if (!isKnown) break;
      const needed = chunks.filter(({ last }) => last >= known.leafCount);
      for await (const [chunk, stored] of readAhead(needed, readChunk)) {
        const files = await unpackPair(stored, chunk);
        const { verifier, onProgress } = this.#options;
        const verified = await verifyTransactions(chunk, files, known, this.#epochs, verifier);
        // Newer than the ends of epochs in the backup: nothing says who signs it.
        isKnown = verified !== undefined;
        if (verified === undefined) break;
        known = verified.accumulator;
        for (const page of verified.pages) {
          assembler.add(page, false);
          if (assembler.completeTransactions < CHUNK_TRANSACTIONS) continue;
          await committer.push(assembler.takeChunk()!);
          const done = Number(page.firstVersion - version);
          onProgress({ stage: 'transactions', done, total });
        }
      }
    }
    const rest = assembler.takeChunk();
    if (rest !== undefined) await committer.push(rest);
    await committer.drain();
    return writer.head!;
  }
}

/** The newest snapshot of an epoch whose validators are known. @throws BackupError `backup_incomplete` */
function newestSnapshot(
  { snapshots }: BackupIndex,
  { firstEpoch, lastEpoch }: EpochEndings,
): SnapshotBackup {
  let newest: SnapshotBackup | undefined;
  for (const snapshot of snapshots) {
    const isKnown = snapshot.epoch >= firstEpoch && snapshot.epoch <= lastEpoch + 1n;
    if (isKnown && (newest === undefined || snapshot.version > newest.version)) newest = snapshot;
  }
  if (newest !== undefined) return newest;
  const detail = `no snapshot is of an epoch from ${firstEpoch} to ${lastEpoch}`;
  throw new BackupError('backup_incomplete', detail);
}

/** The waypoint that the backup gives for genesis. @throws BackupError */
async function statedGenesis(
  source: BackupSource,
  { epochs }: BackupIndex,
  signal: AbortSignal,
): Promise<Waypoint> {
  const backup = epochs.find(({ first }) => first === 0n);
  if (backup === undefined) {
    throw new BackupError('backup_incomplete', 'no backup has the end of epoch 0');
  }
  return (await readEpochManifest(source, backup, signal)).waypoints[0]!;
}

/** The full subtrees before a version: the siblings at the levels where its bit is set. */
function rootsBefore(siblings: readonly Buffer[], version: bigint): Buffer[] {
  return siblings.filter((_, level) => ((version >> BigInt(level)) & 1n) === 1n).reverse();
}

/** A resource at 0x1, of a state whose root has been compared. @throws BackupError */
async function resourceAt<T>(
  store: Store,
  version: bigint,
  tag: StructTag,
  decode: (bytes: Uint8Array) => T,
): Promise<T> {
  const hash = stateKeyHash(physicalStateKey(resourceStateKey(ADDRESS_ONE, tag)));
  const order = encodeU64Key(version);
  const value = await store.get(STATE, hash, order);
  const { bytes } = value === undefined ? {} : decodeStateRow(hash, { order, value });
  try {
    if (bytes !== undefined) return decode(bytes);
  } catch (cause) {
    if (!(cause instanceof BcsError)) throw cause;
    throw new BackupError('backup_malformed', `${formatStructTag(tag)}: ${cause.message}`);
  }
  const detail = `the state has no ${formatStructTag(tag)} at 0x1`;
  throw new BackupError('backup_malformed', detail);
}
