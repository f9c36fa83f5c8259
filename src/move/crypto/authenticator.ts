/** Authenticators: who signed a transaction, and how (docs/spec/ledger.md §3.4). Signatures are not verified here. */
import type { BcsReader } from '../bcs/bcs-reader.ts';
import { readSizedBytes } from '../bcs/fixed-bytes.ts';
import { ADDRESS_BYTES, type Address } from '../types/address.ts';
import {
  type MultiEd25519PublicKey,
  type MultiEd25519Signature,
  readMultiEd25519PublicKey,
  readMultiEd25519Signature,
} from './multi-ed25519.ts';
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
