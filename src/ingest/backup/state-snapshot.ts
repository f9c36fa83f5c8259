/** Restores the state of a snapshot: every chunk is proved before it is stored (docs/spec/backup.md §4.6). */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BcsReader } from '../../move/bcs/bcs-reader.ts';
import {
  LeafOrderError,
  readRangeProof,
  type StateRootBuilder,
} from '../../move/crypto/sparse-merkle.ts';
import { physicalStateKey, readStateKey, stateKeyHash } from '../../move/types/state-key.ts';
import { readStateValue, type StateValue, stateValueHash } from '../../move/types/state-value.ts';
import type { ImportedValue, StateImport } from '../../store/state-import.ts';
import { readAhead } from '../read-ahead.ts';
import { BackupError, malformed, unproved } from './backup-error.ts';
import { decodeIn, readPair, recordsOf, type StoredPair, unpackPair } from './backup-files.ts';
import type { SnapshotBackup } from './backup-index.ts';
import type { BackupSource } from './backup-source.ts';
import type { EpochChain } from './epoch-chain.ts';
import { type InfoProof, provedInfo, readInfoProof } from './ledger-proofs.ts';
import { readStateManifest, type StateChunk, type StateManifest } from './manifests.ts';

/** Values that are stored together, and their bytes. */
const PART_VALUES = 2_000;
const PART_BYTES = 4 * 1024 * 1024;

/** A snapshot whose root the validators have signed. */
export interface ProvedSnapshot {
  readonly manifest: StateManifest;
  readonly proof: InfoProof;
}

/**
 * Reads the manifest of a snapshot and verifies its root.
 * @throws BackupError
 */
export async function proveSnapshot(
  source: BackupSource,
  backup: SnapshotBackup,
  epochs: EpochChain,
  signal: AbortSignal,
): Promise<ProvedSnapshot> {
  const manifest = await readStateManifest(source, backup, signal);
  const names = { data: backup.manifest, proof: manifest.proof };
  const file = manifest.proof;
  const pair = await unpackPair(await readPair(source, names, signal), names);
  const proof = readInfoProof(pair.proof, file);
  const { epoch, version } = proof.signed.info;
  if (version !== manifest.version || epoch !== manifest.epoch) {
    const detail = `the ledger info is of epoch ${epoch}, version ${version}: not the snapshot's`;
    throw unproved(file, detail);
  }
  epochs.check(proof.signed, file);
  provedInfo(proof, manifest.version, file);
  const isRoot = proof.info.stateCheckpointHash?.equals(manifest.rootHash) === true;
  if (isRoot) return { manifest, proof };
  throw unproved(backup.manifest, 'its root is not that of the transaction info');
}

/**
 * Stores the state of a snapshot, from where the import has come to.
 * @param onKeys gets the number of keys so far
 * @throws BackupError; StoreError
 */
export async function restoreState(
  source: BackupSource,
  { chunks, rootHash }: StateManifest,
  target: StateImport,
  signal: AbortSignal,
  onKeys: (keys: number) => void = () => undefined,
): Promise<void> {
  const left = chunks.filter(({ last }) => last >= BigInt(target.keys));
  const read = (chunk: StateChunk) => readPair(source, chunk, signal);
  for await (const [chunk, stored] of readAhead(left, read)) {
    const files = await unpackPair(stored, chunk);
    await proveChunk(chunk, files, rootHash, target, signal);
    for (const part of partsOf(chunk, files.data, target.keys)) {
      await target.addValues(part);
      onKeys(target.keys);
      signal.throwIfAborted();
    }
  }
  await target.settle();
  if (!target.stateRoot.equals(rootHash)) {
    throw new BackupError('backup_unproved', 'the state is not whole: its root is another one');
  }
}

/**
 * Proves that the values of a chunk are the next ones of the state.
 * @throws BackupError
 */
async function proveChunk(
  chunk: StateChunk,
  { data, proof }: StoredPair,
  rootHash: Buffer,
  target: StateImport,
  signal: AbortSignal,
): Promise<void> {
  const root = target.rootCopy();
  let firstKey: Buffer | undefined;
  let lastKey: Buffer | undefined;
  let index = chunk.first;
  for (const { key, value } of valuesOf(chunk, data)) {
    lastKey = stateKeyHash(key);
    firstKey ??= lastKey;
    // Those before were stored, and proved with the whole chunk, before this run.
    if (index >= BigInt(target.keys)) addLeaf(root, lastKey, stateValueHash(value), chunk.data);
    index += 1n;
    if (index % BigInt(PART_VALUES) === 0n) await nextTurn(undefined, { signal });
  }
  if (firstKey?.equals(chunk.firstKey) !== true || lastKey?.equals(chunk.lastKey) !== true) {
    throw malformed(chunk.data, 'its first or last key is not that of the manifest');
  }
  const siblings = decodeIn(chunk.proof, 'the proof', proof, readRangeProof);
  if (root.beginsTree(rootHash, siblings)) return;
  throw unproved(chunk.data, 'its values are not those of the snapshot');
}

function addLeaf(root: StateRootBuilder, keyHash: Buffer, valueHash: Buffer, file: string): void {
  try {
    root.add(keyHash, valueHash);
  } catch (cause) {
    if (!(cause instanceof LeafOrderError)) throw cause;
    throw malformed(file, cause.message, cause);
  }
}

/** The values of a chunk from an index of the snapshot on, in parts. */
function* partsOf(chunk: StateChunk, data: Buffer, from: number): Generator<ImportedValue[]> {
  let part: ImportedValue[] = [];
  let byteLength = 0;
  let index = chunk.first;
  for (const value of valuesOf(chunk, data)) {
    index += 1n;
    if (index <= BigInt(from)) continue;
    part.push({ key: value.key, ...value.value });
    byteLength += value.value.bytes.length;
    if (part.length < PART_VALUES && byteLength < PART_BYTES) continue;
    yield part;
    part = [];
    byteLength = 0;
  }
  if (part.length > 0) yield part;
}

interface ChunkValue {
  /** Physical. */
  readonly key: Buffer;
  readonly value: StateValue;
}

function* valuesOf({ data: file, first, last }: StateChunk, bytes: Buffer): Generator<ChunkValue> {
  for (const record of recordsOf(bytes, last - first + 1n, file)) {
    yield decodeIn(file, 'a value of the state', record, readValue);
  }
}

function readValue(reader: BcsReader): ChunkValue {
  const key = physicalStateKey(readStateKey(reader));
  return { key, value: readStateValue(reader) };
}
