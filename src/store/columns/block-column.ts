/**
 * Blocks by height and by first version, and epochs by last version (docs/spec/ledger.md §2.3). A block's row is the
 * same in both columns: looking up a version takes no second read.
 */
import { hash, structCodec, u64 } from '../../move/bcs/codec.ts';
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
  /** Its last version: that of the transaction that reconfigured. */
  readonly lastVersion: bigint;
}

const block = structCodec<Block>({
  height: u64,
  firstVersion: u64,
  epoch: u64,
  round: u64,
  timestampUsecs: u64,
  id: hash,
});

export const BLOCK_BY_HEIGHT = new RowCodec<bigint, Block>(
  BLOCKS_BY_HEIGHT,
  encodeBucketKey,
  block,
);
export const BLOCK_BY_VERSION = new RowCodec<bigint, Block>(
  BLOCKS_BY_VERSION,
  encodeBucketKey,
  block,
);

export const EPOCH_END = new RowCodec<bigint, EpochEnd>(
  EPOCHS,
  (lastVersion) => ({ partition: EPOCHS_PARTITION, order: encodeU64Key(lastVersion) }),
  {
    write: (writer, { epoch }) => writer.u64(epoch),
    read: (reader, { order }) => ({
      epoch: reader.u64(),
      lastVersion: decodeU64Key(Buffer.from(order)),
    }),
  },
);
