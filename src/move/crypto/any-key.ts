/**
 * Public keys and signatures of any scheme, as single-key and multi-key accounts use them
 * (docs/spec/ledger.md §3.4).
 */
import type { BcsReader } from '../bcs/bcs-reader.ts';
import type { BcsWriter } from '../bcs/bcs-writer.ts';
import { readSizedBytes, writeSizedBytes } from '../bcs/fixed-bytes.ts';
import {
  type FederatedKeylessPublicKey,
  type KeylessPublicKey,
  type KeylessSignature,
  readFederatedKeylessPublicKey,
  readKeylessPublicKey,
  readKeylessSignature,
  writeFederatedKeylessPublicKey,
  writeKeylessPublicKey,
  writeKeylessSignature,
} from './keyless.ts';
import {
  readWebAuthnAssertion,
  type WebAuthnAssertion,
  writeWebAuthnAssertion,
} from './webauthn.ts';

/** Schemes whose public keys are plain bytes. */
export type PlainKeyKind = 'ed25519' | 'secp256k1' | 'secp256r1' | 'slhDsa';
/** Schemes whose signatures are plain bytes. */
export type PlainSignatureKind = 'ed25519' | 'secp256k1' | 'slhDsa';

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

/** Writes a public key. @throws RangeError for a key of another size than its scheme's. */
export function writeAnyPublicKey(writer: BcsWriter, key: AnyPublicKey): void {
  writer.uleb32(KEY_KINDS.indexOf(key.kind));
  if (key.kind === 'keyless') {
    writeKeylessPublicKey(writer, key.key);
    return;
  }
  if (key.kind === 'federatedKeyless') {
    writeFederatedKeylessPublicKey(writer, key.key);
    return;
  }
  writeSizedBytes(writer, key.bytes, PUBLIC_KEY_BYTES[key.kind], `${key.kind} public key`);
}

/** Reads a signature. @throws BcsError, also for a signature of another size than its scheme's. */
export function readAnySignature(reader: BcsReader): AnySignature {
  const kind = SIGNATURE_KINDS[reader.variant(SIGNATURE_KINDS.length, 'AnySignature')]!;
  if (kind === 'webAuthn') return { kind, assertion: readWebAuthnAssertion(reader) };
  if (kind === 'keyless') return { kind, signature: readKeylessSignature(reader) };
  return { kind, bytes: readSizedBytes(reader, SIGNATURE_BYTES[kind], `${kind} signature`) };
}

/** Writes a signature. @throws RangeError for a signature of another size than its scheme's. */
export function writeAnySignature(writer: BcsWriter, signature: AnySignature): void {
  writer.uleb32(SIGNATURE_KINDS.indexOf(signature.kind));
  if (signature.kind === 'webAuthn') {
    writeWebAuthnAssertion(writer, signature.assertion);
    return;
  }
  if (signature.kind === 'keyless') {
    writeKeylessSignature(writer, signature.signature);
    return;
  }
  const byteLength = SIGNATURE_BYTES[signature.kind];
  writeSizedBytes(writer, signature.bytes, byteLength, `${signature.kind} signature`);
}
