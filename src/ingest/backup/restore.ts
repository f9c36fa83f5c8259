/**
 * Makes a ledger from a backup: the newest snapshot of the state, and the transactions after it. A backup of the
 * reference is signed by validators, a snapshot of Daybook is not. Everything is verified before it is stored;
 * docs/backups.md and docs/snapshots.md say what that proves.
 */
import { BcsError } from '../../move/bcs/bcs-reader.ts';
import { MerkleAccumulator } from '../../move/crypto/accumulator.ts';
import { domainHash } from '../../move/crypto/hash.ts';
import { formatWaypoint, isSameWaypoint, type Waypoint } from '../../move/transactions/waypoint.ts';
import { ADDRESS_ONE } from '../../move/types/address.ts';
import { BLOCK_RESOURCE_TAG, CHAIN_ID_TAG } from '../../move/types/framework-tag.ts';
import { physicalStateKey, resourceStateKey, stateKeyHash } from '../../move/types/state-key.ts';
import { formatStructTag, type StructTag } from '../../move/types/type-tag.ts';
import { blockResourceCodec, chainIdCodec } from '../../move/values/framework-resource.ts';
import { STATE } from '../../store/columns/columns.ts';
import type { Head } from '../../store/columns/head.ts';
import { encodeU64Key } from '../../store/columns/order-key.ts';
import { decodeStateRow } from '../../store/columns/state-column.ts';
import type { Store } from '../../store/store.ts';
import { type LedgerBase, StateImport } from '../../store/write/state-import.ts';
import { LedgerWriter } from '../../store/write/writer.ts';
import { Committer } from '../committer.ts';
import { ChunkAssembler } from '../feed/chunk-assembler.ts';
import { CHUNK_TRANSACTIONS } from '../feed/follower.ts';
import { checkStoredRoots } from '../feed/known-history.ts';
import type { TrustedRoot } from '../feed/page-verifier.ts';
import type { Verifier } from '../feed/verifier.ts';
import { readAhead } from '../read-ahead.ts';
import { BackupError, malformed } from './backup-error.ts';
import { readChecked, readPair, type StoredPair, unpackPair } from './backup-files.ts';
import {
  type BackupIndex,
  newestSnapshot,
  type RangeBackup,
  readBackupIndex,
  smallestCover,
} from './backup-index.ts';
import type { BackupSource } from './backup-source.ts';
import { findEpochEndings, verifyEpochEndings } from './epoch-endings.ts';
import { type LedgerFacts, readLedgerFacts, restoreStreams } from './ledger-facts.ts';
import { type LedgerInfoCheck, UNCHECKED } from './ledger-proofs.ts';
import { readEpochManifest, readTransactionManifest, type TransactionChunk } from './manifests.ts';
import { type ProvedSnapshot, proveSnapshot, restoreState } from './state-snapshot.ts';
import { verifyTransactions, withPageErrors } from './transaction-chunks.ts';

/** Progress of a stage. The stages run in this order. */
export interface RestoreProgress {
  readonly stage: 'epochs' | 'keys' | 'transactions';
  readonly done: number;
  readonly total: number;
}

/** How a backup is known to be of the right ledger. */
export type BackupTrust =
  | {
      /** Signatures of validators, from the waypoint of genesis or of the end of a later epoch on. */
      readonly kind: 'signatures';
      readonly waypoint: Waypoint;
    }
  | {
      /** Roots of the transaction accumulator that the caller trusts; without one the root is only reported. */
      readonly kind: 'roots';
      readonly roots: readonly TrustedRoot[];
      /** The genesis that the backup must state. If absent, any is accepted. */
      readonly genesis: Waypoint | undefined;
    };

interface RestoreOptions {
  readonly trust: BackupTrust;
  readonly verifier: Verifier;
  readonly onProgress: (progress: RestoreProgress) => void;
}

export interface RestoredBackup {
  readonly head: Head;
  readonly chainId: number;
  readonly stateVersion: bigint;
  readonly stateRoot: Buffer;
  /** The root of the transaction accumulator after the version of the state. */
  readonly accumulatorRoot: Buffer;
  readonly keys: number;
  /** Epochs whose ends were verified by signatures. */
  readonly epochs: number;
  /** The genesis that the backup states. Signatures cover it only if it is the given waypoint. */
  readonly genesisWaypoint: string;
  readonly isGenesisCovered: boolean;
  readonly isTrustCompared: boolean;
}

interface VerifiedBackup {
  readonly source: BackupSource;
  readonly options: RestoreOptions;
  readonly signal: AbortSignal;
  readonly index: BackupIndex;
  readonly infos: LedgerInfoCheck;
  readonly epochs: number;
  readonly snapshot: ProvedSnapshot;
  readonly facts: LedgerFacts | undefined;
  readonly genesis: Waypoint;
}

/** Verifies everything up to the root of the state. @throws BackupError */
export async function verifyBackup(
  source: BackupSource,
  options: RestoreOptions,
  signal: AbortSignal,
): Promise<VerifiedBackup> {
  const { trust } = options;
  const index = await readBackupIndex(source, signal);
  const { backup, infos, epochs } =
    trust.kind === 'signatures'
      ? await verifiedEpochs(source, index, trust.waypoint, options, signal)
      : { backup: newestSnapshot(index), infos: UNCHECKED, epochs: 0 };
  const snapshot = await proveSnapshot(source, backup, infos, signal);
  const { ledger } = snapshot.manifest;
  const facts = ledger && (await readLedgerFacts(source, ledger, signal));
  const genesis =
    trust.kind === 'signatures' && trust.waypoint.version === 0n
      ? trust.waypoint
      : (facts?.genesis ?? (await readGenesisWaypoint(source, index, signal)));
  const newest = newestVersion(index, snapshot, facts);
  if (trust.kind === 'roots') checkRoots(trust, genesis, snapshot, newest);
  return { source, options, signal, index, infos, epochs, snapshot, facts, genesis };
}

/**
 * Creates the ledger of a backup in a store without a ledger. None of it may be used before this resolves.
 * @throws BackupError; StoreError
 */
export async function restoreBackup(backup: VerifiedBackup, store: Store): Promise<RestoredBackup> {
  const { source, options, signal, snapshot, facts, genesis, epochs } = backup;
  const { manifest, proof, accumulator } = snapshot;
  const { version, rootHash: stateRoot } = manifest;
  const { onProgress, trust } = options;
  // Identifies the state, so that only the same restore is resumed.
  const digest = domainHash('Backup', proof.infoBytes, Buffer.from(`${version}`));
  const target = await StateImport.open(store, digest, version);
  const total = Number(manifest.chunks[manifest.chunks.length - 1]!.last) + 1;
  await restoreState(source, manifest, target, signal, (done) =>
    onProgress({ stage: 'keys', done, total }),
  );
  if (facts !== undefined) {
    await restoreStreams(source, facts, version, target, signal);
  }
  const chainId = await resourceAt(store, version, CHAIN_ID_TAG, chainIdCodec.decode);
  const block = await resourceAt(store, version, BLOCK_RESOURCE_TAG, blockResourceCodec.decode);
  const { epoch, timestampUsecs } = proof.signed.info;
  if (
    facts !== undefined &&
    (facts.chainId !== chainId || facts.timestampUsecs !== timestampUsecs)
  ) {
    throw malformed(manifest.ledger!.file, 'its chain id or time contradicts the state');
  }
  const base: LedgerBase = {
    identity: { chainId, genesisWaypointHash: genesis.hash, keepsTransactions: true },
    version,
    frozenRoots: accumulator.frozenSubtreeRoots,
    ...{ timestampUsecs, epoch, blockHeight: block.height },
  };
  await target.begin(base);
  const head = await restoreTransactions(backup, store);
  await target.end();
  return {
    ...{ head, chainId, stateVersion: version, stateRoot, keys: target.keys, epochs },
    accumulatorRoot: accumulator.rootHash(),
    genesisWaypoint: formatWaypoint(genesis),
    isGenesisCovered: trust.kind === 'signatures' && genesis === trust.waypoint,
    isTrustCompared: trust.kind === 'roots' && trust.roots.length > 0,
  };
}

/** Commits the transactions after the state, up to the last whole block. */
async function restoreTransactions(backup: VerifiedBackup, store: Store): Promise<Head> {
  const writer = await LedgerWriter.open(store);
  const { version, frozenRoots } = writer.head!;
  const { source, options, signal, infos, index, facts } = backup;
  const { trust, verifier, onProgress } = options;
  const trustedRoots = trust.kind === 'roots' ? trust.roots : [];
  // An earlier attempt may have used other roots, or none.
  await withPageErrors(undefined, () => checkStoredRoots(store, writer.head!, trustedRoots));
  const first = version + 1n;
  const committer = new Committer(writer);
  const assembler = new ChunkAssembler(first, true);
  let known = new MerkleAccumulator('TransactionAccumulator', first, frozenRoots);
  const backups = smallestCover(index.transactions, first, 'version');
  const total = Number((backups[backups.length - 1]?.last ?? version) - version);
  const readManifest = (backup: RangeBackup) => readTransactionManifest(source, backup, signal);
  const readChunk = (chunk: TransactionChunk) => readPair(source, chunk, signal);
  let isKnown = true;
  for await (const [, chunks] of readAhead(backups, readManifest, 2)) {
    if (!isKnown) break;
    const needed = chunks.filter(({ last }) => last >= known.leafCount);
    const verify = async (pair: StoredPair, chunk: TransactionChunk) => {
      const checks = { known, infos, trustedRoots, verifier };
      return await verifyTransactions(chunk, await unpackPair(pair, chunk), checks);
    };
    for await (const [, verified] of readChecked(source, needed, readChunk, verify)) {
      // An unverified chunk is newer than the epoch ends in the backup, so its validators are unknown.
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
  // A ledger of Daybook ends where a block ends, and so does its snapshot.
  if (facts !== undefined) assembler.flushPartialBlock();
  const rest = assembler.takeChunk();
  if (rest !== undefined) await committer.push(rest);
  await committer.drain();
  return writer.head!;
}

/** Verifies the ends of all epochs, and finds the newest snapshot of an epoch whose validators are known. */
async function verifiedEpochs(
  source: BackupSource,
  index: BackupIndex,
  waypoint: Waypoint,
  { onProgress }: RestoreOptions,
  signal: AbortSignal,
) {
  if (index.epochs.length === 0) {
    const detail = 'it has no ends of epochs: daybook init --snapshot takes it, with --trust';
    throw new BackupError('backup_incomplete', detail);
  }
  const endings = await findEpochEndings(source, index, waypoint, signal);
  const { firstEpoch, lastEpoch } = endings;
  const backup = newestSnapshot(index, firstEpoch, lastEpoch + 1n);
  const total = Number(lastEpoch - firstEpoch) + 1;
  const infos = await verifyEpochEndings(source, endings, backup.epoch, signal, (epoch) =>
    onProgress({ stage: 'epochs', done: Number(epoch - firstEpoch) + 1, total }),
  );
  return { backup, infos, epochs: total };
}

/** The last version that the backup has. @throws BackupError if a snapshot states a different one */
function newestVersion(
  { transactions }: BackupIndex,
  { manifest: { version } }: ProvedSnapshot,
  facts: LedgerFacts | undefined,
): bigint {
  const later = smallestCover(transactions, version + 1n, 'version');
  const newest = later[later.length - 1]?.last ?? version;
  if (facts === undefined || facts.newestVersion === newest) return newest;
  const detail = `it ends with version ${newest}, not with ${facts.newestVersion}`;
  throw new BackupError('backup_incomplete', detail);
}

/**
 * Compares the genesis, and trusted roots of the snapshot's version. Roots of later versions are compared when the
 * transactions are verified.
 * @throws BackupError `waypoint_mismatch`, `backup_unproved`
 */
function checkRoots(
  { genesis: expected, roots }: Extract<BackupTrust, { kind: 'roots' }>,
  genesis: Waypoint,
  { accumulator }: ProvedSnapshot,
  newest: bigint,
): void {
  if (expected !== undefined && !isSameWaypoint(expected, genesis)) {
    const [found, expectedText] = [formatWaypoint(genesis), formatWaypoint(expected)];
    throw new BackupError(
      'waypoint_mismatch',
      `it states genesis waypoint ${found}, not ${expectedText}`,
    );
  }
  const version = accumulator.leafCount - 1n;
  const root = accumulator.rootHash();
  for (const trusted of roots) {
    if (trusted.version < version || trusted.version > newest) {
      const detail = `it has versions ${version} to ${newest}: a root of version ${trusted.version} cannot be compared with it`;
      throw new BackupError('backup_unproved', detail);
    }
    if (trusted.version !== version || root.equals(trusted.root)) continue;
    const [found, trustedText] = [root, Buffer.from(trusted.root)].map((hash) =>
      hash.toString('hex'),
    );
    const detail = `its accumulator root at version ${version} is ${found}, the trusted one is ${trustedText}: nothing was stored`;
    throw new BackupError('backup_unproved', detail);
  }
}

/** The waypoint that the backup states for genesis. @throws BackupError */
async function readGenesisWaypoint(
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

/** A resource at 0x1. The root of the state is already verified. @throws BackupError */
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
