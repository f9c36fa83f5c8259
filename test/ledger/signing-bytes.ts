/** Handmade signing messages, and requests decoded from them, for tests of the decoder. */
import { createHash } from 'node:crypto';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { formatJson } from '../../src/move/json/json-text-print.ts';
import type { TransactionPayload } from '../../src/move/transactions/payload.ts';
import { RawTransaction } from '../../src/move/transactions/user-transaction.ts';
import { padAddress } from '../../src/move/types/address.ts';
import {
  type DecodeContext,
  type DecodedSubmission,
  decodeSubmission,
  submissionJson,
} from '../../src/submission/decode/index.ts';
import { EncodeError, encodeSubmission } from '../../src/submission/encode/index.ts';

/** A transaction of chain 4 with the given payload. */
export function rawTransaction(
  payload: TransactionPayload,
  changes: Partial<RawTransaction> = {},
): RawTransaction {
  return {
    sender: padAddress('dd'),
    sequenceNumber: 7n,
    payload,
    maxGasAmount: 1000n,
    gasUnitPrice: 100n,
    expirationTimestampSecs: 1_700_000_000n,
    chainId: 4,
    ...changes,
  };
}

/** Signers beside the sender. */
export interface Signers {
  readonly secondarySigners?: readonly string[] | undefined;
  readonly feePayer?: string | undefined;
}

/** The message of a transaction; with secondary signers or a fee payer it is one with data. */
export function messageOf(raw: RawTransaction, signers: Signers = {}): Buffer {
  const { secondarySigners, feePayer } = signers;
  const hasData = secondarySigners !== undefined || feePayer !== undefined;
  const domain = `APTOS::RawTransaction${hasData ? 'WithData' : ''}`;
  const body = encodeBcs((writer) => {
    if (hasData) writer.uleb32(feePayer === undefined ? 0 : 1);
    RawTransaction.write(writer, raw);
    if (hasData) writer.vector(secondarySigners ?? [], (inner, signer) => inner.address(signer));
    if (feePayer !== undefined) writer.address(feePayer);
  });
  return Buffer.concat([createHash('sha3-256').update(domain).digest(), body]);
}

/** A decoded message, and the result of encoding it again. */
export interface Again {
  readonly decoded: DecodedSubmission;
  /** The result as JSON text, as clients receive it. */
  readonly text: string;
  /** The result of encoding that text. */
  readonly encoded: Buffer | EncodeError;
}

/** Decodes a message, and encodes the resulting text on a ledger of the message's chain. */
export async function decodeAndEncode(message: Uint8Array, context: DecodeContext): Promise<Again> {
  const decoded = await decodeSubmission(message, context);
  const text = formatJson(submissionJson(decoded));
  const { lookupModule } = context;
  const encoding = { chainId: decoded.notes.chainId, lookupModule };
  try {
    return { decoded, text, encoded: await encodeSubmission(Buffer.from(text), encoding) };
  } catch (error) {
    if (!(error instanceof EncodeError)) throw error;
    return { decoded, text, encoded: error };
  }
}

/** Codes of the warnings, in order. */
export function warningCodes({ notes }: DecodedSubmission): string[] {
  return notes.warnings.map(({ code }) => code);
}
