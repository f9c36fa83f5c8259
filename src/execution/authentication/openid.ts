/** Keyless accounts without zero knowledge: the token of the issuer itself is the signature (docs/spec/vm.md §9.1). */
import { createPublicKey, verify } from 'node:crypto';
import type {
  KeylessCertificate,
  KeylessPublicKey,
  KeylessSignature,
} from '../../move/crypto/public-key.ts';
import { JsonNumber, type JsonObject, parseJson } from '../../move/json/json-text.ts';
import { type Configuration, ephemeralKeyScalars, MAX_AUDIENCE_BYTES } from './configuration.ts';
import { invalid, type RsaKey } from './jwks.ts';
import { hashScalars, hashText, scalarBytes, scalarOfFew } from './poseidon.ts';

const MAX_UID_KEY_BYTES = 30;
const MAX_UID_VALUE_BYTES = 330;
/** Claims with a special meaning; a token must have these strings and numbers of seconds. */
const TEXT_CLAIMS = ['iss', 'aud', 'sub', 'nonce'];
const TIME_CLAIMS = ['iat', 'exp'];
const EMAIL_CLAIMS = ['email', 'email_verified'];
const U64_MAX = (1n << 64n) - 1n;
const ALGORITHM = 'RS256';
const MIN_MODULUS_BITS = 2_048;
const MAX_MODULUS_BITS = 8_192;
const MAX_EXPONENT = 2n ** 33n;

interface Token {
  readonly certificate: Extract<KeylessCertificate, { kind: 'openId' }>;
  readonly signature: KeylessSignature;
  readonly key: KeylessPublicKey;
  readonly issuerKey: RsaKey;
  readonly configuration: Configuration;
}

/** @throws VmError INVALID_SIGNATURE */
export function checkOpenIdToken(token: Token): void {
  if (!hasValidClaims(token)) throw invalid('OpenID claim verification failed');
  if (!isSignedByIssuer(token)) throw invalid('RSA signature verification failed for OpenIdSig');
}

/** Whether the token matches the account, its ephemeral key and the expiration of that key. */
function hasValidClaims({ certificate, signature, key, configuration }: Token): boolean {
  const claims = readClaims(certificate.jwtPayloadJson);
  if (claims === undefined) return false;
  const { uidKey, pepper, identityAudience, ephemeralKeyBlinder } = certificate;
  const audience = claims.get('aud') as string;
  const uid = uidOf(claims, uidKey);
  const issuedSecs = BigInt((claims.get('iat') as JsonNumber).text);
  const end = issuedSecs + configuration.maxHorizonSecs;
  if (end > U64_MAX || signature.expirationSecs >= end) return false;
  if (claims.get('iss') !== key.issuer || uid === undefined) return false;
  if (identityAudience !== undefined && !configuration.overrideAudiences.includes(audience)) {
    return false;
  }
  const identity = hashScalars([
    scalarOfFew(pepper),
    hashText(identityAudience ?? audience, MAX_AUDIENCE_BYTES),
    hashText(uid, MAX_UID_VALUE_BYTES),
    hashText(uidKey, MAX_UID_KEY_BYTES),
  ]);
  if (!scalarBytes(identity).equals(key.identityCommitment)) return false;
  const nonce = hashScalars([
    ...ephemeralKeyScalars(signature.ephemeralPublicKey, configuration),
    signature.expirationSecs,
    scalarOfFew(ephemeralKeyBlinder),
  ]);
  return claims.get('nonce') === nonce.toString();
}

/** `undefined` if a claim is missing or has another type. */
function readClaims(json: string): JsonObject | undefined {
  const claims = readObject(Buffer.from(json));
  const isText = (name: string) => typeof claims?.get(name) === 'string';
  const isTime = (name: string) => {
    const value = claims?.get(name);
    if (!(value instanceof JsonNumber) || !/^\d+$/.test(value.text)) return false;
    return BigInt(value.text) <= U64_MAX;
  };
  const email = claims?.get('email') ?? '';
  const isWhole = TEXT_CLAIMS.every(isText) && TIME_CLAIMS.every(isTime);
  return isWhole && typeof email === 'string' ? claims : undefined;
}

function readObject(bytes: Buffer): JsonObject | undefined {
  try {
    const value = parseJson(bytes);
    return value instanceof Map ? value : undefined;
  } catch {
    return undefined;
  }
}

function uidOf(claims: JsonObject, name: string): string | undefined {
  const isPlain = [...TEXT_CLAIMS, ...TIME_CLAIMS, ...EMAIL_CLAIMS].includes(name);
  if (isPlain && name !== 'sub' && name !== 'email') return undefined;
  const isVerified = [true, 'true'].includes(claims.get('email_verified') as boolean | string);
  if (name === 'email' && !isVerified) return undefined;
  const value = claims.get(name);
  return typeof value === 'string' ? value : undefined;
}

function isSignedByIssuer({ certificate, signature, issuerKey }: Token): boolean {
  const header = Buffer.from(signature.jwtHeaderJson);
  if (readObject(header)?.get('alg') !== ALGORITHM) return false;
  const texts = [header, Buffer.from(certificate.jwtPayloadJson)];
  const signed = Buffer.from(texts.map((text) => text.toString('base64url')).join('.'));
  const { exponent: e, modulus: n } = issuerKey;
  try {
    const key = createPublicKey({ key: { kty: 'RSA', n, e }, format: 'jwk' });
    const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {};
    const isAllowed =
      modulusLength >= MIN_MODULUS_BITS &&
      modulusLength <= MAX_MODULUS_BITS &&
      publicExponent >= 3n &&
      publicExponent < MAX_EXPONENT;
    return isAllowed && verify('sha256', signed, key, certificate.jwtSignature);
  } catch {
    return false;
  }
}
