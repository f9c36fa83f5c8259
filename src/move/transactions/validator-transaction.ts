/** Transactions that validators make among themselves (docs/spec/ledger.md §2.6). */
import type { BcsReader } from '../bcs/bcs-reader.ts';
import { readSizedBytes } from '../bcs/fixed-bytes.ts';
import type { Address } from '../types/address.ts';

interface DkgTranscript {
  readonly epoch: bigint;
  readonly author: Address;
  readonly transcript: Buffer;
}

/** A JSON web key in the chain's form: a Move type's name and the BCS of its value. */
interface ObservedJwk {
  readonly typeName: string;
  readonly data: Buffer;
}

export type ValidatorTransaction =
  | ({ readonly kind: 'dkgResult' } & DkgTranscript)
  | {
      readonly kind: 'observedJwkUpdate';
      readonly issuer: Buffer;
      readonly version: bigint;
      readonly jwks: readonly ObservedJwk[];
      readonly signature: AggregateSignature;
    }
  | ({
      readonly kind: 'chunkyDkgResult';
      readonly signature: AggregateSignature;
      readonly encryptionKey: Buffer;
    } & DkgTranscript);

export function readValidatorTransaction(reader: BcsReader): ValidatorTransaction {
  switch (reader.variant(3, 'ValidatorTransaction')) {
    case 0:
      return { kind: 'dkgResult', ...readTranscript(reader) };
    case 1: {
      const issuer = reader.bytes();
      const version = reader.u64();
      const jwks = reader.vector(2, (inner) => {
        const typeName = inner.string();
        return { typeName, data: inner.bytes() };
      });
      const signature = readAggregateSignature(reader);
      return { kind: 'observedJwkUpdate', issuer, version, jwks, signature };
    }
    default: {
      const transcript = readTranscript(reader);
      const signature = readAggregateSignature(reader);
      return { kind: 'chunkyDkgResult', ...transcript, signature, encryptionKey: reader.bytes() };
    }
  }
}

function readTranscript(reader: BcsReader): DkgTranscript {
  const epoch = reader.u64();
  const author = reader.address();
  return { epoch, author, transcript: reader.bytes() };
}

export const BLS_SIGNATURE_BYTES = 96;

export interface AggregateSignature {
  /** Bit i is `0x80 >> (i % 8)` of byte `i / 8` and is set if validator i signed. */
  readonly validatorBitmask: Buffer;
  /** BLS12-381, 96 bytes. */
  readonly signature: Buffer | undefined;
}

export function readAggregateSignature(reader: BcsReader): AggregateSignature {
  const validatorBitmask = reader.bytes();
  const signature = reader.option((inner) =>
    readSizedBytes(inner, BLS_SIGNATURE_BYTES, 'BLS signature'),
  );
  return { validatorBitmask, signature };
}
