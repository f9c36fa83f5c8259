/**
 * State: one row per write, keyed by the hash of its state key and ordered by version, so that "the value at v" is the
 * last row at or below v (docs/spec/ledger.md §5.3). Deletions are rows too, because a deletion must hide older values
 * of its key.
 */
import { StateValueMetadata } from '../../move/types/state-value.ts';
import { type Row, STATE } from './columns.ts';
import { decodeU64Key } from './order-key.ts';
import { decodeRow, rowWriter } from './row-codec.ts';

const TAG_DELETED = 0;
const TAG_PLAIN = 1;
const TAG_WITH_METADATA = 2;
const TAG_BYTES = 1;

export interface StateEntry {
  readonly version: bigint;
  /** The value's bytes, a view on the row; `undefined`: the key was deleted. */
  readonly bytes: Buffer | undefined;
  readonly metadata: StateValueMetadata | undefined;
  /** The physical state key of a deletion, a view on the row; `undefined` for a value. */
  readonly deletedKey: Buffer | undefined;
}

/**
 * The row value of a write; `bytes` undefined is a deletion, whose metadata cannot be read later (§5.2). A deletion
 * contains its key, so that the pruner can remove a permanently deleted key from the list of its account. The hash
 * alone does not identify the account.
 */
export function encodeStateRow(
  physicalKey: Uint8Array,
  bytes: Uint8Array | undefined,
  metadata: StateValueMetadata | undefined,
): Buffer {
  const writer = rowWriter.next();
  if (bytes === undefined) writer.u8(TAG_DELETED);
  else if (metadata === undefined) writer.u8(TAG_PLAIN);
  else StateValueMetadata.write(writer.u8(TAG_WITH_METADATA), metadata);
  return writer.fixed(bytes ?? physicalKey).view();
}

/** Decodes a row of the state column, or of a column with the same rows. @throws RowDamagedError */
export function decodeStateRow(
  keyHash: Uint8Array,
  { order, value }: Row,
  column = STATE,
): StateEntry {
  return decodeRow(column, { partition: keyHash, order }, value, (reader) => {
    const tag = reader.u8();
    const metadata = tag === TAG_WITH_METADATA ? StateValueMetadata.read(reader) : undefined;
    const rest = reader.fixed(reader.remaining);
    const isDeletion = tag === TAG_DELETED;
    if (tag > TAG_WITH_METADATA) throw reader.error('bad_variant', `unknown tag ${tag}`, 0);
    if (isDeletion && rest.length === 0) {
      throw reader.error('bad_value', 'a deletion without its key', TAG_BYTES);
    }
    return {
      version: decodeU64Key(order),
      bytes: isDeletion ? undefined : rest,
      metadata,
      deletedKey: isDeletion ? rest : undefined,
    };
  });
}
