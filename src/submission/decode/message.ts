/** Decodes signing messages: the domain, then strict BCS to the last byte (docs/spec/encode.md §A5). */
import { BcsError, type BcsErrorCode, type BcsReader } from '../../move/bcs/bcs-reader.ts';
import { byteTools } from '../../move/bcs/bytes.ts';
import { CountingReader } from '../../move/bcs/counting-reader.ts';
import { parseHex } from '../../move/bcs/hex.ts';
import { HASH_BYTES } from '../../move/crypto/hash.ts';
import { RawTransaction } from '../../move/transactions/user-transaction.ts';
import { type Address, HexTextError } from '../../move/types/address.ts';
import { DOMAIN_HASHES } from '../encode/signing-message.ts';

/** Largest message that is decoded. No chain accepts a larger transaction; most accept 64 KiB. */
export const MAX_SIGNING_MESSAGE_BYTES = 1024 * 1024;

/**
 * Maximum number of items of all lists in one message: arguments, type arguments at any level, signers. Each has at
 * least a byte, so a transaction of 64 KiB cannot have more; it limits the memory for hostile bytes to about 20 MB.
 */
export const MAX_MESSAGE_ITEMS = 65_536;

/**
 * In addition to the errors of BCS: `bad_hex` if the text is not hex; `too_large` above MAX_SIGNING_MESSAGE_BYTES;
 * `no_domain` if the bytes are too short for a domain; `unknown_domain` if the first hash is not that of a known
 * domain.
 */
export type DecodeErrorCode =
  | BcsErrorCode
  | 'bad_hex'
  | 'too_large'
  | 'no_domain'
  | 'unknown_domain';

/** Bytes that are not a signing message; `message` is shown to the client. */
export class DecodeError extends Error {
  readonly code: DecodeErrorCode;
  /** Offset from the first byte of the message; undefined if the error has no single position. */
  readonly offset: number | undefined;

  constructor(code: DecodeErrorCode, detail: string, offset?: number, options?: ErrorOptions) {
    const place = offset === undefined ? '' : ` at byte ${offset}`;
    super(`The given signing message is invalid: ${detail}${place}`, options);
    this.name = 'DecodeError';
    this.code = code;
    this.offset = offset;
  }
}

export interface SigningMessage {
  readonly raw: RawTransaction;
  /** Absent for a single-signer message. Empty for a multi-signer message whose only signer is the sender. */
  readonly secondarySigners: readonly Address[] | undefined;
  /** The account that pays for gas, if it is not the sender. */
  readonly feePayer: Address | undefined;
}

/** Decodes a signing message. @throws DecodeError */
export function readSigningMessage(bytes: Uint8Array): SigningMessage {
  if (bytes.length > MAX_SIGNING_MESSAGE_BYTES) {
    const text = `${bytes.length} bytes are more than ${MAX_SIGNING_MESSAGE_BYTES}`;
    throw new DecodeError('too_large', text);
  }
  const hasData = domainHasData(bytes);
  const reader = new CountingReader(bytes, HASH_BYTES, MAX_MESSAGE_ITEMS);
  try {
    const message = hasData ? readWithData(reader) : single(RawTransaction.read(reader));
    reader.finish();
    return message;
  } catch (cause) {
    if (!(cause instanceof BcsError)) throw cause;
    throw new DecodeError(cause.code, cause.detail, cause.offset, { cause });
  }
}

/** Whether the domain is that of transactions with several signers. */
function domainHasData(bytes: Uint8Array): boolean {
  if (bytes.length < HASH_BYTES) {
    const text = `it begins with a hash of ${HASH_BYTES} bytes, but there are ${bytes.length}`;
    throw new DecodeError('no_domain', text);
  }
  const first = bytes.subarray(0, HASH_BYTES);
  const { singleAgent, multiAgent } = DOMAIN_HASHES;
  if (byteTools.compare(singleAgent, first) === 0) return false;
  if (byteTools.compare(multiAgent, first) === 0) return true;
  throw new DecodeError(
    'unknown_domain',
    `the first ${HASH_BYTES} bytes are neither the hash of APTOS::RawTransaction ` +
      'nor that of APTOS::RawTransactionWithData',
    0,
  );
}

function single(raw: RawTransaction): SigningMessage {
  return { raw, secondarySigners: undefined, feePayer: undefined };
}

function readWithData(reader: BcsReader): SigningMessage {
  const hasFeePayer = reader.variant(2, 'RawTransactionWithData') === 1;
  return {
    raw: RawTransaction.read(reader),
    secondarySigners: reader.vector(HASH_BYTES, (inner) => inner.address()),
    feePayer: hasFeePayer ? reader.address() : undefined,
  };
}

/** The bytes of a hex text of either case, `0x` optional. @throws DecodeError `bad_hex` */
export function parseMessageText(text: string): Buffer {
  try {
    return parseHex(text);
  } catch (cause) {
    if (!(cause instanceof HexTextError)) throw cause;
    throw new DecodeError('bad_hex', `no hex: ${cause.message}`, undefined, { cause });
  }
}
