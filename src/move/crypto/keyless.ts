/**
 * Keyless accounts: their public keys and signatures (docs/spec/ledger.md §3.4). Nothing is verified
 * here.
 */

import type { BcsReader } from '../bcs/bcs-reader.ts';
import type { BcsWriter } from '../bcs/bcs-writer.ts';
import { readSizedBytes, writeFixedBytes, writeSizedBytes } from '../bcs/fixed-bytes.ts';
import type { Address } from '../types/address.ts';
import {
  readWebAuthnAssertion,
  type WebAuthnAssertion,
  writeWebAuthnAssertion,
} from './webauthn.ts';

const ED25519_KEY_BYTES = 32;
const ED25519_SIGNATURE_BYTES = 64;
const SECP256R1_KEY_BYTES = 65;
const GROTH16_G1_BYTES = 32;
const GROTH16_G2_BYTES = 64;
const PEPPER_BYTES = 31;

/**
 * Who issued the identity, and a commitment to it (32 bytes in valid keys; the wire fixes no size).
 */
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

/** Reads a keyless public key. @throws BcsError */
export function readKeylessPublicKey(reader: BcsReader): KeylessPublicKey {
  const issuer = reader.string();
  return { issuer, identityCommitment: reader.bytes() };
}

/** Writes a keyless public key. */
export function writeKeylessPublicKey(writer: BcsWriter, key: KeylessPublicKey): void {
  writer.string(key.issuer).bytes(key.identityCommitment);
}

/** Reads a federated keyless public key. @throws BcsError */
export function readFederatedKeylessPublicKey(reader: BcsReader): FederatedKeylessPublicKey {
  const jwkAddress = reader.address();
  return { jwkAddress, ...readKeylessPublicKey(reader) };
}

/** Writes a federated keyless public key. */
export function writeFederatedKeylessPublicKey(
  writer: BcsWriter,
  key: FederatedKeylessPublicKey,
): void {
  writer.address(key.jwkAddress);
  writeKeylessPublicKey(writer, key);
}

/** Reads a keyless signature. @throws BcsError */
export function readKeylessSignature(reader: BcsReader): KeylessSignature {
  return {
    certificate: readCertificate(reader),
    jwtHeaderJson: reader.string(),
    expirationSecs: reader.u64(),
    ephemeralPublicKey: readEphemeralPublicKey(reader),
    ephemeralSignature: readEphemeralSignature(reader),
  };
}

/** Writes a keyless signature. */
export function writeKeylessSignature(writer: BcsWriter, signature: KeylessSignature): void {
  writeCertificate(writer, signature.certificate);
  writer.string(signature.jwtHeaderJson).u64(signature.expirationSecs);
  writeEphemeralPublicKey(writer, signature.ephemeralPublicKey);
  writeEphemeralSignature(writer, signature.ephemeralSignature);
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

function writeCertificate(writer: BcsWriter, certificate: KeylessCertificate): void {
  if (certificate.kind === 'zeroKnowledge') {
    writer.uleb32(0);
    writeProof(writer, certificate.proof);
    writer.u64(certificate.expirationHorizonSecs);
    writer.option(certificate.extraField, (inner, text) => inner.string(text));
    writer.option(certificate.overrideAudience, (inner, text) => inner.string(text));
    writer.option(certificate.trainingWheelsSignature, writeEphemeralSignature);
  } else {
    writer.uleb32(1).bytes(certificate.jwtSignature);
    writer.string(certificate.jwtPayloadJson).string(certificate.uidKey);
    writer.bytes(certificate.ephemeralKeyBlinder);
    writeFixedBytes(writer, certificate.pepper, PEPPER_BYTES, 'pepper');
    writer.option(certificate.identityAudience, (inner, text) => inner.string(text));
  }
}

function readProof(reader: BcsReader): Groth16Proof {
  reader.variant(1, 'ZkProof');
  const a = reader.fixed(GROTH16_G1_BYTES);
  const b = reader.fixed(GROTH16_G2_BYTES);
  return { a, b, c: reader.fixed(GROTH16_G1_BYTES) };
}

function writeProof(writer: BcsWriter, proof: Groth16Proof): void {
  writer.uleb32(0);
  writeFixedBytes(writer, proof.a, GROTH16_G1_BYTES, 'proof point a');
  writeFixedBytes(writer, proof.b, GROTH16_G2_BYTES, 'proof point b');
  writeFixedBytes(writer, proof.c, GROTH16_G1_BYTES, 'proof point c');
}

function readEphemeralPublicKey(reader: BcsReader): EphemeralPublicKey {
  if (reader.variant(2, 'EphemeralPublicKey') === 0) {
    return { kind: 'ed25519', bytes: readSizedBytes(reader, ED25519_KEY_BYTES, 'Ed25519 key') };
  }
  return { kind: 'secp256r1', bytes: readSizedBytes(reader, SECP256R1_KEY_BYTES, 'Secp256r1 key') };
}

function writeEphemeralPublicKey(writer: BcsWriter, key: EphemeralPublicKey): void {
  if (key.kind === 'ed25519') {
    writer.uleb32(0);
    writeSizedBytes(writer, key.bytes, ED25519_KEY_BYTES, 'Ed25519 key');
  } else {
    writer.uleb32(1);
    writeSizedBytes(writer, key.bytes, SECP256R1_KEY_BYTES, 'Secp256r1 key');
  }
}

function readEphemeralSignature(reader: BcsReader): EphemeralSignature {
  if (reader.variant(2, 'EphemeralSignature') === 0) {
    const bytes = readSizedBytes(reader, ED25519_SIGNATURE_BYTES, 'Ed25519 signature');
    return { kind: 'ed25519', bytes };
  }
  return { kind: 'webAuthn', assertion: readWebAuthnAssertion(reader) };
}

function writeEphemeralSignature(writer: BcsWriter, signature: EphemeralSignature): void {
  if (signature.kind === 'ed25519') {
    writer.uleb32(0);
    writeSizedBytes(writer, signature.bytes, ED25519_SIGNATURE_BYTES, 'Ed25519 signature');
  } else {
    writer.uleb32(1);
    writeWebAuthnAssertion(writer, signature.assertion);
  }
}
