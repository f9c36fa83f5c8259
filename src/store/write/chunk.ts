/**
 * A chunk has the consecutive versions that the store writes in one commit, in the store's terms. The producer of a
 * chunk has verified its hashes; the store checks that it continues the ledger.
 */
import { HASH_BYTES } from '../../move/crypto/hash.ts';
import type { Address } from '../../move/types/address.ts';
import type { StateValueMetadata } from '../../move/types/state-value.ts';
import type { Block, EpochEnd } from '../columns/block-column.ts';
import { frozenRootCount, type Head, isBareState, oldestTransaction } from '../columns/head.ts';
import type { LedgerIdentity } from '../columns/identity-column.ts';
import { chunkError } from '../store-error.ts';

export const MAX_CHUNK_TRANSACTIONS = 100_000;

export interface StateWrite {
  /** The physical state key (docs/spec/ledger.md §1.2). */
  readonly key: Buffer;
  /** The value's bytes; `undefined` deletes. */
  readonly value: Uint8Array | undefined;
  /** Absent for plain values; ignored for deletions. */
  readonly metadata?: StateValueMetadata | undefined;
}

/** An event of a stream. Type tag and data are BCS. */
export interface ChunkStreamEvent {
  readonly kind: 'stream';
  readonly address: Address;
  readonly creationNumber: bigint;
  readonly sequenceNumber: bigint;
  readonly typeTag: Uint8Array;
  readonly data: Uint8Array;
}

/** A module event. Type tag and data are BCS. */
export interface ChunkModuleEvent {
  readonly kind: 'module';
  readonly typeTag: Uint8Array;
  readonly data: Uint8Array;
}

/** A stream event that was translated from a module event (docs/spec/ledger.md §5.8). */
export interface TranslatedEvent extends ChunkStreamEvent {
  readonly index: number;
}

/** One version. Buffers must stay unchanged until the chunk is committed. */
export interface ChunkTransaction {
  readonly writes: readonly StateWrite[];
  /** In the order of emission: the position is the event's index. */
  readonly events: readonly (ChunkStreamEvent | ChunkModuleEvent)[];
  translatedEvents?: readonly TranslatedEvent[];
  readonly info: Uint8Array;
  /** BCS of the TransactionOnChainData; required when the ledger stores transactions. */
  readonly transaction?: Uint8Array | undefined;
}

/** Versions `firstVersion`, `firstVersion + 1`, … */
export interface Chunk {
  readonly firstVersion: bigint;
  readonly transactions: readonly ChunkTransaction[];
  readonly blocks: readonly Block[];
  readonly epochEnds: readonly EpochEnd[];
  /** The accumulator's full subtrees after the chunk's last version, as in Head. */
  readonly frozenRoots: readonly Buffer[];
  readonly identity?: LedgerIdentity | undefined;
}

export function lastVersionOf(chunk: Chunk): bigint {
  return chunk.firstVersion + BigInt(chunk.transactions.length) - 1n;
}

/** Checks everything that does not need the store. @throws StoreError `chunk_…` */
export function checkChunk(chunk: Chunk): void {
  const { firstVersion, transactions, frozenRoots } = chunk;
  if (transactions.length === 0) {
    throw chunkError('chunk_empty', firstVersion, 'a chunk without transactions');
  }
  if (transactions.length > MAX_CHUNK_TRANSACTIONS) {
    throw chunkError(
      'chunk_too_large',
      firstVersion,
      `a chunk of ${transactions.length} versions, at most ${MAX_CHUNK_TRANSACTIONS} are allowed`,
    );
  }
  if ((chunk.identity !== undefined) !== (firstVersion === 0n)) {
    const detail = 'the ledger’s identity comes with version 0 and with nothing else';
    throw chunkError('chunk_identity', firstVersion, detail);
  }
  const last = lastVersionOf(chunk);
  const expectedRoots = frozenRootCount(last + 1n);
  if (
    frozenRoots.length !== expectedRoots ||
    frozenRoots.some((root) => root.length !== HASH_BYTES)
  ) {
    const detail = `an accumulator of this length has ${expectedRoots} full subtrees`;
    throw chunkError('chunk_accumulator', last, detail);
  }
  checkEpochs(chunk, last);
}

function checkEpochs({ firstVersion, epochEnds }: Chunk, last: bigint): void {
  let lowest = firstVersion;
  for (const { lastVersion } of epochEnds) {
    if (lastVersion < lowest || lastVersion > last) {
      const detail = 'an epoch that ends here is outside its chunk or out of order';
      throw chunkError('chunk_epochs', lastVersion, detail);
    }
    lowest = lastVersion + 1n;
  }
}

export function checkBlocks(chunk: Chunk, head: Head | undefined): void {
  const last = lastVersionOf(chunk);
  let height = head === undefined ? 0n : head.blockHeight + 1n;
  let lowest = chunk.firstVersion;
  if (head === undefined && chunk.blocks[0]?.firstVersion !== 0n) {
    throw chunkError('chunk_blocks', 0n, 'the first version begins block 0');
  }
  if (head !== undefined && isBareState(head) && chunk.blocks[0]?.firstVersion !== lowest) {
    throw chunkError('chunk_blocks', lowest, 'the first version after a snapshot begins a block');
  }
  for (const block of chunk.blocks) {
    if (block.height !== height) {
      const detail = `block ${block.height} begins where block ${height} is expected`;
      throw chunkError('chunk_blocks', block.firstVersion, detail);
    }
    if (block.firstVersion < lowest || block.firstVersion > last) {
      const detail = `block ${height} begins outside its chunk or out of order`;
      throw chunkError('chunk_blocks', block.firstVersion, detail);
    }
    height += 1n;
    lowest = block.firstVersion + 1n;
  }
}

export function headAfter(chunk: Chunk, head: Head | undefined): Head {
  const newest = chunk.blocks[chunk.blocks.length - 1];
  if (newest === undefined && head === undefined) {
    throw new RangeError('a ledger without blocks: check the chunk first');
  }
  return {
    version: lastVersionOf(chunk),
    timestampUsecs: newest?.timestampUsecs ?? head!.timestampUsecs,
    epoch: newest?.epoch ?? head!.epoch,
    blockHeight: newest?.height ?? head!.blockHeight,
    oldestVersion: head === undefined ? 0n : oldestTransaction(head),
    oldestBlockHeight: head?.oldestBlockHeight ?? 0n,
    frozenRoots: chunk.frozenRoots,
  };
}
