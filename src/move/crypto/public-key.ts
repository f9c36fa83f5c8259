/**
 * Public keys and signatures of any scheme, as single-key and multi-key accounts use them, with those of keyless
 * accounts and pass keys (docs/spec/ledger.md §3.4). Nothing is verified here.
 */
import {
  address,
  byteString,
  type CodecValue,
  fixedBytes,
  option,
  sizedBytes,
  soleVariant,
  structCodec,
  text,
  u64,
  variants,
} from '../bcs/codec.ts';

/** Sizes of public keys in bytes. */
export const PUBLIC_KEY_BYTES = { ed25519: 32, secp256k1: 65, secp256r1: 65, slhDsa: 32 } as const;

/** Sizes of signatures in bytes. */
export const SIGNATURE_BYTES = { ed25519: 64, secp256k1: 64, secp256r1: 64, slhDsa: 7856 } as const;

export function publicKeyOf(kind: keyof typeof PUBLIC_KEY_BYTES, what = `${kind} public key`) {
  return sizedBytes(PUBLIC_KEY_BYTES[kind], what);
}

export function signatureOf(kind: keyof typeof SIGNATURE_BYTES, what = `${kind} signature`) {
  return sizedBytes(SIGNATURE_BYTES[kind], what);
}

const GROTH16_G1_BYTES = 32;
const GROTH16_G2_BYTES = 64;
const PEPPER_BYTES = 31;

const KEYLESS_KEY = {
  issuer: text,
  /** A commitment to the identity: 32 bytes in valid keys; the wire fixes no size. */
  identityCommitment: byteString,
};
const keylessKey = structCodec(KEYLESS_KEY);
export type KeylessPublicKey = CodecValue<typeof keylessKey>;

/** A keyless key whose issuer's keys are published by an account. */
const federatedKeylessKey = structCodec({ jwkAddress: address, ...KEYLESS_KEY });
export type FederatedKeylessPublicKey = CodecValue<typeof federatedKeylessKey>;

export const AnyPublicKey = variants('AnyPublicKey', {
  ed25519: { bytes: publicKeyOf('ed25519') },
  secp256k1: { bytes: publicKeyOf('secp256k1') },
  secp256r1: { bytes: publicKeyOf('secp256r1') },
  keyless: { key: keylessKey },
  federatedKeyless: { key: federatedKeylessKey },
  slhDsa: { bytes: publicKeyOf('slhDsa') },
});
export type AnyPublicKey = CodecValue<typeof AnyPublicKey>;

const assertion = soleVariant(
  'AssertionSignature',
  structCodec({
    signature: signatureOf('secp256r1', 'Secp256r1 signature'),
    authenticatorData: byteString,
    clientDataJson: byteString,
  }),
);

const EphemeralPublicKey = variants('EphemeralPublicKey', {
  ed25519: { bytes: publicKeyOf('ed25519', 'Ed25519 key') },
  secp256r1: { bytes: publicKeyOf('secp256r1', 'Secp256r1 key') },
});
export type EphemeralPublicKey = CodecValue<typeof EphemeralPublicKey>;

const EphemeralSignature = variants('EphemeralSignature', {
  ed25519: { bytes: signatureOf('ed25519', 'Ed25519 signature') },
  webAuthn: { assertion },
});
export type EphemeralSignature = CodecValue<typeof EphemeralSignature>;

const Groth16Proof = structCodec({
  a: fixedBytes(GROTH16_G1_BYTES, 'proof a'),
  b: fixedBytes(GROTH16_G2_BYTES, 'proof b'),
  c: fixedBytes(GROTH16_G1_BYTES, 'proof c'),
});
export type Groth16Proof = CodecValue<typeof Groth16Proof>;

const KeylessCertificate = variants('EphemeralCertificate', {
  zeroKnowledge: {
    proof: soleVariant('ZkProof', Groth16Proof),
    /** Longest lifetime of the ephemeral key, in seconds. */
    expirationHorizonSecs: u64,
    extraField: option(text),
    overrideAudience: option(text),
    trainingWheelsSignature: option(EphemeralSignature),
  },
  openId: {
    jwtSignature: byteString,
    jwtPayloadJson: text,
    uidKey: text,
    ephemeralKeyBlinder: byteString,
    pepper: fixedBytes(PEPPER_BYTES, 'pepper'),
    identityAudience: option(text),
  },
});
export type KeylessCertificate = CodecValue<typeof KeylessCertificate>;

const KeylessSignature = structCodec({
  certificate: KeylessCertificate,
  jwtHeaderJson: text,
  /** Seconds since 1970. */
  expirationSecs: u64,
  ephemeralPublicKey: EphemeralPublicKey,
  ephemeralSignature: EphemeralSignature,
});
export type KeylessSignature = CodecValue<typeof KeylessSignature>;

export const AnySignature = variants('AnySignature', {
  ed25519: { bytes: signatureOf('ed25519') },
  secp256k1: { bytes: signatureOf('secp256k1') },
  webAuthn: { assertion },
  keyless: { signature: KeylessSignature },
  slhDsa: { bytes: signatureOf('slhDsa') },
});
export type AnySignature = CodecValue<typeof AnySignature>;
