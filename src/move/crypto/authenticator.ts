/** Authenticators: who signed a transaction, and how (docs/spec/ledger.md §3.4). Signatures are not verified here. */
import type { BcsReader } from '../bcs/bcs-reader.ts';
import { byteTools } from '../bcs/bytes.ts';
import {
  address,
  byteString,
  type CodecValue,
  codec,
  list,
  text,
  u8,
  variants,
} from '../bcs/codec.ts';
import {
  AnyPublicKey,
  AnySignature,
  PUBLIC_KEY_BYTES,
  publicKeyOf,
  SIGNATURE_BYTES,
  signatureOf,
} from './public-key.ts';

const KEY_BYTES = PUBLIC_KEY_BYTES.ed25519;
const MULTI_SIGNATURE_BYTES = SIGNATURE_BYTES.ed25519;
export const BITMAP_BYTES = 4;
/** Maximum number of keys of an account: the bits of the bitmap. */
export const MAX_MULTI_ED25519_KEYS = 32;

export interface MultiEd25519PublicKey {
  /** 1 to 32 keys of 32 bytes. */
  readonly keys: readonly Buffer[];
  /** Signatures needed: 1 to the number of keys. */
  readonly threshold: number;
}

export interface MultiEd25519Signature {
  /** 1 to 32 signatures of 64 bytes, in the order of the bitmap's bits. */
  readonly signatures: readonly Buffer[];
  /** 4 bytes; bit i is `0x80 >> (i % 8)` of byte `i / 8` and is set if key i signed. */
  readonly bitmap: Buffer;
}

/**
 * Reads keys and threshold.
 * @throws BcsError, `bad_value` when the counts are inconsistent.
 */
function readMultiEd25519PublicKey(reader: BcsReader): MultiEd25519PublicKey {
  const start = reader.offset;
  const bytes = reader.bytes();
  const count = Math.floor(bytes.length / KEY_BYTES);
  const threshold = bytes[bytes.length - 1] ?? 0;
  if (bytes.length % KEY_BYTES !== 1 || !isKeyCount(count, threshold)) {
    const detail = `MultiEd25519 key of ${bytes.length} bytes with threshold ${threshold}`;
    throw reader.error('bad_value', detail, start);
  }
  return { keys: chunks(bytes, KEY_BYTES, count), threshold };
}

function isKeyCount(count: number, threshold: number): boolean {
  return count <= MAX_MULTI_ED25519_KEYS && threshold >= 1 && threshold <= count;
}

/**
 * Reads signatures and bitmap.
 * @throws BcsError, `bad_value` when the counts are inconsistent.
 */
function readMultiEd25519Signature(reader: BcsReader): MultiEd25519Signature {
  const start = reader.offset;
  const bytes = reader.bytes();
  const count = Math.floor(bytes.length / MULTI_SIGNATURE_BYTES);
  const bitmap = bytes.subarray(count * MULTI_SIGNATURE_BYTES);
  if (!isSignatureCount(count, bitmap)) {
    const shown = byteTools.hexText(bitmap, 0, bitmap.length);
    const detail = `MultiEd25519 signature of ${bytes.length} bytes, bitmap ${shown}`;
    throw reader.error('bad_value', detail, start);
  }
  return { signatures: chunks(bytes, MULTI_SIGNATURE_BYTES, count), bitmap };
}

function isSignatureCount(count: number, bitmap: Uint8Array): boolean {
  if (bitmap.length !== BITMAP_BYTES || count === 0) return false;
  let bits = 0;
  for (let byte of bitmap) for (; byte !== 0; byte &= byte - 1) bits += 1;
  return bits === count;
}

function chunks(bytes: Buffer, byteLength: number, count: number): Buffer[] {
  return Array.from({ length: count }, (_, index) =>
    bytes.subarray(index * byteLength, (index + 1) * byteLength),
  );
}

/** Fewest bytes of keys and of signatures: the length, one of them, and the threshold or the bitmap. */
const MIN_MULTI_KEY_BYTES = 1 + KEY_BYTES + 1;
const MIN_MULTI_SIGNATURE_BYTES = 1 + MULTI_SIGNATURE_BYTES + BITMAP_BYTES;

export const MultiEd25519PublicKey = codec<MultiEd25519PublicKey>(
  readMultiEd25519PublicKey,
  (writer, { keys, threshold }) => writer.bytes(Buffer.concat([...keys, Buffer.of(threshold)])),
  MIN_MULTI_KEY_BYTES,
);
export const MultiEd25519Signature = codec<MultiEd25519Signature>(
  readMultiEd25519Signature,
  (writer, { signatures, bitmap }) => writer.bytes(Buffer.concat([...signatures, bitmap])),
  MIN_MULTI_SIGNATURE_BYTES,
);

const ED25519 = { publicKey: publicKeyOf('ed25519'), signature: signatureOf('ed25519') };
const MULTI_ED25519 = { publicKey: MultiEd25519PublicKey, signature: MultiEd25519Signature };
const ABSTRACT_DATA = { signingMessageDigest: byteString, signature: byteString };

export const AccountAuthenticator = variants('AccountAuthenticator', {
  ed25519: ED25519,
  multiEd25519: MULTI_ED25519,
  singleKey: { publicKey: AnyPublicKey, signature: AnySignature },
  multiKey: {
    publicKeys: list(AnyPublicKey),
    signaturesRequired: u8,
    signatures: list(AnySignature),
    /** Bit i, as in MultiEd25519, is set if key i signed; its size is the writer's choice. */
    bitmap: byteString,
  },
  noAccount: {},
  abstract: {
    moduleAddress: address,
    moduleName: text,
    functionName: text,
    /** The input of an account's own authentication function. */
    data: variants('AbstractAuthenticationData', {
      v1: ABSTRACT_DATA,
      derivableV1: { ...ABSTRACT_DATA, publicKey: byteString },
    }),
  },
});
export type AccountAuthenticator = CodecValue<typeof AccountAuthenticator>;

const SIGNERS = {
  sender: AccountAuthenticator,
  secondarySignerAddresses: list(address),
  secondarySigners: list(AccountAuthenticator),
};

export const TransactionAuthenticator = variants('TransactionAuthenticator', {
  ed25519: ED25519,
  multiEd25519: MULTI_ED25519,
  multiAgent: SIGNERS,
  feePayer: { ...SIGNERS, feePayerAddress: address, feePayer: AccountAuthenticator },
  singleSender: { sender: AccountAuthenticator },
});
export type TransactionAuthenticator = CodecValue<typeof TransactionAuthenticator>;
