/** What a store must have according to the stored bytes of a version: its transaction, and the rows that follow. */
import { ChunkBuilder, ChunkDataError, marksOf } from '../ingest/chunk-builder.ts';
import { PageError } from '../ingest/feed/page-error.ts';
import { checkItem } from '../ingest/feed/page-verifier.ts';
import { GenesisError } from '../ingest/genesis/genesis.ts';
import { placeEvent, placeWrites, VersionParts, versionPlaces } from '../ingest/version-parts.ts';
import { BcsError, decodeBcs } from '../move/bcs/bcs-reader.ts';
import { type OnChainDataOf, readOnChainDataWith } from '../move/transactions/transaction.ts';
import type { BatchOperation } from '../store/batch.ts';
import { type Column, TRANSACTIONS } from '../store/columns/columns.ts';
import type { LedgerIdentity } from '../store/columns/identity-column.ts';
import type { BucketKey } from '../store/columns/order-key.ts';
import { type ChunkKey, chunkRows } from '../store/write/chunk-rows.ts';
import type { DamageList } from './context.ts';

/** A stored transaction whose hashes are those of its info. */
export interface DerivedVersion {
  readonly item: OnChainDataOf<unknown, unknown>;
  readonly rows: readonly BatchOperation[];
  readonly keys: readonly ChunkKey[];
  /** By index: whether the event belongs to a module, and not to a stream. */
  readonly isModuleEvent: readonly boolean[];
}

/** Runs a decoder of what a row has; a failure is reported as damage of the row. */
export function decodedPart<T>(
  damages: DamageList,
  { column, key, version }: { column: Column; key: BucketKey; version: bigint },
  decode: () => T,
): T | undefined {
  try {
    return decode();
  } catch (error) {
    const isDamage =
      error instanceof BcsError ||
      error instanceof PageError ||
      error instanceof ChunkDataError ||
      error instanceof GenesisError;
    if (!isDamage) throw error;
    damages.row(column, key, error.message, version);
    return undefined;
  }
}

/**
 * Decodes a stored transaction once, computes its hashes, and makes its rows.
 * @returns `undefined` for one that does not decode, or whose hashes differ, which is reported
 */
export function deriveVersion(
  damages: DamageList,
  identity: LedgerIdentity,
  version: bigint,
  key: BucketKey,
  bytes: Buffer,
): DerivedVersion | undefined {
  return decodedPart(damages, { column: TRANSACTIONS, key, version }, () => {
    const events: number[] = [];
    const writes: number[] = [];
    const item = decodeBcs(bytes, (reader) =>
      readOnChainDataWith(
        reader,
        (one) => placeEvent(one, events),
        (all) => placeWrites(all, writes),
      ),
    );
    checkItem(item, version);
    const infoAt = item.bytes.info.byteOffset - bytes.byteOffset;
    const ranges = [0, bytes.length, infoAt, infoAt + item.bytes.info.length] as const;
    const places = versionPlaces(ranges, marksOf(item.bytes.events), events, writes);
    const builder = new ChunkBuilder(version);
    const parts = new VersionParts(bytes, places, 0, true);
    builder.addParts(parts);
    const { batch, keys } = chunkRows(builder.finish([]), identity);
    const isModuleEvent = parts.events.map(({ kind }) => kind === 'module');
    return { item, rows: batch.rows, keys, isModuleEvent };
  });
}
