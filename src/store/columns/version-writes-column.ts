/**
 * What each version wrote: the pruner's list. A value is superseded at the version of the next write to its key
 * (docs/spec/ledger.md §5.6), so the keys written at v are exactly those whose older rows can be deleted once v is the
 * oldest version. Writing this list takes no look at older values, and its rows are appended in order; the pruner
 * finds the older rows, which it has to touch anyway. The owner's address is next to each hash, so that pinned
 * accounts are spared without another read.
 */
import { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import { writeFixedBytes, writeHash } from '../../move/bcs/fixed-bytes.ts';
import { HASH_BYTES } from '../../move/crypto/hash.ts';
import { ADDRESS_BYTES } from '../../move/types/address.ts';
import type { RowKey } from './column.ts';
import { VERSION_WRITES } from './columns.ts';
import type { StreamId } from './event-column.ts';
import { decodeRow } from './row-codec.ts';

/** A state key that a version wrote. */
export interface WrittenKey {
  /** The state key's hash. */
  readonly hash: Buffer;
  /** 32 bytes: the account, the table's handle, or zeros where a key has neither. */
  readonly owner: Buffer;
}

/** An event that a version emitted into a stream. */
export interface EmittedEvent extends StreamId {
  readonly sequenceNumber: bigint;
}

/** What a version wrote. */
export interface VersionWrites {
  readonly keys: readonly WrittenKey[];
  readonly events: readonly EmittedEvent[];
}

const KEY_BYTES = HASH_BYTES + ADDRESS_BYTES;
const EVENT_BYTES = ADDRESS_BYTES + 16;
const COUNT_BYTES = 5;

/** The row's value. @throws RangeError when a hash or an owner is not 32 bytes */
export function encodeVersionWrites({ keys, events }: VersionWrites): Buffer {
  const writer = new BcsWriter(
    2 * COUNT_BYTES + KEY_BYTES * keys.length + EVENT_BYTES * events.length,
  );
  writer.length32(keys.length);
  for (const { hash, owner } of keys) {
    writeHash(writer, hash);
    writeFixedBytes(writer, owner, ADDRESS_BYTES, 'owner');
  }
  writer.length32(events.length);
  for (const { address, creationNumber, sequenceNumber } of events) {
    writer.address(address).u64(creationNumber).u64(sequenceNumber);
  }
  return writer.view();
}

/** Hashes and owners are views on `value`. @throws RowDamagedError */
export function decodeVersionWrites(key: RowKey, value: Uint8Array): VersionWrites {
  return decodeRow(VERSION_WRITES, key, value, (reader) => {
    const keys = reader.vector(KEY_BYTES, (inner): WrittenKey => {
      const hash = inner.fixed(HASH_BYTES);
      return { hash, owner: inner.fixed(ADDRESS_BYTES) };
    });
    const events = reader.vector(EVENT_BYTES, (inner): EmittedEvent => {
      const address = inner.address();
      const creationNumber = inner.u64();
      return { address, creationNumber, sequenceNumber: inner.u64() };
    });
    return { keys, events };
  });
}
