/**
 * Blocks by height and by first version, and epochs by last version (docs/spec/ledger.md §2.3). A
 * block's row is the same in both columns: who looks a version up needs no second read.
 */

import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { readHash, writeHash } from '../../move/bcs/fixed-bytes.ts';
import type { Batch } from '../batch.ts';
import type { Row } from '../store.ts';
import { BLOCKS_BY_HEIGHT, BLOCKS_BY_VERSION, type Column, EPOCHS } from './columns.ts';
import { decodeU64Key, encodeBucketKey, encodeU64Key } from './order-key.ts';
import { decodeRow } from './row-codec.ts';

/** The one partition of the epochs: there are few. */
export const EPOCHS_PARTITION = Buffer.of(0);

/** A block, as the event that begins it tells (docs/spec/ledger.md §2.3). */
export interface Block {
  readonly height: bigint;
  readonly firstVersion: bigint;
  readonly epoch: bigint;
  readonly round: bigint;
  /** Microseconds since 1970. */
  readonly timestampUsecs: bigint;
  /** 32 bytes; zeros for genesis. */
  readonly id: Buffer;
}

/** An epoch that has ended. */
export interface EpochEnd {
  readonly epoch: bigint;
  /** Its last version: of the transaction that reconfigured. */
  readonly lastVersion: bigint;
}

/** Bytes of a block. */
export function encodeBlock(block: Block): Buffer {
  return encodeBcs((writer) => {
    writer.u64(block.height).u64(block.firstVersion).u64(block.epoch).u64(block.round);
    writer.u64(block.timestampUsecs);
    writeHash(writer, block.id);
  });
}

/** Reads a block's row of either column. @throws RowDamagedError */
export function decodeBlock(
  column: Column,
  partition: Uint8Array,
  order: Uint8Array,
  value: Uint8Array,
): Block {
  return decodeRow(column, partition, order, value, (reader) => {
    const height = reader.u64();
    const firstVersion = reader.u64();
    const epoch = reader.u64();
    const round = reader.u64();
    const timestampUsecs = reader.u64();
    return { height, firstVersion, epoch, round, timestampUsecs, id: readHash(reader) };
  });
}

/** Files a block under its height and under its first version. */
export function putBlock(batch: Batch, block: Block): void {
  const value = encodeBlock(block);
  const byHeight = encodeBucketKey(block.height);
  batch.put(BLOCKS_BY_HEIGHT, byHeight.partition, byHeight.order, value);
  const byVersion = encodeBucketKey(block.firstVersion);
  batch.put(BLOCKS_BY_VERSION, byVersion.partition, byVersion.order, value);
}

/** Files an epoch that has ended. */
export function putEpochEnd(batch: Batch, { epoch, lastVersion }: EpochEnd): void {
  const value = encodeBcs((writer) => writer.u64(epoch));
  batch.put(EPOCHS, EPOCHS_PARTITION, encodeU64Key(lastVersion), value);
}

/** Reads a row of the epochs. @throws RowDamagedError */
export function decodeEpochEnd({ order, value }: Row): EpochEnd {
  return decodeRow(EPOCHS, EPOCHS_PARTITION, order, value, (reader) => ({
    epoch: reader.u64(),
    lastVersion: decodeU64Key(order),
  }));
}
