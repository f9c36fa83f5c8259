/** Chunks for tests: small handmade ledgers. */
import { physicalStateKey, resourceStateKey } from '../../src/move/types/state-key.ts';
import type { StructTag } from '../../src/move/types/type-tag.ts';
import type { Block } from '../../src/store/columns/block-column.ts';
import { frozenRootCount } from '../../src/store/columns/head.ts';
import type { LedgerIdentity } from '../../src/store/columns/identity-column.ts';
import type {
  Chunk,
  ChunkStreamEvent,
  ChunkTransaction,
  StateWrite,
} from '../../src/store/write/chunk.ts';
import { storedTransaction } from './on-chain-data.ts';

export const IDENTITY_OF_TESTS: LedgerIdentity = {
  chainId: 4,
  genesisWaypointHash: Buffer.alloc(32, 0x77),
  keepsTransactions: true,
};

/** The address `0x…n`. */
export function address(n: number): string {
  return n.toString(16).padStart(64, '0');
}

/** A struct tag `0x1::m::{name}`. */
export function tag(name: string): StructTag {
  return { address: address(1), module: 'm', name, typeArguments: [] };
}

/** The physical key of a resource. */
export function resourceKey(account: number, name: string): Buffer {
  return physicalStateKey(resourceStateKey(address(account), tag(name)));
}

/** The physical key of a table item. */
export function tableKey(handle: number, key: string): Buffer {
  const bytes = Buffer.concat([Buffer.of(1), Buffer.from(address(handle), 'hex')]);
  return Buffer.concat([bytes, Buffer.from(key)]);
}

export function write(key: Buffer, value: string | undefined): StateWrite {
  return { key, value: value === undefined ? undefined : Buffer.from(value) };
}

/** An event whose data is its sequence number. */
export function streamEvent(
  account: number,
  creationNumber: number,
  sequenceNumber: number,
): ChunkStreamEvent {
  return {
    kind: 'stream',
    address: address(account),
    creationNumber: BigInt(creationNumber),
    sequenceNumber: BigInt(sequenceNumber),
    typeTag: Buffer.of(2),
    data: Buffer.from(`#${sequenceNumber}`),
  };
}

/** A transaction whose info and bytes contain its version. */
export function transaction(
  version: number,
  parts: Partial<Pick<ChunkTransaction, 'writes' | 'events' | 'translatedEvents'>> = {},
): ChunkTransaction {
  return {
    writes: [],
    events: [],
    ...storedTransaction(version),
    ...parts,
  };
}

export function block(height: number, firstVersion: number, epoch = 1): Block {
  return {
    height: BigInt(height),
    firstVersion: BigInt(firstVersion),
    epoch: BigInt(epoch),
    round: BigInt(height * 2),
    timestampUsecs: BigInt(height * 1_000_000),
    id: Buffer.alloc(32, height),
  };
}

/** As many frozen roots as the accumulator has after a version. */
export function frozenRoots(lastVersion: number): Buffer[] {
  const count = frozenRootCount(BigInt(lastVersion) + 1n);
  return Array.from({ length: count }, (_, index) => Buffer.alloc(32, index + 1));
}

/** A chunk of transactions `first`, `first + 1`, …; with version 0 it is genesis. */
export function chunk(
  first: number,
  transactions: readonly ChunkTransaction[],
  rest: Partial<Pick<Chunk, 'blocks' | 'epochEnds' | 'identity' | 'frozenRoots'>> = {},
): Chunk {
  const genesis =
    first === 0
      ? {
          blocks: [block(0, 0, 0)],
          epochEnds: [{ epoch: 0n, lastVersion: 0n }],
          identity: IDENTITY_OF_TESTS,
        }
      : { blocks: [], epochEnds: [] };
  return {
    firstVersion: BigInt(first),
    transactions,
    frozenRoots: frozenRoots(first + transactions.length - 1),
    ...genesis,
    ...rest,
  };
}

/** A chunk of `count` plain transactions. */
export function plainChunk(first: number, count: number): Chunk {
  const transactions = Array.from({ length: count }, (_, index) => transaction(first + index));
  return chunk(first, transactions);
}
