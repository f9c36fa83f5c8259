/** State values: the bytes under a state key and what they cost (docs/spec/ledger.md §1.1, §5.2). */
import type { BcsReader } from '../bcs/bcs-reader.ts';
import { type BcsWriter, encodeBcs } from '../bcs/bcs-writer.ts';
import { domainHash } from '../crypto/hash.ts';

/**
 * Deposits (octas) and creation time (microseconds since 1970) of a value. A canonical writer leaves V0 when there is
 * no bytes deposit and V1 otherwise, but both forms occur, so the form is retained.
 */
export type StateValueMetadata =
  | {
      readonly kind: 'v0';
      readonly deposit: bigint;
      readonly creationTimeUsecs: bigint;
    }
  | {
      readonly kind: 'v1';
      readonly slotDeposit: bigint;
      readonly bytesDeposit: bigint;
      readonly creationTimeUsecs: bigint;
    };

export interface StateValue {
  readonly bytes: Buffer;
  readonly metadata: StateValueMetadata | undefined;
}

export function readStateValueMetadata(reader: BcsReader): StateValueMetadata {
  if (reader.variant(2, 'StateValueMetadata') === 0) {
    const deposit = reader.u64();
    return { kind: 'v0', deposit, creationTimeUsecs: reader.u64() };
  }
  const slotDeposit = reader.u64();
  const bytesDeposit = reader.u64();
  return { kind: 'v1', slotDeposit, bytesDeposit, creationTimeUsecs: reader.u64() };
}

export function writeStateValueMetadata(writer: BcsWriter, metadata: StateValueMetadata): void {
  if (metadata.kind === 'v0') {
    writer.uleb32(0).u64(metadata.deposit);
  } else {
    writer.uleb32(1).u64(metadata.slotDeposit).u64(metadata.bytesDeposit);
  }
  writer.u64(metadata.creationTimeUsecs);
}

export function readStateValue(reader: BcsReader): StateValue {
  const hasMetadata = reader.variant(2, 'StateValue') === 1;
  const bytes = reader.bytes();
  return { bytes, metadata: hasMetadata ? readStateValueMetadata(reader) : undefined };
}

export function writeStateValue(writer: BcsWriter, { bytes, metadata }: StateValue): void {
  writer.uleb32(metadata ? 1 : 0).bytes(bytes);
  if (metadata !== undefined) writeStateValueMetadata(writer, metadata);
}

/** The hash of a value in the state's sparse Merkle tree (docs/spec/ledger.md §2.7 step 4). */
export function stateValueHash({ bytes, metadata }: StateValue): Buffer {
  // In parts, so that the value itself is copied once only: it may be megabytes.
  const head = encodeBcs((writer) => writer.uleb32(metadata ? 1 : 0).length32(bytes.length));
  if (metadata === undefined) return domainHash('StateValue', head, bytes);
  const tail = encodeBcs((writer) => writeStateValueMetadata(writer, metadata));
  return domainHash('StateValue', head, bytes, tail);
}
