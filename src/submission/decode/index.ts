/**
 * Decode submission is the inverse of encode submission: it turns the bytes that signers sign into the request that
 * produces them, with notes for the person about to sign. An extension of the reference's interface.
 *
 * Bytes that are not a signing message are rejected. Everything else is shown: content that the request object cannot
 * express appears as raw bytes, in a form that the encoder rejects, with a warning. The result is checked: the request
 * is encoded again, and `encodesBack` tells whether that gives the same bytes.
 */
import { byteTools } from '../../move/bcs/bytes.ts';
import type { JsonObject, JsonValue } from '../../move/json/json-text.ts';
import type { ModuleLookup } from '../../move/modules/lookup.ts';
import { ORDERLESS_SEQUENCE_NUMBER } from '../../move/transactions/user-transaction.ts';
import { type Address, formatAddress } from '../../move/types/address.ts';
import { EncodeError, encodeSubmission } from '../encode/index.ts';
import { readSigningMessage, type SigningMessage } from './message.ts';
import { type PayloadJson, payloadJson } from './payload.ts';
import {
  expirationDate,
  notesJson,
  Rendering,
  type SigningScheme,
  type SubmissionNotes,
} from './rendering.ts';

export {
  DecodeError,
  type DecodeErrorCode,
  MAX_MESSAGE_ITEMS,
  MAX_SIGNING_MESSAGE_BYTES,
  parseMessageText,
} from './message.ts';
export type { SigningScheme, SubmissionNotes, Warning, WarningCode } from './rendering.ts';
export { MAX_MESSAGE_CONTAINERS } from './rendering.ts';

export interface DecodeContext {
  readonly lookupModule: ModuleLookup;
  /** The ledger's chain id, a u8. If absent, the message is assumed to have the right one. */
  readonly chainId?: number | undefined;
  /** The ledger's time in microseconds since 1970. If absent, expiration is not checked. */
  readonly timestampUsecs?: bigint | undefined;
}

export interface DecodedSubmission {
  /** The request object, members in the order of docs/spec/encode.md §A1. */
  readonly request: JsonObject;
  readonly notes: SubmissionNotes;
}

/** Member of the response that holds the notes. The encoder ignores it, like all unknown members. */
const NOTES_MEMBER = 'daybook_notes';

/** The request object with the notes as its last member, as the endpoint and the command return it. */
export function submissionJson({ request, notes }: DecodedSubmission): JsonObject {
  return new Map<string, JsonValue>([...request, [NOTES_MEMBER, notesJson(notes)]]);
}

/**
 * Decodes a signing message: 32 bytes that name the domain, then the BCS of the transaction.
 * @throws DecodeError; errors of the lookup other than MoveError.
 */
export async function decodeSubmission(
  bytes: Uint8Array,
  context: DecodeContext,
): Promise<DecodedSubmission> {
  const message = readSigningMessage(bytes);
  const rendering = new Rendering(context.lookupModule);
  warnOfMessage(message, context, rendering);
  const payload = await payloadJson(message.raw.payload, rendering);
  warnOfSequenceNumber(message, payload, rendering);
  const request = requestJson(message, payload);
  const { chainId, expirationTimestampSecs, gasUnitPrice, maxGasAmount } = message.raw;
  const { lookupModule } = context;
  const encodes = await warnOfEncoding(request, bytes, rendering, { chainId, lookupModule });
  const notes = {
    encodesBack: encodes && (context.chainId ?? chainId) === chainId,
    scheme: schemeOf(message),
    feePayer: message.feePayer,
    replayProtection: payload.nonce === undefined ? 'sequence_number' : 'nonce',
    chainId,
    maxFeeOctas: maxGasAmount * gasUnitPrice,
    expiresAt: expirationDate(expirationTimestampSecs),
    parameterTypes: rendering.parameterTypes,
    warnings: rendering.warnings,
  } as const;
  return { request, notes };
}

function requestJson(message: SigningMessage, { payload, nonce }: PayloadJson): JsonObject {
  const { raw, secondarySigners } = message;
  const request = new Map<string, JsonValue>([
    ['sender', formatAddress(raw.sender)],
    ['sequence_number', String(raw.sequenceNumber)],
    ['max_gas_amount', String(raw.maxGasAmount)],
    ['gas_unit_price', String(raw.gasUnitPrice)],
    ['expiration_timestamp_secs', String(raw.expirationTimestampSecs)],
    ['payload', payload],
  ]);
  if (nonce !== undefined) request.set('replay_protection_nonce', String(nonce));
  if (secondarySigners !== undefined) {
    request.set('secondary_signers', secondarySigners.map(formatAddress));
  }
  return request;
}

function schemeOf({ secondarySigners, feePayer }: SigningMessage): SigningScheme {
  if (feePayer !== undefined) return 'fee_payer';
  return secondarySigners === undefined ? 'single_signer' : 'multi_agent';
}

function warnOfMessage(
  { raw, feePayer }: SigningMessage,
  { chainId, timestampUsecs }: DecodeContext,
  rendering: Rendering,
): void {
  if (chainId !== undefined && raw.chainId !== chainId) {
    const text = `the transaction is for chain ${raw.chainId}; this ledger is chain ${chainId}`;
    rendering.warn('other_chain', `${text}, whose modules may be others`);
  }
  if (
    timestampUsecs !== undefined &&
    timestampUsecs >= raw.expirationTimestampSecs * USECS_PER_SECOND
  ) {
    rendering.warn('expired', "the transaction has expired by the ledger's time");
  }
  if (feePayer !== undefined) rendering.warn('fee_payer', feePayerText(feePayer));
}

const USECS_PER_SECOND = 1_000_000n;
const ZERO_ADDRESS = /^0+$/;

function feePayerText(feePayer: Address): string {
  const payer = ZERO_ADDRESS.test(feePayer)
    ? 'an account that is not named yet (0x0) pays for gas'
    : `${formatAddress(feePayer)} pays for gas`;
  return `${payer}; a request cannot say so, and encoding it gives other bytes`;
}

function warnOfSequenceNumber(
  { raw }: SigningMessage,
  { nonce }: PayloadJson,
  rendering: Rendering,
): void {
  if (nonce === undefined || raw.sequenceNumber === ORDERLESS_SEQUENCE_NUMBER) return;
  rendering.warn(
    'orderless_sequence_number',
    `with a nonce the sequence number must be ${ORDERLESS_SEQUENCE_NUMBER}, ` +
      `but it is ${raw.sequenceNumber}`,
  );
}

/** Encodes the request and returns whether that gives `bytes`; warns if not. */
async function warnOfEncoding(
  request: JsonObject,
  bytes: Uint8Array,
  rendering: Rendering,
  context: Parameters<typeof encodeSubmission>[1],
): Promise<boolean> {
  try {
    const reencoded = await encodeSubmission(request, context);
    if (byteTools.compare(reencoded, bytes) === 0) return true;
    rendering.warn('encodes_differently', 'encoding this request gives other bytes than these');
  } catch (error) {
    if (!(error instanceof EncodeError)) throw error;
    rendering.warn('not_encodable', `encoding this request is refused: ${error.message}`);
  }
  return false;
}
