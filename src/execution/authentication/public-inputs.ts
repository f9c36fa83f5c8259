/** The statement that a keyless account's proof proves; its hash is the public input (docs/spec/vm.md §9.1). */
import type {
  KeylessCertificate,
  KeylessPublicKey,
  KeylessSignature,
} from '../../move/crypto/public-key.ts';
import { type Configuration, ephemeralKeyScalars, MAX_AUDIENCE_BYTES } from './configuration.ts';
import { invalid, type RsaKey } from './jwks.ts';
import { hashScalars, hashText, scalarOf } from './poseidon.ts';

const MAX_EXTRA_FIELD_BYTES = 350;
/** Size of the modulus of the issuer's key, which is hashed in words. */
const MODULUS_BYTES = 256;
const WORD_BYTES = 24;

/** Hashes of the fields that most proofs leave out. */
let noField: bigint | undefined;
let noAudience: bigint | undefined;

interface Statement {
  readonly key: KeylessPublicKey;
  readonly signature: KeylessSignature;
  readonly certificate: Extract<KeylessCertificate, { kind: 'zeroKnowledge' }>;
  readonly issuerKey: RsaKey;
  readonly configuration: Configuration;
}

/** The parts of the statement in hashing order. The caller computes them one at a time: each takes long. */
export function publicInputs({
  key,
  signature,
  certificate,
  issuerKey,
  configuration,
}: Statement): readonly (() => readonly bigint[])[] {
  const { ephemeralPublicKey, expirationSecs, jwtHeaderJson } = signature;
  const { extraField, overrideAudience, expirationHorizonSecs } = certificate;
  const { maxExtraFieldBytes, maxHeaderBytes, maxIssuerBytes } = configuration;
  const header = `${Buffer.from(jwtHeaderJson).toString('base64url')}.`;
  return [
    () => ephemeralKeyScalars(ephemeralPublicKey, configuration),
    () => [scalarOf(key.identityCommitment), expirationSecs, expirationHorizonSecs],
    () => [hashText(key.issuer, maxIssuerBytes)],
    () => {
      if (extraField !== undefined) return [1n, hashText(extraField, maxExtraFieldBytes)];
      noField ??= hashText(' ', MAX_EXTRA_FIELD_BYTES);
      return [0n, noField];
    },
    () => [hashText(header, maxHeaderBytes)],
    () => [hashModulus(issuerKey)],
    () => {
      if (overrideAudience !== undefined)
        return [hashText(overrideAudience, MAX_AUDIENCE_BYTES), 1n];
      noAudience ??= hashText('', MAX_AUDIENCE_BYTES);
      return [noAudience, 0n];
    },
  ];
}

function hashModulus({ modulus }: RsaKey): bigint {
  const bytes = Buffer.from(modulus, 'base64url');
  if (bytes.length !== MODULUS_BYTES) throw invalid('Could not compute public inputs hash');
  bytes.reverse();
  const words = Array.from({ length: Math.ceil(MODULUS_BYTES / WORD_BYTES) }, (_, index) =>
    scalarOf(bytes.subarray(index * WORD_BYTES, (index + 1) * WORD_BYTES)),
  );
  return hashScalars([...words, BigInt(MODULUS_BYTES)]);
}
