/**
 * Public keys and signatures of any scheme, as single-key and multi-key accounts use them, with those of keyless
 * accounts and pass keys (docs/spec/ledger.md §3.4). Nothing is verified here.
 */
import type { BcsReader } from '../bcs/bcs-reader.ts';
import type { BcsWriter } from '../bcs/bcs-writer.ts';
import { readSizedBytes } from '../bcs/fixed-bytes.ts';
import type { Address } from '../types/address.ts';

/** Schemes whose public keys are plain bytes. */
type PlainKeyKind = 'ed25519' | 'secp256k1' | 'secp256r1' | 'slhDsa';
/** Schemes whose signatures are plain bytes. */
type PlainSignatureKind = 'ed25519' | 'secp256k1' | 'slhDsa';

export type AnyPublicKey =
  | { readonly kind: PlainKeyKind; readonly bytes: Buffer }
  | { readonly kind: 'keyless'; readonly key: KeylessPublicKey }
  | { readonly kind: 'federatedKeyless'; readonly key: FederatedKeylessPublicKey };

export type AnySignature =
  | { readonly kind: PlainSignatureKind; readonly bytes: Buffer }
  | { readonly kind: 'webAuthn'; readonly assertion: WebAuthnAssertion }
  | { readonly kind: 'keyless'; readonly signature: KeylessSignature };

/** Sizes of public keys in bytes. */
export const PUBLIC_KEY_BYTES: Readonly<Record<PlainKeyKind, number>> = {
  ed25519: 32,
  secp256k1: 65,
  secp256r1: 65,
  slhDsa: 32,
};

/** Sizes of signatures in bytes. */
export const SIGNATURE_BYTES: Readonly<Record<PlainSignatureKind, number>> = {
  ed25519: 64,
  secp256k1: 64,
  slhDsa: 7856,
};

const KEY_KINDS = [
  'ed25519',
  'secp256k1',
  'secp256r1',
  'keyless',
  'federatedKeyless',
  'slhDsa',
] as const;
const SIGNATURE_KINDS = ['ed25519', 'secp256k1', 'webAuthn', 'keyless', 'slhDsa'] as const;

/** Reads a public key. @throws BcsError, also for a key of another size than its scheme's. */
export function readAnyPublicKey(reader: BcsReader): AnyPublicKey {
  const kind = KEY_KINDS[reader.variant(KEY_KINDS.length, 'AnyPublicKey')]!;
  if (kind === 'keyless') return { kind, key: readKeylessPublicKey(reader) };
  if (kind === 'federatedKeyless') return { kind, key: readFederatedKeylessPublicKey(reader) };
  return { kind, bytes: readSizedBytes(reader, PUBLIC_KEY_BYTES[kind], `${kind} public key`) };
}

export function writeAnyPublicKey(writer: BcsWriter, publicKey: AnyPublicKey): void {
  writer.uleb32(KEY_KINDS.indexOf(publicKey.kind));
  if (publicKey.kind === 'federatedKeyless') writer.address(publicKey.key.jwkAddress);
  if (publicKey.kind === 'keyless' || publicKey.kind === 'federatedKeyless') {
    writer.string(publicKey.key.issuer).bytes(publicKey.key.identityCommitment);
  } else {
    writer.bytes(publicKey.bytes);
  }
}

/** Reads a signature. @throws BcsError, also for a signature of another size than its scheme's. */
export function readAnySignature(reader: BcsReader): AnySignature {
  const kind = SIGNATURE_KINDS[reader.variant(SIGNATURE_KINDS.length, 'AnySignature')]!;
  if (kind === 'webAuthn') return { kind, assertion: readWebAuthnAssertion(reader) };
  if (kind === 'keyless') return { kind, signature: readKeylessSignature(reader) };
  return { kind, bytes: readSizedBytes(reader, SIGNATURE_BYTES[kind], `${kind} signature`) };
}

const GROTH16_G1_BYTES = 32;
const GROTH16_G2_BYTES = 64;
const PEPPER_BYTES = 31;

/** Who issued the identity, and a commitment to it (32 bytes in valid keys; the wire fixes no size). */
export interface KeylessPublicKey {
  readonly issuer: string;
  readonly identityCommitment: Buffer;
}

/** A keyless key whose issuer's keys are published by an account. */
export interface FederatedKeylessPublicKey extends KeylessPublicKey {
  readonly jwkAddress: Address;
}

export interface EphemeralPublicKey {
  readonly kind: 'ed25519' | 'secp256r1';
  /** 32 or 65 bytes. */
  readonly bytes: Buffer;
}

export type EphemeralSignature =
  | { readonly kind: 'ed25519'; readonly bytes: Buffer }
  | { readonly kind: 'webAuthn'; readonly assertion: WebAuthnAssertion };

/** A Groth16 proof: points of 32, 64 and 32 bytes. */
export interface Groth16Proof {
  readonly a: Buffer;
  readonly b: Buffer;
  readonly c: Buffer;
}

export type KeylessCertificate =
  | {
      readonly kind: 'zeroKnowledge';
      readonly proof: Groth16Proof;
      /** Longest lifetime of the ephemeral key, in seconds. */
      readonly expirationHorizonSecs: bigint;
      readonly extraField: string | undefined;
      readonly overrideAudience: string | undefined;
      readonly trainingWheelsSignature: EphemeralSignature | undefined;
    }
  | {
      readonly kind: 'openId';
      readonly jwtSignature: Buffer;
      readonly jwtPayloadJson: string;
      readonly uidKey: string;
      readonly ephemeralKeyBlinder: Buffer;
      /** 31 bytes. */
      readonly pepper: Buffer;
      readonly identityAudience: string | undefined;
    };

export interface KeylessSignature {
  readonly certificate: KeylessCertificate;
  readonly jwtHeaderJson: string;
  /** Seconds since 1970. */
  readonly expirationSecs: bigint;
  readonly ephemeralPublicKey: EphemeralPublicKey;
  readonly ephemeralSignature: EphemeralSignature;
}

function readKeylessPublicKey(reader: BcsReader): KeylessPublicKey {
  const issuer = reader.string();
  return { issuer, identityCommitment: reader.bytes() };
}

function readFederatedKeylessPublicKey(reader: BcsReader): FederatedKeylessPublicKey {
  const jwkAddress = reader.address();
  return { jwkAddress, ...readKeylessPublicKey(reader) };
}

function readKeylessSignature(reader: BcsReader): KeylessSignature {
  return {
    certificate: readCertificate(reader),
    jwtHeaderJson: reader.string(),
    expirationSecs: reader.u64(),
    ephemeralPublicKey: readEphemeralPublicKey(reader),
    ephemeralSignature: readEphemeralSignature(reader),
  };
}

function readCertificate(reader: BcsReader): KeylessCertificate {
  if (reader.variant(2, 'EphemeralCertificate') === 0) {
    return {
      kind: 'zeroKnowledge',
      proof: readProof(reader),
      expirationHorizonSecs: reader.u64(),
      extraField: reader.option((inner) => inner.string()),
      overrideAudience: reader.option((inner) => inner.string()),
      trainingWheelsSignature: reader.option(readEphemeralSignature),
    };
  }
  return {
    kind: 'openId',
    jwtSignature: reader.bytes(),
    jwtPayloadJson: reader.string(),
    uidKey: reader.string(),
    ephemeralKeyBlinder: reader.bytes(),
    pepper: reader.fixed(PEPPER_BYTES),
    identityAudience: reader.option((inner) => inner.string()),
  };
}

function readProof(reader: BcsReader): Groth16Proof {
  reader.variant(1, 'ZkProof');
  const a = reader.fixed(GROTH16_G1_BYTES);
  const b = reader.fixed(GROTH16_G2_BYTES);
  return { a, b, c: reader.fixed(GROTH16_G1_BYTES) };
}

function readEphemeralPublicKey(reader: BcsReader): EphemeralPublicKey {
  if (reader.variant(2, 'EphemeralPublicKey') === 0) {
    return {
      kind: 'ed25519',
      bytes: readSizedBytes(reader, PUBLIC_KEY_BYTES.ed25519, 'Ed25519 key'),
    };
  }
  return {
    kind: 'secp256r1',
    bytes: readSizedBytes(reader, PUBLIC_KEY_BYTES.secp256r1, 'Secp256r1 key'),
  };
}

function readEphemeralSignature(reader: BcsReader): EphemeralSignature {
  if (reader.variant(2, 'EphemeralSignature') === 0) {
    const bytes = readSizedBytes(reader, SIGNATURE_BYTES.ed25519, 'Ed25519 signature');
    return { kind: 'ed25519', bytes };
  }
  return { kind: 'webAuthn', assertion: readWebAuthnAssertion(reader) };
}

const SECP256R1_SIGNATURE_BYTES = 64;

interface WebAuthnAssertion {
  /** Secp256r1, 64 bytes. */
  readonly signature: Buffer;
  readonly authenticatorData: Buffer;
  readonly clientDataJson: Buffer;
}

function readWebAuthnAssertion(reader: BcsReader): WebAuthnAssertion {
  reader.variant(1, 'AssertionSignature');
  const signature = readSizedBytes(reader, SECP256R1_SIGNATURE_BYTES, 'Secp256r1 signature');
  const authenticatorData = reader.bytes();
  return { signature, authenticatorData, clientDataJson: reader.bytes() };
}
