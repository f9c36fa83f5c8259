/** Authenticators: who signed a transaction, and how (docs/spec/ledger.md §3.4). Signatures are not verified here. */
import type { BcsReader } from '../bcs/bcs-reader.ts';
import { byteTools } from '../bcs/bytes.ts';
import { readSizedBytes } from '../bcs/fixed-bytes.ts';
import { ADDRESS_BYTES, type Address } from '../types/address.ts';
import {
  type AnyPublicKey,
  type AnySignature,
  PUBLIC_KEY_BYTES,
  readAnyPublicKey,
  readAnySignature,
  SIGNATURE_BYTES,
} from './public-key.ts';

interface Ed25519Authenticator {
  readonly kind: 'ed25519';
  /** 32 bytes. */
  readonly publicKey: Buffer;
  /** 64 bytes. */
  readonly signature: Buffer;
}

interface MultiEd25519Authenticator {
  readonly kind: 'multiEd25519';
  readonly publicKey: MultiEd25519PublicKey;
  readonly signature: MultiEd25519Signature;
}

/** The input of an account's own authentication function. */
type AbstractAuthenticationData =
  | { readonly kind: 'v1'; readonly signingMessageDigest: Buffer; readonly signature: Buffer }
  | {
      readonly kind: 'derivableV1';
      readonly signingMessageDigest: Buffer;
      readonly signature: Buffer;
      readonly publicKey: Buffer;
    };

export type AccountAuthenticator =
  | Ed25519Authenticator
  | MultiEd25519Authenticator
  | {
      readonly kind: 'singleKey';
      readonly publicKey: AnyPublicKey;
      readonly signature: AnySignature;
    }
  | {
      readonly kind: 'multiKey';
      readonly publicKeys: readonly AnyPublicKey[];
      readonly signaturesRequired: number;
      readonly signatures: readonly AnySignature[];
      /** Bit i, as in MultiEd25519, is set if key i signed; its size is the writer's choice. */
      readonly bitmap: Buffer;
    }
  | { readonly kind: 'noAccount' }
  | {
      readonly kind: 'abstract';
      readonly moduleAddress: Address;
      readonly moduleName: string;
      readonly functionName: string;
      readonly data: AbstractAuthenticationData;
    };

interface SecondarySigners {
  readonly sender: AccountAuthenticator;
  readonly secondarySignerAddresses: readonly Address[];
  readonly secondarySigners: readonly AccountAuthenticator[];
}

export type TransactionAuthenticator =
  | Ed25519Authenticator
  | MultiEd25519Authenticator
  | ({ readonly kind: 'multiAgent' } & SecondarySigners)
  | ({
      readonly kind: 'feePayer';
      readonly feePayerAddress: Address;
      readonly feePayer: AccountAuthenticator;
    } & SecondarySigners)
  | { readonly kind: 'singleSender'; readonly sender: AccountAuthenticator };

/** Fewest bytes of an account authenticator: the one that authenticates nothing. */
const MIN_AUTHENTICATOR_BYTES = 1;
/** Fewest bytes of a public key or signature of any scheme: a variant and two empty parts. */
const MIN_ANY_KEY_BYTES = 3;

export function readTransactionAuthenticator(reader: BcsReader): TransactionAuthenticator {
  switch (reader.variant(5, 'TransactionAuthenticator')) {
    case 0:
      return readEd25519(reader);
    case 1:
      return readMultiEd25519(reader);
    case 2:
      return { kind: 'multiAgent', ...readSecondarySigners(reader) };
    case 3: {
      const signers = readSecondarySigners(reader);
      const feePayerAddress = reader.address();
      const feePayer = readAccountAuthenticator(reader);
      return { kind: 'feePayer', ...signers, feePayerAddress, feePayer };
    }
    default:
      return { kind: 'singleSender', sender: readAccountAuthenticator(reader) };
  }
}

function readSecondarySigners(reader: BcsReader): SecondarySigners {
  const sender = readAccountAuthenticator(reader);
  const secondarySignerAddresses = reader.vector(ADDRESS_BYTES, (inner) => inner.address());
  const secondarySigners = reader.vector(MIN_AUTHENTICATOR_BYTES, readAccountAuthenticator);
  return { sender, secondarySignerAddresses, secondarySigners };
}

export function readAccountAuthenticator(reader: BcsReader): AccountAuthenticator {
  switch (reader.variant(6, 'AccountAuthenticator')) {
    case 0:
      return readEd25519(reader);
    case 1:
      return readMultiEd25519(reader);
    case 2: {
      const publicKey = readAnyPublicKey(reader);
      return { kind: 'singleKey', publicKey, signature: readAnySignature(reader) };
    }
    case 3: {
      const publicKeys = reader.vector(MIN_ANY_KEY_BYTES, readAnyPublicKey);
      const signaturesRequired = reader.u8();
      const signatures = reader.vector(MIN_ANY_KEY_BYTES, readAnySignature);
      const bitmap = reader.bytes();
      return { kind: 'multiKey', publicKeys, signaturesRequired, signatures, bitmap };
    }
    case 4:
      return { kind: 'noAccount' };
    default: {
      const moduleAddress = reader.address();
      const moduleName = reader.string();
      const functionName = reader.string();
      const data = readAbstractData(reader);
      return { kind: 'abstract', moduleAddress, moduleName, functionName, data };
    }
  }
}

function readEd25519(reader: BcsReader): Ed25519Authenticator {
  const publicKey = readSizedBytes(reader, PUBLIC_KEY_BYTES.ed25519, 'ed25519 public key');
  const signature = readSizedBytes(reader, SIGNATURE_BYTES.ed25519, 'ed25519 signature');
  return { kind: 'ed25519', publicKey, signature };
}

function readMultiEd25519(reader: BcsReader): MultiEd25519Authenticator {
  const publicKey = readMultiEd25519PublicKey(reader);
  return { kind: 'multiEd25519', publicKey, signature: readMultiEd25519Signature(reader) };
}

function readAbstractData(reader: BcsReader): AbstractAuthenticationData {
  const variant = reader.variant(2, 'AbstractAuthenticationData');
  const signingMessageDigest = reader.bytes();
  const signature = reader.bytes();
  if (variant === 0) return { kind: 'v1', signingMessageDigest, signature };
  return { kind: 'derivableV1', signingMessageDigest, signature, publicKey: reader.bytes() };
}

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
export function readMultiEd25519PublicKey(reader: BcsReader): MultiEd25519PublicKey {
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
export function readMultiEd25519Signature(reader: BcsReader): MultiEd25519Signature {
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
