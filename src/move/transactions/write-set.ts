/** Write sets: what a transaction changed in the state (docs/spec/ledger.md §1.1). */
import { type CodecValue, codec, list, mapList, structCodec, variants } from '../bcs/codec.ts';
import { domainHash } from '../crypto/hash.ts';
import { StateKey } from '../types/state-key.ts';
import { type StateValue, StateValueMetadata } from '../types/state-value.ts';

/**
 * One write. Creation and modification both mean "set": old genesis files modify keys never seen
 * before, so readers must not require that a modified key exists.
 */
export type WriteOp =
  | {
      readonly kind: 'creation' | 'modification';
      readonly bytes: Buffer;
      readonly metadata: StateValueMetadata | undefined;
    }
  | { readonly kind: 'deletion'; readonly metadata: StateValueMetadata | undefined };

const OP_KINDS = ['creation', 'modification', 'deletion'] as const;

export const WriteOp = codec<WriteOp>(
  (reader) => {
    const variant = reader.variant(2 * OP_KINDS.length, 'WriteOp');
    const hasMetadata = variant >= OP_KINDS.length;
    const kind = OP_KINDS[variant % OP_KINDS.length]!;
    const readMetadata = () => (hasMetadata ? StateValueMetadata.read(reader) : undefined);
    if (kind === 'deletion') return { kind, metadata: readMetadata() };
    return { kind, bytes: reader.bytes(), metadata: readMetadata() };
  },
  (writer, op) => {
    const { metadata } = op;
    writer.uleb32(OP_KINDS.indexOf(op.kind) + (metadata === undefined ? 0 : OP_KINDS.length));
    if (op.kind !== 'deletion') writer.bytes(op.bytes);
    if (metadata !== undefined) StateValueMetadata.write(writer, metadata);
  },
);

/** The value a write leaves; `undefined` for a deletion. */
export function writtenValue(op: WriteOp): StateValue | undefined {
  return op.kind === 'deletion' ? undefined : { bytes: op.bytes, metadata: op.metadata };
}

export const WriteSetEntry = structCodec({ key: StateKey, op: WriteOp });
export type WriteSetEntry = CodecValue<typeof WriteSetEntry>;

export const writes = mapList(
  StateKey,
  WriteOp,
  (key, op): WriteSetEntry => ({ key, op }),
  ({ key, op }) => [key, op],
);

const TAIL = {
  /** Keys made hot, in the writer's order: BCS neither sorts nor checks sets. */
  hotness: list(StateKey),
  /** Writes that are not account state; they are decoded but have no effect on reads. */
  extensions: list(variants('WriteSetExtension', { nativePosition: { writes } })),
};
/** The part of a V1 write set after its writes. */
export const WriteSetTail = structCodec(TAIL);

export const WriteSet = variants('WriteSet', { v0: { writes }, v1: { writes, ...TAIL } });
export type WriteSet = CodecValue<typeof WriteSet>;

/** The state change hash, over the write set's bytes from its variant to its end (docs/spec/ledger.md §2.7). */
export function writeSetHash(writeSetBytes: Uint8Array): Buffer {
  return domainHash('WriteSet', writeSetBytes);
}
