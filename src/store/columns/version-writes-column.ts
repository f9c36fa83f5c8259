/**
 * The writes of each version, from which the pruner works. A value is superseded at the version of the next write to
 * its key (docs/spec/ledger.md §5.6), so the keys written at v are exactly those whose older rows can be deleted once
 * v is the oldest version. Writing this list takes no look at older values, and its rows are appended in order; the
 * pruner finds the older rows, which it has to touch anyway. The owner's address is next to each hash, so that pinned
 * accounts are spared without another read.
 */
import { writeFixedBytes, writeHash } from '../../move/bcs/fixed-bytes.ts';
import { HASH_BYTES } from '../../move/crypto/hash.ts';
import { ADDRESS_BYTES } from '../../move/types/address.ts';
import { VERSION_WRITES } from './columns.ts';
import type { StreamId } from './event-column.ts';
import { encodeBucketKey } from './order-key.ts';
import { RowCodec } from './row-codec.ts';

export interface WrittenKey {
  readonly hash: Buffer;
  /** 32 bytes: the account, the table's handle, or zeros where a key has neither. */
  readonly owner: Buffer;
}

export interface EmittedEvent extends StreamId {
  readonly sequenceNumber: bigint;
}

export interface VersionWrites {
  readonly keys: readonly WrittenKey[];
  readonly events: readonly EmittedEvent[];
}

const KEY_BYTES = HASH_BYTES + ADDRESS_BYTES;
const EVENT_BYTES = ADDRESS_BYTES + 16;

/** What each version wrote, by version; hashes and owners are views on the row. */
export const WRITES_OF_VERSION = new RowCodec<bigint, VersionWrites>(
  VERSION_WRITES,
  encodeBucketKey,
  (writer, { keys, events }) => {
    writer.vector(keys, (inner, { hash, owner }) => {
      writeHash(inner, hash);
      writeFixedBytes(inner, owner, ADDRESS_BYTES, 'owner');
    });
    writer.vector(events, (inner, { address, creationNumber, sequenceNumber }) => {
      inner.address(address).u64(creationNumber).u64(sequenceNumber);
    });
  },
  (reader) => {
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
  },
);
