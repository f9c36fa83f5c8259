/**
 * The writes of each version, which tell the pruner what to delete. The next write to a key supersedes its value
 * (docs/spec/ledger.md §5.6), so the older rows of the keys written at v can be deleted once v is the oldest version.
 * The owner's address is stored beside each hash, so that pinned accounts are skipped without another read.
 */
import { BcsReader } from '../../move/bcs/bcs-reader.ts';
import { address, hash, structCodec, u64 } from '../../move/bcs/codec.ts';
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
const key = structCodec<WrittenKey>({ hash, owner: hash });
const EVENT_BYTES = ADDRESS_BYTES + 16;
const event = structCodec<EmittedEvent>({ address, creationNumber: u64, sequenceNumber: u64 });

export const WRITES_OF_VERSION = new RowCodec<bigint, VersionWrites>(
  VERSION_WRITES,
  encodeBucketKey,
  {
    write(writer, { keys, events }) {
      writer.vector(keys, key.write).vector(events, event.write);
    },
    read: (reader) => ({
      keys: reader.vector(KEY_BYTES, key.read),
      events: reader.vector(EVENT_BYTES, event.read),
    }),
  },
);

/** The keys in a row, in the order of the version's write set. */
export interface WrittenKeys {
  readonly row: Buffer;
  readonly count: number;
  /** Where the first key begins. */
  readonly start: number;
}

/** @throws BcsError */
export function writtenKeysIn(row: Buffer): WrittenKeys {
  const reader = new BcsReader(row);
  const count = reader.length(KEY_BYTES);
  return { row, count, start: reader.offset };
}

/** The offset of a key's hash in its row. */
export function hashAt({ start }: WrittenKeys, index: number): number {
  return start + index * KEY_BYTES;
}
