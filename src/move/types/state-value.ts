/** State values: the bytes under a state key and what they cost (docs/spec/ledger.md §1.1, §5.2). */
import { encodeBcs } from '../bcs/bcs-writer.ts';
import { type CodecValue, codec, u64, variants } from '../bcs/codec.ts';
import { domainHash } from '../crypto/hash.ts';

/**
 * Deposits (octas) and creation time (microseconds since 1970) of a value. A canonical writer writes V0 without a bytes
 * deposit and V1 otherwise, but both forms occur, so the form is retained.
 */
export const StateValueMetadata = variants('StateValueMetadata', {
  v0: { deposit: u64, creationTimeUsecs: u64 },
  v1: { slotDeposit: u64, bytesDeposit: u64, creationTimeUsecs: u64 },
});
export type StateValueMetadata = CodecValue<typeof StateValueMetadata>;

export interface StateValue {
  readonly bytes: Buffer;
  readonly metadata: StateValueMetadata | undefined;
}

export const StateValue = codec<StateValue>(
  (reader) => {
    const hasMetadata = reader.variant(2, 'StateValue') === 1;
    const bytes = reader.bytes();
    return { bytes, metadata: hasMetadata ? StateValueMetadata.read(reader) : undefined };
  },
  (writer, { bytes, metadata }) => {
    writer.uleb32(metadata ? 1 : 0).bytes(bytes);
    if (metadata !== undefined) StateValueMetadata.write(writer, metadata);
  },
);

/** The hash of a value in the state's sparse Merkle tree (docs/spec/ledger.md §2.7 step 4). */
export function stateValueHash({ bytes, metadata }: StateValue): Buffer {
  // In parts, so that the value itself is copied once only: it may be megabytes.
  const head = encodeBcs((writer) => writer.uleb32(metadata ? 1 : 0).length32(bytes.length));
  if (metadata === undefined) return domainHash('StateValue', head, bytes);
  const tail = StateValueMetadata.encode(metadata);
  return domainHash('StateValue', head, bytes, tail);
}
