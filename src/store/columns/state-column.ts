/**
 * State: one row per write, filed under the hash of its state key and ordered by version, so that
 * "the value at v" is the last row at or below v (docs/spec/ledger.md §5.3). Deletions are rows too: a
 * key that was deleted must hide its older values.
 */
import type { BcsReader } from '../../move/bcs/bcs-reader.ts';
import { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import {
  readStateValueMetadata,
  type StateValueMetadata,
  writeStateValueMetadata,
} from '../../move/types/state-value.ts';
import type { Batch } from '../batch.ts';
import { RowDamagedError } from '../store-error.ts';
import type { Row } from './column.ts';
import { STATE } from './columns.ts';
import { decodeU64Key, encodeU64Key } from './order-key.ts';
import { decodeRow } from './row-codec.ts';

const TAG_DELETED = 0;
const TAG_PLAIN = 1;
const TAG_WITH_METADATA = 2;
const TAG_BYTES = 1;
/** Most bytes of metadata: variant and three u64. */
const MAX_METADATA_BYTES = 25;

/** What a write left under a key. */
export interface StateEntry {
  /** The version that wrote it. */
  readonly version: bigint;
  /** The value's bytes, a view on the row; `undefined`: the key was deleted. */
  readonly bytes: Buffer | undefined;
  readonly metadata: StateValueMetadata | undefined;
  /** Of a deletion the physical state key, a view on the row; else `undefined`. */
  readonly deletedKey: Buffer | undefined;
}

/**
 * The row value of a write; `bytes` undefined is a deletion, whose metadata nobody can read later
 * (§5.2). A deletion says its key, so that the pruner can take a key that is gone for good off the
 * list of its account: from the hash alone it could not find it there.
 */
export function encodeStateRow(
  physicalKey: Uint8Array,
  bytes: Uint8Array | undefined,
  metadata: StateValueMetadata | undefined,
): Buffer {
  if (bytes === undefined) return tagged(TAG_DELETED, physicalKey);
  if (metadata === undefined) return tagged(TAG_PLAIN, bytes);
  const writer = new BcsWriter(TAG_BYTES + MAX_METADATA_BYTES + bytes.length);
  writer.u8(TAG_WITH_METADATA);
  writeStateValueMetadata(writer, metadata);
  return writer.fixed(bytes).view();
}

function tagged(tag: number, bytes: Uint8Array): Buffer {
  const row = Buffer.allocUnsafe(TAG_BYTES + bytes.length);
  row[0] = tag;
  row.set(bytes, TAG_BYTES);
  return row;
}

/** Reads a row of the state column. @throws RowDamagedError */
export function decodeStateRow(keyHash: Uint8Array, { order, value }: Row): StateEntry {
  const version = decodeU64Key(order);
  const [metadata, deletedKey] = [undefined, undefined];
  switch (value[0]) {
    case TAG_PLAIN:
      return { version, bytes: value.subarray(TAG_BYTES), metadata, deletedKey };
    case TAG_DELETED:
      if (value.length === TAG_BYTES) {
        throw new RowDamagedError(
          STATE,
          { partition: keyHash, order },
          'a deletion without its key',
        );
      }
      return { version, bytes: undefined, metadata, deletedKey: value.subarray(TAG_BYTES) };
    case TAG_WITH_METADATA:
      return decodeRow(STATE, { partition: keyHash, order }, value, (reader: BcsReader) => {
        reader.u8();
        const read = readStateValueMetadata(reader);
        return { version, bytes: reader.fixed(reader.remaining), metadata: read, deletedKey };
      });
    default:
      throw new RowDamagedError(
        STATE,
        { partition: keyHash, order },
        `unknown tag ${value[0] ?? 'none'}`,
      );
  }
}

/** The last version that wrote, and its order part: a transaction writes several keys. */
let lastVersion = -1n;
let lastOrder: Buffer | undefined;

function orderOf(version: bigint): Buffer {
  if (lastOrder === undefined || version !== lastVersion) {
    lastOrder = encodeU64Key(version);
    lastVersion = version;
  }
  return lastOrder;
}

/** Files a write. */
export function putState(
  batch: Batch,
  key: { readonly hash: Uint8Array; readonly physical: Uint8Array },
  version: bigint,
  bytes: Uint8Array | undefined,
  metadata: StateValueMetadata | undefined,
): void {
  const row = encodeStateRow(key.physical, bytes, metadata);
  batch.put(STATE, key.hash, orderOf(version), row);
}
