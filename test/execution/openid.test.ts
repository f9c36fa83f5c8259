/** Keyless accounts whose token itself is sent (docs/spec/vm.md §9.1). The SDK computes a token's account and nonce. */
import { generateKeyPairSync, sign } from 'node:crypto';
import { Ed25519PrivateKey, EphemeralKeyPair, KeylessPublicKey } from '@aptos-labs/ts-sdk';
import { describe, expect, it } from 'vitest';
import type { KeylessSignature } from '../../src/move/crypto/public-key.ts';
import { type KnownState, keylessRefusal, MAINNET, worldOf } from './keyless-mainnet.ts';

const ISSUER = 'https://issuer.example';
const HEADER = { alg: 'RS256', kid: 'first', typ: 'JWT' };
const ISSUED_SECS = 1_718_000_000n;
const END_SECS = ISSUED_SECS + 1_000n;
const HORIZON_SECS = 10_000n;
const PEPPER = Buffer.alloc(31, 7);
const BLINDER = Buffer.alloc(31, 42);

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const modulusOf = (key: typeof publicKey): string => key.export({ format: 'jwk' }).n!;
const ephemeral = new EphemeralKeyPair({
  privateKey: new Ed25519PrivateKey(`ed25519-priv-0x${'11'.repeat(32)}`),
  expiryDateSecs: Number(END_SECS),
  blinder: BLINDER,
});

const CLAIMS = {
  iss: ISSUER,
  aud: 'app',
  sub: 'user-1',
  email: 'user@example.com',
  email_verified: true,
  nonce: ephemeral.nonce,
  iat: Number(ISSUED_SECS),
  exp: Number(ISSUED_SECS) + 3_600,
  team: 'blue',
};

const KNOWN: KnownState = {
  ...MAINNET,
  configuration: { ...MAINNET.configuration, maxHorizonSecs: HORIZON_SECS },
  verificationKey: undefined,
  nowSecs: ISSUED_SECS,
  issuer: ISSUER,
  keys: [{ id: HEADER.kid, modulus: modulusOf(publicKey) }],
};

interface Made {
  readonly claims: object;
  readonly header: string;
  readonly uidKey: string;
  readonly uid: string;
  readonly key: typeof privateKey;
  readonly known: KnownState;
  readonly endSecs: bigint;
  readonly audience: string;
  readonly identityAudience: string | undefined;
  readonly blinder: Buffer;
  readonly damage: (signature: Buffer) => Buffer;
}

/** The refusal of a token; `undefined` if it is valid. */
async function refusalOf(changes: Partial<Made> = {}): Promise<string | undefined> {
  const made: Made = {
    claims: CLAIMS,
    header: JSON.stringify(HEADER),
    uidKey: 'sub',
    uid: CLAIMS.sub,
    key: privateKey,
    known: KNOWN,
    endSecs: END_SECS,
    audience: CLAIMS.aud,
    identityAudience: undefined,
    blinder: BLINDER,
    damage: (signature) => signature,
    ...changes,
  };
  const { uidKey, uid, audience: aud } = made;
  const account = KeylessPublicKey.create({
    iss: ISSUER,
    uidKey,
    uidVal: uid,
    aud,
    pepper: PEPPER,
  });
  const payload = JSON.stringify(made.claims);
  const token = [made.header, payload].map((text) => Buffer.from(text).toString('base64url'));
  const certificate: KeylessSignature['certificate'] = {
    kind: 'openId',
    jwtSignature: made.damage(sign('sha256', Buffer.from(token.join('.')), made.key)),
    jwtPayloadJson: payload,
    uidKey,
    ephemeralKeyBlinder: made.blinder,
    pepper: PEPPER,
    identityAudience: made.identityAudience,
  };
  const key = Buffer.from(ephemeral.getPublicKey().publicKey.toUint8Array());
  const proof = {
    key: { issuer: ISSUER, identityCommitment: Buffer.from(account.idCommitment) },
    publisher: undefined,
    signature: {
      certificate,
      jwtHeaderJson: made.header,
      expirationSecs: made.endSecs,
      ephemeralPublicKey: { kind: 'ed25519', bytes: key } as const,
      ephemeralSignature: { kind: 'ed25519', bytes: Buffer.alloc(64) } as const,
    },
  };
  const refusal = await keylessRefusal([proof], worldOf(made.known));
  return refusal && (refusal.message ?? refusal.status);
}

const CLAIM = 'OpenID claim verification failed';
const RSA = 'RSA signature verification failed for OpenIdSig';

describe('a token', () => {
  it('of its issuer, about the account and the ephemeral key', async () => {
    expect(await refusalOf()).toBeUndefined();
    expect(await refusalOf({ uidKey: 'email', uid: CLAIMS.email })).toBeUndefined();
    expect(await refusalOf({ uidKey: 'team', uid: CLAIMS.team })).toBeUndefined();
    const asText = { ...CLAIMS, email_verified: 'true' };
    const email = { uidKey: 'email', uid: CLAIMS.email };
    expect(await refusalOf({ ...email, claims: asText })).toBeUndefined();
  });

  it('needs a feature', async () => {
    const known = { ...KNOWN, disabledFlags: [47] };
    expect(await refusalOf({ known })).toBe('FEATURE_UNDER_GATING');
  });

  it.each([
    ['iss', 'https://other.example'],
    ['aud', 'other'],
    ['aud', ['app']],
    ['sub', 'user-2'],
    ['sub', undefined],
    ['nonce', '1'],
    ['iat', Number(ISSUED_SECS) - 9_000],
    ['iat', 1.5],
    ['iat', -1],
    ['iat', '1'],
    ['exp', undefined],
    ['email', 1],
  ])('is refused with the claim %s %j', async (name, value) => {
    expect(await refusalOf({ claims: { ...CLAIMS, [name]: value } })).toBe(CLAIM);
  });

  it('is refused as text that is no object', async () => {
    expect(await refusalOf({ claims: [CLAIMS] })).toBe(CLAIM);
  });

  it('is refused for another user', async () => {
    expect(await refusalOf({ uid: 'user-2' })).toBe(CLAIM);
    const email = { uidKey: 'email', uid: CLAIMS.email };
    for (const verified of [undefined, false, 'yes']) {
      const claims = { ...CLAIMS, email_verified: verified };
      expect(await refusalOf({ ...email, claims })).toBe(CLAIM);
    }
    expect(await refusalOf({ uidKey: 'iss', uid: ISSUER })).toBe(CLAIM);
    expect(await refusalOf({ uidKey: 'absent', uid: '' })).toBe(CLAIM);
  });

  it('may be for an application that stands in for others', async () => {
    const recovery = { ...CLAIMS, aud: 'recovery' };
    const changes = { claims: recovery, identityAudience: 'app' };
    expect(await refusalOf(changes)).toBe(CLAIM);
    const configuration = { ...KNOWN.configuration, overrideAudiences: ['recovery'] };
    const known = { ...KNOWN, configuration };
    expect(await refusalOf({ ...changes, known })).toBeUndefined();
    expect(await refusalOf({ ...changes, identityAudience: 'other', known })).toBe(CLAIM);
  });

  it.each([
    [-1n, undefined],
    [0n, CLAIM],
  ])('lasts for less than the horizon: %i', async (more, expected) => {
    const maxHorizonSecs = END_SECS - ISSUED_SECS - more;
    const configuration = { ...KNOWN.configuration, maxHorizonSecs };
    expect(await refusalOf({ known: { ...KNOWN, configuration } })).toBe(expected);
  });

  it('is refused with another end, or another blinder', async () => {
    expect(await refusalOf({ endSecs: END_SECS - 1n })).toBe(CLAIM);
    expect(await refusalOf({ blinder: Buffer.alloc(31) })).toBe(CLAIM);
    expect(await refusalOf({ blinder: Buffer.alloc(32) })).toBe('INVALID_SIGNATURE');
  });

  it('is refused with the signature of another key, or a damaged one', async () => {
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 });
    expect(await refusalOf({ key: other.privateKey })).toBe(RSA);
    const damage = (signature: Buffer): Buffer => {
      signature[100]! ^= 1;
      return signature;
    };
    expect(await refusalOf({ damage })).toBe(RSA);
    expect(await refusalOf({ damage: () => Buffer.alloc(0) })).toBe(RSA);
    const small = generateKeyPairSync('rsa', { modulusLength: 1024 });
    const keys = [{ id: HEADER.kid, modulus: modulusOf(small.publicKey) }];
    expect(await refusalOf({ key: small.privateKey, known: { ...KNOWN, keys } })).toBe(RSA);
  });

  it('is refused with another algorithm', async () => {
    const keys = [{ ...KNOWN.keys[0]!, algorithm: 'RS512' }];
    const header = JSON.stringify({ ...HEADER, alg: 'RS512' });
    expect(await refusalOf({ header, known: { ...KNOWN, keys } })).toBe(RSA);
  });
});
