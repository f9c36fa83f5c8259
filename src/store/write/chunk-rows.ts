/** Builds the rows of a chunk. All except new keys, balances and event types are built without reading the store. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BcsError } from '../../move/bcs/bcs-reader.ts';
import { parsePhysicalStateKey, stateKeyHash } from '../../move/types/state-key.ts';
import { Batch } from '../batch.ts';
import { BLOCK_BY_HEIGHT, BLOCK_BY_VERSION, EPOCH_END } from '../columns/block-column.ts';
import { STATE, TRANSACTION_INFOS, TRANSACTIONS, VERSION_WRITES } from '../columns/columns.ts';
import { putEvent, putModuleEvent } from '../columns/event-column.ts';
import type { LedgerIdentity } from '../columns/identity-column.ts';
import { type BucketKey, bucketKeyOf, encodeU64Key } from '../columns/order-key.ts';
import { encodeStateRow } from '../columns/state-column.ts';
import { MAX_STATE_KEY_BYTES, ownerOfKey } from '../columns/state-key-column.ts';
import { putIndexRows } from '../columns/transaction-index-column.ts';
import {
  type EmittedEvent,
  WRITES_OF_VERSION,
  type WrittenKey,
} from '../columns/version-writes-column.ts';
import { chunkError } from '../store-error.ts';
import { type BalanceWrite, balanceWriteOf } from './balance-index.ts';
import type { Chunk, ChunkTransaction, StateWrite } from './chunk.ts';
import { EventTypeIndex, type FilledWindow } from './event-type-index.ts';
import { keyNumber } from './key-number.ts';

export interface ChunkKey {
  readonly physical: Buffer;
  readonly hash: Buffer;
  readonly version: bigint;
}

/** The rows of a chunk, except new keys, balances, event types and the head. */
export interface ChunkRows {
  readonly batch: Batch;
  readonly keys: readonly ChunkKey[];
  readonly balances: readonly BalanceWrite[];
  readonly typeWindows: readonly FilledWindow[];
}

/** A key that a chunk writes, and its last write. */
class WrittenChunkKey implements ChunkKey {
  readonly physical: Buffer;
  readonly hash: Buffer;
  readonly version: bigint;
  lastVersion: bigint;
  lastWrite: StateWrite;

  constructor(write: StateWrite, physical: Buffer, version: bigint) {
    this.physical = physical;
    this.hash = stateKeyHash(physical);
    this.version = version;
    this.lastVersion = version;
    this.lastWrite = write;
  }
}

/** The keys that a chunk writes, in the order of their first writes. */
class WrittenKeys {
  /** If another key already has a key's number, the key gets the next free number. */
  readonly #byNumber = new Map<number, WrittenChunkKey>();

  get all(): readonly WrittenChunkKey[] {
    return [...this.#byNumber.values()];
  }

  /** Notes a write of a key. @throws StoreError `chunk_state_key` */
  add(write: StateWrite, key: Buffer, version: bigint): WrittenChunkKey {
    for (let number = keyNumber(key); ; number += 1) {
      const known = this.#byNumber.get(number);
      if (known === undefined) {
        checkStateKey(key, version);
        const added = new WrittenChunkKey(write, key, version);
        this.#byNumber.set(number, added);
        return added;
      }
      if (!known.physical.equals(key)) continue;
      known.lastVersion = version;
      known.lastWrite = write;
      return known;
    }
  }
}

/** Number of versions whose rows are built in one turn of the event loop, in a few milliseconds. */
const VERSIONS_PER_TURN = 250;

export function chunkRows(chunk: Chunk, identity: LedgerIdentity): ChunkRows {
  const maker = new RowsMaker(chunk, identity);
  for (const index of chunk.transactions.keys()) maker.putVersion(index);
  return maker.finish();
}

/** Like `chunkRows`, but in several turns of the event loop. @throws StoreError */
export async function chunkRowsInTurns(chunk: Chunk, identity: LedgerIdentity): Promise<ChunkRows> {
  const maker = new RowsMaker(chunk, identity);
  for (const index of chunk.transactions.keys()) {
    if (index > 0 && index % VERSIONS_PER_TURN === 0) await nextTurn();
    maker.putVersion(index);
  }
  return maker.finish();
}

class RowsMaker {
  readonly #batch = new Batch();
  readonly #types = new EventTypeIndex();
  readonly #keys = new WrittenKeys();
  readonly #chunk: Chunk;
  readonly #identity: LedgerIdentity;

  constructor(chunk: Chunk, identity: LedgerIdentity) {
    this.#chunk = chunk;
    this.#identity = identity;
  }

  putVersion(index: number): void {
    const batch = this.#batch;
    const transaction = this.#chunk.transactions[index]!;
    const version = this.#chunk.firstVersion + BigInt(index);
    const versionBytes = encodeU64Key(version);
    const key = bucketKeyOf(versionBytes);
    const { partition, order } = key;
    batch.put(TRANSACTION_INFOS, partition, order, transaction.info);
    if (this.#identity.keepsTransactions) {
      if (transaction.transaction === undefined) {
        const detail = 'this ledger stores transactions, the chunk has none here';
        throw chunkError('chunk_transaction_missing', version, detail);
      }
      batch.put(TRANSACTIONS, partition, order, transaction.transaction);
      putIndexes(batch, version, transaction.info, transaction.transaction);
    }
    const keys = putWrites(batch, version, versionBytes, transaction.writes, this.#keys);
    const events = putEvents(batch, this.#types, version, key, transaction);
    if (keys.length === 0 && events.length === 0) return;
    batch.put(VERSION_WRITES, partition, order, WRITES_OF_VERSION.encode({ keys, events }));
  }

  finish(): ChunkRows {
    const batch = this.#batch;
    for (const block of this.#chunk.blocks) {
      BLOCK_BY_HEIGHT.put(batch, block.height, block);
      BLOCK_BY_VERSION.put(batch, block.firstVersion, block);
    }
    for (const end of this.#chunk.epochEnds) EPOCH_END.put(batch, end.lastVersion, end);
    const keys = this.#keys.all;
    const balances: BalanceWrite[] = [];
    for (const { physical, lastWrite, lastVersion } of keys) {
      const write = balanceWriteOf(physical, lastWrite.value, lastVersion);
      if (write !== undefined) balances.push(write);
    }
    return { batch, keys, balances, typeWindows: this.#types.windows };
  }
}

/** @throws StoreError `chunk_transaction` for bytes that `prune` and `verify` could not read as a transaction. */
function putIndexes(batch: Batch, version: bigint, info: Uint8Array, item: Uint8Array): void {
  try {
    putIndexRows(batch, version, info, item);
  } catch (error) {
    if (!(error instanceof BcsError)) throw error;
    throw chunkError('chunk_transaction', version, `a malformed transaction: ${error.message}`);
  }
}

function putWrites(
  batch: Batch,
  version: bigint,
  order: Buffer,
  writes: readonly StateWrite[],
  known: WrittenKeys,
): WrittenKey[] {
  return writes.map((write) => {
    const { key, value, metadata } = write;
    const { hash } = known.add(write, key, version);
    batch.put(STATE, hash, order, encodeStateRow(key, value, metadata));
    return { hash, owner: ownerOfKey(key) };
  });
}

function putEvents(
  batch: Batch,
  types: EventTypeIndex,
  version: bigint,
  key: BucketKey,
  transaction: ChunkTransaction,
): EmittedEvent[] {
  const emitted: EmittedEvent[] = [];
  transaction.events.forEach((event, index) => {
    if (event.kind === 'module') {
      putModuleEvent(batch, key, index, event);
      types.add(version, event.typeTag);
    } else {
      putEvent(batch, event, event.sequenceNumber, { version, index }, event);
      emitted.push(event);
    }
  });
  for (const event of transaction.translatedEvents ?? []) {
    putEvent(batch, event, event.sequenceNumber, { version, index: event.index }, event);
    emitted.push(event);
  }
  return emitted;
}

/** @throws StoreError `chunk_state_key` for bytes that listings and `verify` could not read as a state key. */
export function checkStateKey(key: Buffer, version: bigint): void {
  if (key.length > MAX_STATE_KEY_BYTES) {
    const detail = `a state key of ${key.length} bytes, at most ${MAX_STATE_KEY_BYTES} are stored`;
    throw chunkError('chunk_state_key', version, detail);
  }
  try {
    parsePhysicalStateKey(key);
  } catch (error) {
    if (!(error instanceof BcsError)) throw error;
    throw chunkError('chunk_state_key', version, `a malformed state key: ${error.message}`);
  }
}
