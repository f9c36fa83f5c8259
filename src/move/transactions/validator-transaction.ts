/** Transactions that validators create among themselves (docs/spec/ledger.md §2.6). */
import {
  address,
  byteString,
  type CodecValue,
  list,
  option,
  sizedBytes,
  structCodec,
  text,
  u64,
  variants,
} from '../bcs/codec.ts';

const BLS_SIGNATURE_BYTES = 96;
/** A BLS12-381 signature. */
export const blsSignature = sizedBytes(BLS_SIGNATURE_BYTES, 'BLS signature');

export const AggregateSignature = structCodec({
  /** Bit i is `0x80 >> (i % 8)` of byte `i / 8` and is set if validator i signed. */
  validatorBitmask: byteString,
  signature: option(blsSignature),
});
export type AggregateSignature = CodecValue<typeof AggregateSignature>;

const TRANSCRIPT = { epoch: u64, author: address, transcript: byteString };

export const ValidatorTransaction = variants('ValidatorTransaction', {
  dkgResult: TRANSCRIPT,
  observedJwkUpdate: {
    issuer: byteString,
    version: u64,
    /** JSON web keys in the chain's form: a Move type's name and the BCS of its value. */
    jwks: list(structCodec({ typeName: text, data: byteString })),
    signature: AggregateSignature,
  },
  chunkyDkgResult: { ...TRANSCRIPT, signature: AggregateSignature, encryptionKey: byteString },
});
export type ValidatorTransaction = CodecValue<typeof ValidatorTransaction>;
