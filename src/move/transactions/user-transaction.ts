/** Transactions that users sign (docs/spec/ledger.md §3.4). */
import { address, type CodecValue, structCodec, u8, u64 } from '../bcs/codec.ts';
import { TransactionAuthenticator } from '../crypto/authenticator.ts';
import { TransactionPayload } from './payload.ts';

/** Sequence number of an orderless transaction; its nonce is in the payload. */
export const ORDERLESS_SEQUENCE_NUMBER = 0xffff_ffff_ffff_ffffn;

export const RawTransaction = structCodec({
  sender: address,
  sequenceNumber: u64,
  payload: TransactionPayload,
  /** Gas units. */
  maxGasAmount: u64,
  /** Octas. */
  gasUnitPrice: u64,
  /** Seconds since 1970. */
  expirationTimestampSecs: u64,
  chainId: u8,
});
export type RawTransaction = CodecValue<typeof RawTransaction>;

export const SignedTransaction = structCodec({
  raw: RawTransaction,
  authenticator: TransactionAuthenticator,
});
export type SignedTransaction = CodecValue<typeof SignedTransaction>;
