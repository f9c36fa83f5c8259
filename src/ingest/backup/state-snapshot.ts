/** Restores the state of a snapshot. Every chunk is verified before it is stored (docs/spec/backup.md §4.6). */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { MerkleAccumulator } from '../../move/crypto/accumulator.ts';
import {
  LeafOrderError,
  readRangeProof,
  type StateRootBuilder,
} from '../../move/crypto/sparse-merkle.ts';
import { stateKeyHash } from '../../move/types/state-key.ts';
import { StateValue, stateValueHash } from '../../move/types/state-value.ts';
import type { ScannedRow } from '../../store/columns/columns.ts';
import { eventRow } from '../../store/columns/event-column.ts';
import type { ImportedValue, StateImport } from '../../store/write/state-import.ts';
import { handlesIn } from '../translate/handle-resources.ts';
import { readPhysicalKey } from '../version-parts.ts';
import { BackupError, malformed, unproved } from './backup-error.ts';
import {
  decodeIn,
  inPortions,
  PORTION_ITEMS,
  readChecked,
  readPair,
  recordsOf,
  type StoredPair,
  unpackPair,
} from './backup-files.ts';
import type { SnapshotBackup } from './backup-index.ts';
import type { BackupSource } from './backup-source.ts';
import {
  type InfoProof,
  type LedgerInfoCheck,
  provedInfo,
  readInfoProof,
  UNCHECKED,
} from './ledger-proofs.ts';
import { readStateManifest, type StateChunk, type StateManifest } from './manifests.ts';

/** A snapshot whose root is covered by a checked ledger info. */
export interface ProvedSnapshot {
  readonly manifest: StateManifest;
  readonly proof: InfoProof;
  readonly accumulator: MerkleAccumulator;
}

/** Reads the manifest of a snapshot and verifies its root. @throws BackupError */
export async function proveSnapshot(
  source: BackupSource,
  backup: SnapshotBackup,
  infos: LedgerInfoCheck,
  signal: AbortSignal,
): Promise<ProvedSnapshot> {
  const manifest = await readStateManifest(source, backup, signal);
  if (!manifest.isSigned && infos !== UNCHECKED) {
    const detail = 'nobody has signed its root: daybook init --snapshot takes it, with --trust';
    throw unproved(backup.manifest, detail);
  }
  const names = { data: backup.manifest, proof: manifest.proof };
  const file = manifest.proof;
  const pair = await unpackPair(await readPair(source, names, signal), names);
  const proof = readInfoProof(pair.proof, file);
  const { epoch, version } = proof.signed.info;
  if (version !== manifest.version || epoch !== manifest.epoch) {
    const detail = `the ledger info is of epoch ${epoch}, version ${version}: not the snapshot's`;
    throw unproved(file, detail);
  }
  infos.check(proof.signed, file);
  const accumulator = provedInfo(proof, manifest.version, file);
  const isRoot = proof.info.stateCheckpointHash?.equals(manifest.rootHash) === true;
  if (isRoot) return { manifest, proof, accumulator };
  throw unproved(backup.manifest, 'its root is not that of the transaction info');
}

/**
 * Stores the state of a snapshot. Resumes where an earlier import stopped.
 * @param onKeys gets the number of keys so far
 * @throws BackupError; StoreError
 */
export async function restoreState(
  source: BackupSource,
  { chunks, rootHash, version, ledger }: StateManifest,
  target: StateImport,
  signal: AbortSignal,
  onKeys: (keys: number) => void,
): Promise<void> {
  const hasStreams = ledger !== undefined;
  const left = chunks.filter(({ last }) => last >= BigInt(target.keys));
  const read = (chunk: StateChunk) => readPair(source, chunk, signal);
  const check = async (stored: StoredPair, chunk: StateChunk): Promise<Buffer> => {
    const files = await unpackPair(stored, chunk);
    await verifyChunk(chunk, files, rootHash, target, signal);
    return files.data;
  };
  for await (const [chunk, data] of readChecked(source, left, read, check)) {
    const values = valuesFrom(chunk, data, target.keys);
    for (const portion of inPortions(values, ({ bytes }) => bytes.length)) {
      await target.add(portion, hasStreams ? [] : streamEndsIn(portion, version));
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
 * The end of each stream that has had events. The handle states their number; the last event itself is unknown and is
 * never shown.
 */
function streamEndsIn(values: readonly ImportedValue[], version: bigint): ScannedRow[] {
  const none = Buffer.alloc(0);
  return values
    .flatMap(({ key, bytes }) => handlesIn(key, bytes))
    .filter(({ counter }) => counter > 0n)
    .map(({ counter, key }) => {
      const place = { version, index: 0 };
      return eventRow(key, counter - 1n, place, { typeTag: none, data: none });
    });
}

/** Verifies that the values of a chunk are the next ones of the state. @throws BackupError */
async function verifyChunk(
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
  for (const value of valuesOf(chunk, data)) {
    lastKey = stateKeyHash(value.key);
    firstKey ??= lastKey;
    // An earlier run has verified the chunk and stored the values before this one.
    if (index >= BigInt(target.keys)) addLeaf(root, lastKey, stateValueHash(value), chunk.data);
    index += 1n;
    if (index % BigInt(PORTION_ITEMS) === 0n) await nextTurn(undefined, { signal });
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

function* valuesFrom(chunk: StateChunk, data: Buffer, from: number): Generator<ImportedValue> {
  let index = chunk.first;
  for (const value of valuesOf(chunk, data)) {
    if (index >= BigInt(from)) yield value;
    index += 1n;
  }
}

function* valuesOf(
  { data: file, first, last }: StateChunk,
  bytes: Buffer,
): Generator<ImportedValue> {
  for (const record of recordsOf(bytes, last - first + 1n, file)) {
    yield decodeIn(file, 'a value of the state', record, (reader) => ({
      key: readPhysicalKey(reader),
      ...StateValue.read(reader),
    }));
  }
}
