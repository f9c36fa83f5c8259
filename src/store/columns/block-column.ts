/**
 * Blocks by height and by first version, and epochs by last version (docs/spec/ledger.md §2.3). A block's row is the
 * same in both columns: looking up a version takes no second read.
 */
import type { BcsReader } from '../../move/bcs/bcs-reader.ts';
import type { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import { readHash, writeHash } from '../../move/bcs/fixed-bytes.ts';
import { BLOCKS_BY_HEIGHT, BLOCKS_BY_VERSION, EPOCHS } from './columns.ts';
import { decodeU64Key, encodeBucketKey, encodeU64Key } from './order-key.ts';
import { RowCodec } from './row-codec.ts';

const EPOCHS_PARTITION = Buffer.of(0);

/** A block, from the event that begins it (docs/spec/ledger.md §2.3). */
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

export interface EpochEnd {
  readonly epoch: bigint;
  /** Its last version: of the transaction that reconfigured. */
  readonly lastVersion: bigint;
}

export const BLOCK_BY_HEIGHT = new RowCodec<bigint, Block>(
  BLOCKS_BY_HEIGHT,
  encodeBucketKey,
  writeBlock,
  readBlock,
);

export const BLOCK_BY_VERSION = new RowCodec<bigint, Block>(
  BLOCKS_BY_VERSION,
  encodeBucketKey,
  writeBlock,
  readBlock,
);

export const EPOCH_END = new RowCodec<bigint, EpochEnd>(
  EPOCHS,
  (lastVersion) => ({ partition: EPOCHS_PARTITION, order: encodeU64Key(lastVersion) }),
  (writer, { epoch }) => writer.u64(epoch),
  (reader, { order }) => ({ epoch: reader.u64(), lastVersion: decodeU64Key(Buffer.from(order)) }),
);

function writeBlock(writer: BcsWriter, block: Block): void {
  writer.u64(block.height).u64(block.firstVersion).u64(block.epoch).u64(block.round);
  writer.u64(block.timestampUsecs);
  writeHash(writer, block.id);
}

function readBlock(reader: BcsReader): Block {
  const height = reader.u64();
  const firstVersion = reader.u64();
  const epoch = reader.u64();
  const round = reader.u64();
  const timestampUsecs = reader.u64();
  return { height, firstVersion, epoch, round, timestampUsecs, id: readHash(reader) };
}
