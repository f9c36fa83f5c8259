/** Transactions that users sign (docs/spec/ledger.md §3.4). */
import type { BcsReader } from '../bcs/bcs-reader.ts';
import { address, type CodecValue, structCodec, u8, u64 } from '../bcs/codec.ts';
import { TransactionAuthenticator } from '../crypto/authenticator.ts';
import { ADDRESS_BYTES } from '../types/address.ts';
import { TransactionPayload } from './payload.ts';

const U64_BYTES = 8;

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

/** A raw transaction whose numbers are rendered directly from its bytes. */
export interface RawPlaces<Payload> {
  readonly senderAt: number;
  readonly sequenceNumberAt: number;
  readonly payload: Payload;
  /** Offset of the largest gas amount, the price of a unit and the expiration, in a row. */
  readonly limitsAt: number;
}

/** @throws BcsError exactly when `RawTransaction.read` does, if `readPayload` does */
export function readRawPlaces<Payload>(
  reader: BcsReader,
  readPayload: (reader: BcsReader) => Payload,
): RawPlaces<Payload> {
  const senderAt = reader.skip(ADDRESS_BYTES);
  const sequenceNumberAt = reader.skip(U64_BYTES);
  const payload = readPayload(reader);
  const limitsAt = reader.skip(3 * U64_BYTES);
  reader.u8();
  return { senderAt, sequenceNumberAt, payload, limitsAt };
}

export const SignedTransaction = structCodec({
  raw: RawTransaction,
  authenticator: TransactionAuthenticator,
});
export type SignedTransaction = CodecValue<typeof SignedTransaction>;
