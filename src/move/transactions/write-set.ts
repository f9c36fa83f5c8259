/** Write sets: what a transaction changed in the state (docs/spec/ledger.md §1.1). */
import type { BcsReader } from '../bcs/bcs-reader.ts';
import type { BcsWriter } from '../bcs/bcs-writer.ts';
import { domainHash } from '../crypto/hash.ts';
import {
  MIN_STATE_KEY_BYTES,
  readStateKey,
  type StateKey,
  writeStateKey,
} from '../types/state-key.ts';
import {
  readStateValueMetadata,
  type StateValue,
  type StateValueMetadata,
  writeStateValueMetadata,
} from '../types/state-value.ts';

/**
 * One write. Creation and modification both mean "set": old genesis files modify keys never seen
 * before, so no reader may ask that a modified key exists.
 */
export type WriteOp =
  | {
      readonly kind: 'creation' | 'modification';
      readonly bytes: Buffer;
      readonly metadata: StateValueMetadata | undefined;
    }
  | { readonly kind: 'deletion'; readonly metadata: StateValueMetadata | undefined };

export interface WriteSetEntry {
  readonly key: StateKey;
  readonly op: WriteOp;
}

/** Writes that are not account state; decoded, and of no effect on reads. */
interface WriteSetExtension {
  readonly kind: 'nativePosition';
  readonly writes: readonly WriteSetEntry[];
}

export type WriteSet =
  | { readonly kind: 'v0'; readonly writes: readonly WriteSetEntry[] }
  | {
      readonly kind: 'v1';
      readonly writes: readonly WriteSetEntry[];
      /** Keys made hot, in the writer's order: BCS neither sorts nor checks sets. */
      readonly hotness: readonly StateKey[];
      readonly extensions: readonly WriteSetExtension[];
    };

/** Fewest bytes an entry takes: the shortest key and a deletion. */
export const MIN_WRITE_BYTES = MIN_STATE_KEY_BYTES + 1;

const OP_KINDS = ['creation', 'modification', 'deletion'] as const;

export function readWriteOp(reader: BcsReader): WriteOp {
  const variant = reader.variant(6, 'WriteOp');
  const kind = OP_KINDS[variant % 3]!;
  if (kind === 'deletion') {
    return { kind, metadata: variant < 3 ? undefined : readStateValueMetadata(reader) };
  }
  const bytes = reader.bytes();
  return { kind, bytes, metadata: variant < 3 ? undefined : readStateValueMetadata(reader) };
}

/** The value a write leaves; `undefined` for a deletion. */
export function writtenValue(op: WriteOp): StateValue | undefined {
  return op.kind === 'deletion' ? undefined : { bytes: op.bytes, metadata: op.metadata };
}

/**
 * Reads writes with strictly increasing keys.
 * @throws BcsError, `map_not_sorted` for another order.
 */
function readWrites(reader: BcsReader): WriteSetEntry[] {
  return reader.map(MIN_WRITE_BYTES, readStateKey, readWriteOp).map(([key, op]) => ({ key, op }));
}

export function readWriteSet(reader: BcsReader): WriteSet {
  const variant = reader.variant(2, 'WriteSet');
  const writes = readWrites(reader);
  if (variant === 0) return { kind: 'v0', writes };
  return { kind: 'v1', writes, ...readWriteSetTail(reader) };
}

/** Reads what a V1 write set holds after its writes. @throws BcsError */
export function readWriteSetTail(reader: BcsReader): {
  hotness: StateKey[];
  extensions: WriteSetExtension[];
} {
  const hotness = reader.vector(MIN_STATE_KEY_BYTES, readStateKey);
  const extensions = reader.vector(2, (inner): WriteSetExtension => {
    inner.variant(1, 'WriteSetExtension');
    return { kind: 'nativePosition', writes: readWrites(inner) };
  });
  return { hotness, extensions };
}

export function writeWriteOp(writer: BcsWriter, op: WriteOp): void {
  writer.uleb32(OP_KINDS.indexOf(op.kind) + (op.metadata === undefined ? 0 : OP_KINDS.length));
  if (op.kind !== 'deletion') writer.bytes(op.bytes);
  if (op.metadata !== undefined) writeStateValueMetadata(writer, op.metadata);
}

/** Writes a V0 write set. @param writes in the order of their keys' BCS */
export function writeWriteSet(writer: BcsWriter, writes: readonly WriteSetEntry[]): void {
  writer.uleb32(0);
  writer.vector(writes, (to, { key, op }) => {
    writeStateKey(to, key);
    writeWriteOp(to, op);
  });
}

/** The state change hash: of the write set's own bytes, from its variant to its end (docs/spec/ledger.md §2.7). */
export function writeSetHash(writeSetBytes: Uint8Array): Buffer {
  return domainHash('WriteSet', writeSetBytes);
}
