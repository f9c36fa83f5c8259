/** Transactions that users sign (docs/spec/ledger.md §3.4). */
import type { BcsReader } from '../bcs/bcs-reader.ts';
import type { BcsWriter } from '../bcs/bcs-writer.ts';
import {
  readTransactionAuthenticator,
  type TransactionAuthenticator,
} from '../crypto/authenticator.ts';
import type { Address } from '../types/address.ts';
import {
  readTransactionPayload,
  type TransactionPayload,
  writeTransactionPayload,
} from './payload.ts';

/** Sequence number of an orderless transaction; its nonce is in the payload. */
export const ORDERLESS_SEQUENCE_NUMBER = 0xffff_ffff_ffff_ffffn;

export interface RawTransaction {
  readonly sender: Address;
  readonly sequenceNumber: bigint;
  readonly payload: TransactionPayload;
  /** Gas units. */
  readonly maxGasAmount: bigint;
  /** Octas. */
  readonly gasUnitPrice: bigint;
  /** Seconds since 1970. */
  readonly expirationTimestampSecs: bigint;
  /** u8. */
  readonly chainId: number;
}

export interface SignedTransaction {
  readonly raw: RawTransaction;
  readonly authenticator: TransactionAuthenticator;
}

export function readRawTransaction(reader: BcsReader): RawTransaction {
  return {
    sender: reader.address(),
    sequenceNumber: reader.u64(),
    payload: readTransactionPayload(reader),
    maxGasAmount: reader.u64(),
    gasUnitPrice: reader.u64(),
    expirationTimestampSecs: reader.u64(),
    chainId: reader.u8(),
  };
}

export function writeRawTransaction(writer: BcsWriter, raw: RawTransaction): void {
  writer.address(raw.sender).u64(raw.sequenceNumber);
  writeTransactionPayload(writer, raw.payload);
  writer.u64(raw.maxGasAmount).u64(raw.gasUnitPrice);
  writer.u64(raw.expirationTimestampSecs).u8(raw.chainId);
}

export function readSignedTransaction(reader: BcsReader): SignedTransaction {
  const raw = readRawTransaction(reader);
  return { raw, authenticator: readTransactionAuthenticator(reader) };
}
