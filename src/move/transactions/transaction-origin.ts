/**
 * The sender of a transaction, and its protection from running twice (docs/spec/transactions.md §1.7). The first bytes
 * of a stored transaction are enough, unless its payload may contain a nonce.
 */
import { BcsReader } from '../bcs/bcs-reader.ts';
import { ADDRESS_BYTES } from '../types/address.ts';
import { TransactionPayload } from './payload.ts';
import { TRANSACTION_KINDS } from './transaction.ts';

export interface ReplayProtector {
  readonly kind: 'nonce' | 'sequenceNumber';
  /** u64. */
  readonly value: bigint;
}

interface TransactionOrigin {
  /** 32 bytes. */
  readonly sender: Buffer;
  readonly replayProtector: ReplayProtector;
}

/** The version that a stored transaction begins with. */
const VERSION_BYTES = 8;
/** Payloads from this variant on have the configuration that may contain a nonce. */
const FIRST_CONFIGURED_PAYLOAD = TransactionPayload.kinds.indexOf('payload');

/**
 * The origin of a transaction; `undefined` if no user sent it.
 * @param onChainData BCS of the TransactionOnChainData
 * @throws BcsError
 */
export function readTransactionOrigin(onChainData: Uint8Array): TransactionOrigin | undefined {
  const reader = new BcsReader(onChainData, VERSION_BYTES);
  const kind = TRANSACTION_KINDS[reader.variant(TRANSACTION_KINDS.length, 'Transaction')];
  if (kind !== 'user') return undefined;
  const sender = reader.fixed(ADDRESS_BYTES);
  const sequenceNumber = reader.u64();
  const nonce = readNonce(reader);
  if (nonce !== undefined) return { sender, replayProtector: { kind: 'nonce', value: nonce } };
  return { sender, replayProtector: { kind: 'sequenceNumber', value: sequenceNumber } };
}

function readNonce(reader: BcsReader): bigint | undefined {
  const variant = reader.buffer[reader.offset];
  // Most transactions have no configuration: decoding their payloads would take longer than storing these rows.
  if (variant !== undefined && variant < FIRST_CONFIGURED_PAYLOAD) return undefined;
  const payload = TransactionPayload.read(reader);
  if (payload.kind === 'payload') return payload.extraConfig.replayProtectionNonce;
  if (payload.kind !== 'encrypted') return undefined;
  return payload.payload.content.extraConfig.replayProtectionNonce;
}
