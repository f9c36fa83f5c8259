/** Signatures of several validators in one (docs/spec/ledger.md §2.6). Not verified here. */
import type { BcsReader } from '../bcs/bcs-reader.ts';
import type { BcsWriter } from '../bcs/bcs-writer.ts';
import { readSizedBytes, writeSizedBytes } from '../bcs/fixed-bytes.ts';

const BLS_SIGNATURE_BYTES = 96;

export interface AggregateSignature {
  /** Bit i is `0x80 >> (i % 8)` of byte `i / 8` and says that validator i signed. */
  readonly validatorBitmask: Buffer;
  /** BLS12-381, 96 bytes. */
  readonly signature: Buffer | undefined;
}

/** Reads an aggregate signature. @throws BcsError */
export function readAggregateSignature(reader: BcsReader): AggregateSignature {
  const validatorBitmask = reader.bytes();
  const signature = reader.option((inner) =>
    readSizedBytes(inner, BLS_SIGNATURE_BYTES, 'BLS signature'),
  );
  return { validatorBitmask, signature };
}

/** Writes an aggregate signature. */
export function writeAggregateSignature(writer: BcsWriter, aggregate: AggregateSignature): void {
  writer.bytes(aggregate.validatorBitmask);
  writer.option(aggregate.signature, (inner, signature) =>
    writeSizedBytes(inner, signature, BLS_SIGNATURE_BYTES, 'BLS signature'),
  );
}
