/**
 * Writes the rows of proved versions in place: all that a version makes, its translated events included, as when it was
 * committed. Damaged rows of the version that it does not make are removed.
 */
import { ChunkBuilder } from '../../ingest/chunk-builder.ts';
import { ChunkTranslator } from '../../ingest/translate/chunk-translator.ts';
import { translationOf } from '../../ingest/translate/event-translation.ts';
import type { EncodedOnChainData } from '../../move/transactions/transaction.ts';
import { Batch, type BatchOperation } from '../../store/batch.ts';
import {
  type Column,
  type RowKey,
  STATE,
  STATE_KEYS,
  VERSION_WRITES,
} from '../../store/columns/columns.ts';
import type { Head } from '../../store/columns/head.ts';
import type { LedgerIdentity } from '../../store/columns/identity-column.ts';
import {
  decodeU64Key,
  encodeBucketKey,
  encodeU64Key,
  U64_BYTES,
} from '../../store/columns/order-key.ts';
import { decodeStateRow } from '../../store/columns/state-column.ts';
import { putKey, rowsOfKey } from '../../store/columns/state-key-column.ts';
import type { Store } from '../../store/store.ts';
import { isDamaged, keyText, RowDamagedError } from '../../store/store-error.ts';
import type { Chunk } from '../../store/write/chunk.ts';
import { type ChunkKey, chunkRows } from '../../store/write/chunk-rows.ts';
import type { Proof } from './proof.ts';
import type { VersionSource } from './version-source.ts';

export interface NamedRow {
  readonly column: Column;
  readonly partition: Buffer;
  readonly order: Buffer;
}

export interface VersionsToRepair {
  readonly head: Head;
  readonly identity: LedgerIdentity;
  readonly clearedBelow: bigint;
  /** Ascending, each with its damaged rows. */
  readonly versions: ReadonlyMap<bigint, readonly NamedRow[]>;
  readonly commitBytes: number;
  readonly firstUnavailable: bigint | undefined;
}

export async function repairVersions(
  store: Store,
  { head, identity, clearedBelow, versions, commitBytes, firstUnavailable }: VersionsToRepair,
  source: VersionSource,
  proof: Proof,
  onVersions: (versions: number) => void,
): Promise<void> {
  let batch = new Batch();
  let done = 0;
  let isWaiting = false;
  const keys: ChunkKey[] = [];
  const commit = async (): Promise<void> => {
    await store.commit(batch);
    batch = new Batch();
    // Their first writes may be among the rows that exist only now.
    for (const key of keys.splice(0)) await putFirstWrite(batch, store, key, clearedBelow);
    await store.commit(batch);
    batch = new Batch();
    onVersions(done);
  };
  for await (const item of source.items([...versions.keys()])) {
    proof.check(item);
    const { version } = item.data;
    const untranslated = chunkOf(item);
    const isTranslated = hasTranslatableEvents(untranslated);
    // A translation may read rows of the batch.
    if (isTranslated && batch.size > 0) await commit();
    // While a version before is damaged, an event would get the wrong place in its stream.
    isWaiting ||= firstUnavailable !== undefined && firstUnavailable < version;
    const translatedChunk: Chunk | undefined =
      isTranslated && isWaiting ? undefined : await translated(store, head, untranslated);
    isWaiting ||= translatedChunk === undefined;
    const derived = chunkRows(translatedChunk ?? untranslated, identity);
    const names = new Set<string>();
    // Without its translated events a version stays damaged until they can be made: its writes are left out.
    const isReplaced = translatedChunk !== undefined || !(await hasReadableWrites(store, version));
    if (isReplaced) batch.clearVersion(encodeBucketKey(version));
    for (const row of derived.batch.rows) {
      if (isCleared(row, version, clearedBelow)) continue;
      names.add(nameOf(row));
      if (translatedChunk === undefined && row.column === VERSION_WRITES) continue;
      batch.put(row.column, row.partition, row.order, row.value!);
    }
    for (const { physical, hash } of derived.keys) {
      for (const row of rowsOfKey(physical, hash)) names.add(nameOf(row));
    }
    for (const row of versions.get(version) ?? []) {
      if (!names.has(nameOf(row))) batch.delete(row.column, row.partition, row.order);
    }
    keys.push(...derived.keys);
    done += 1;
    if (batch.byteLength >= commitBytes) await commit();
  }
  await commit();
}

function nameOf(row: RowKey & { readonly column: Column }): string {
  return `${row.column.number} ${keyText(row)}`;
}

export function chunkOf({ bytes, data }: EncodedOnChainData): Chunk {
  const builder = new ChunkBuilder(data.version);
  const { info, events, changes, whole } = bytes;
  builder.add({ info, events, writeSet: changes, transaction: whole });
  return builder.finish([]);
}

function hasTranslatableEvents({ transactions }: Chunk): boolean {
  return transactions.some(({ events }) =>
    events.some(({ kind, typeTag }) => kind === 'module' && translationOf(typeTag) !== undefined),
  );
}

/** Whether the writes of a version can be read: if not, nothing stored with them can. */
async function hasReadableWrites(store: Store, version: bigint): Promise<boolean> {
  const { partition, order } = encodeBucketKey(version);
  try {
    await store.get(VERSION_WRITES, partition, order);
    return true;
  } catch (error) {
    if (!isDamaged(error)) throw error;
    return false;
  }
}

/** A chunk with its translated events; `undefined` if these depend on damaged rows. */
async function translated(store: Store, head: Head, chunk: Chunk): Promise<Chunk | undefined> {
  const { firstVersion } = chunk;
  const before = firstVersion === 0n ? undefined : { ...head, version: firstVersion - 1n };
  try {
    return await new ChunkTranslator({ reader: store, head: before }).translate(chunk);
  } catch (error) {
    if (!isDamaged(error)) throw error;
    return undefined;
  }
}

/** A deletion at the version below which all is cleared is itself cleared (docs/spec/ledger.md §5.6). */
function isCleared(
  { column, partition, value }: BatchOperation,
  version: bigint,
  clearedBelow: bigint,
): boolean {
  if (column !== STATE || version !== clearedBelow || version === 0n) return false;
  const row = { order: encodeU64Key(version), value: Buffer.from(value!) };
  return decodeStateRow(partition, row).deletedKey !== undefined;
}

/** The version of the first row of a key, which may be damaged. */
async function firstVersionOf(store: Store, hash: Buffer): Promise<bigint | undefined> {
  try {
    const [first] = await store.range(STATE, hash, { limit: 1 });
    return first && decodeU64Key(first.order);
  } catch (error) {
    if (!(error instanceof RowDamagedError) || error.row.order.length !== U64_BYTES) throw error;
    return decodeU64Key(Buffer.from(error.row.order));
  }
}

async function putFirstWrite(
  batch: Batch,
  store: Store,
  { physical, hash }: ChunkKey,
  clearedBelow: bigint,
): Promise<void> {
  const firstVersion = await firstVersionOf(store, hash);
  if (firstVersion === undefined) return;
  const rows = rowsOfKey(physical, hash);
  const end = rows[rows.length - 1]!;
  const keyRows = new Batch();
  putKey(keyRows, rows, physical, firstVersion);
  const stored = await store.get(end.column, end.partition, end.order);
  const isVersion = end.column !== STATE_KEYS && stored?.length === U64_BYTES;
  // Where history is pruned, the key may be older than its first row; the version in its row tells.
  if (clearedBelow > 0n && isVersion && stored.readBigUInt64LE(0) <= clearedBelow) return;
  for (const { column, partition, order, value } of keyRows.rows) {
    batch.put(column, partition, order, value!);
  }
}
