/**
 * Signatures of keyless accounts (docs/spec/vm.md §9.1): real ones of mainnet, a published proof, locally created
 * tokens, and each of them with one change.
 */
import { generateKeyPairSync, sign } from 'node:crypto';
import { Groth16ProofAndStatement, Groth16Zkp } from '@aptos-labs/ts-sdk';
import { describe, expect, it } from 'vitest';
import { type KeylessProof, keylessProofs } from '../../src/execution/authentication/keyless.ts';
import {
  hashScalars,
  hashText,
  paddedScalars,
} from '../../src/execution/authentication/poseidon.ts';
import {
  signaturePairs,
  signatureState,
} from '../../src/execution/authentication/valid-signatures.ts';
import { BcsReader } from '../../src/move/bcs/bcs-reader.ts';
import type { KeylessSignature } from '../../src/move/crypto/public-key.ts';
import { Transaction } from '../../src/move/transactions/transaction.ts';
import {
  RawTransaction,
  type SignedTransaction,
} from '../../src/move/transactions/user-transaction.ts';
import { padAddress } from '../../src/move/types/address.ts';
import { recordedLines } from '../reference/reference-chain.ts';
import { type KnownState, keylessRefusal, MAINNET, worldOf } from './keyless-mainnet.ts';

const SINGLE = 'mainnet/976087151';
const MULTI = 'mainnet/1803170308';

function transactionOf(id: string): SignedTransaction {
  const lines = recordedLines<{ id?: string; bcs_transaction?: string }>(
    'vectors/transactions.jsonl',
  );
  const bytes = Buffer.from(lines.find((line) => line.id === id)!.bcs_transaction!, 'hex');
  const transaction = Transaction.read(new BcsReader(bytes));
  if (transaction.kind !== 'user') throw new Error(`${id} is not of a user`);
  return transaction.transaction;
}

const proofOf = (id: string): KeylessProof => keylessProofs(signaturePairs(transactionOf(id))!)[0]!;

type ZeroKnowledge = Extract<KeylessSignature['certificate'], { kind: 'zeroKnowledge' }>;

const refusal = async (proof: KeylessProof, known: KnownState = MAINNET) =>
  keylessRefusal([proof], worldOf(known));

async function expectRefused(
  proof: KeylessProof,
  known: KnownState,
  message: string | undefined,
  status = 'INVALID_SIGNATURE',
): Promise<void> {
  expect(await refusal(proof, known)).toEqual({ status, message });
}

/** A copy with the lowest bit of one byte flipped. */
function flipped(bytes: Buffer, at = 0): Buffer {
  const changed = Buffer.from(bytes);
  changed[at]! ^= 1;
  return changed;
}

describe('Poseidon', () => {
  it('has published values of circomlib, and of the reference', () => {
    expect(hashScalars([1n])).toBe(
      18586133768512220936620570745912940619677854269274689475585506675881198879027n,
    );
    expect(hashScalars([1n, 2n])).toBe(
      7853200120776062878684798364095072458815029376092732009249414926327459813530n,
    );
    expect(hashScalars([1n, 2n, 3n, 4n])).toBe(
      18821383157269793795438455681495246036402687001665670618754263018637548127333n,
    );
    expect(hashScalars(Array.from({ length: 16 }, (_, index) => BigInt(index + 1)))).toBe(
      9989051620750914585850546081941653841776809718687451684622678807385399211877n,
    );
    expect(hashText('google', 248)).toBe(
      4022319167392179362271493931675371567039199401695470709241660273812313544045n,
    );
  });

  it('hashes 1 to 16 scalars, and texts up to their size', () => {
    expect(() => hashScalars([])).toThrow('INVALID_SIGNATURE');
    expect(() => hashScalars(new Array(17).fill(0n))).toThrow('INVALID_SIGNATURE');
    expect(paddedScalars(Buffer.of(1, 2), 2)).toEqual([0x201n, 2n]);
    expect(() => paddedScalars(Buffer.of(1, 2), 1)).toThrow('INVALID_SIGNATURE');
    expect(paddedScalars(Buffer.alloc(0), 496)).toHaveLength(17);
    expect(() => paddedScalars(Buffer.alloc(0), 497)).toThrow('INVALID_SIGNATURE');
  });
});

describe('a real signature', () => {
  it.each([SINGLE, MULTI])('%s: ephemeral key and proof', async (id) => {
    const transaction = transactionOf(id);
    const raw = RawTransaction.encode(transaction.raw);
    expect(await signatureState(transaction, raw)).toBe('valid');
    expect(await signatureState(transaction, flipped(raw))).toBe('invalid');
    expect(await refusal(proofOf(id))).toBeUndefined();
  });

  const real = proofOf(SINGLE);
  const certificate = real.signature.certificate as ZeroKnowledge;
  const failed = 'Proof verification failed';
  const withSignature = (changes: Partial<KeylessSignature>): KeylessProof => ({
    ...real,
    signature: { ...real.signature, ...changes },
  });
  const withCertificate = (changes: Partial<ZeroKnowledge>): KeylessProof =>
    withSignature({ certificate: { ...certificate, ...changes } });

  it.each(['a', 'b', 'c'] as const)('is refused with another point %s', async (point) => {
    const { proof } = certificate;
    const changed = { ...proof, [point]: flipped(proof[point]) };
    await expectRefused(withCertificate({ proof: changed }), MAINNET, failed);
    const negated = Buffer.from(proof[point]);
    negated[negated.length - 1]! ^= 0x80;
    await expectRefused(
      withCertificate({ proof: { ...proof, [point]: negated } }),
      MAINNET,
      failed,
    );
  });

  it.each<readonly [string, KeylessProof]>([
    ['user', { ...real, key: { ...real.key, identityCommitment: Buffer.alloc(32) } }],
    ['end', withSignature({ expirationSecs: real.signature.expirationSecs + 1n })],
    ['horizon', withCertificate({ expirationHorizonSecs: 9_999_999n })],
    ['field', withCertificate({ extraField: '"a":"b",' })],
    [
      'ephemeral key',
      withSignature({ ephemeralPublicKey: { kind: 'ed25519', bytes: Buffer.alloc(32) } }),
    ],
    ['header', withSignature({ jwtHeaderJson: `${real.signature.jwtHeaderJson} ` })],
  ])('is refused with another %s', async (_, proof) => {
    await expectRefused(proof, MAINNET, failed);
  });

  it('is refused with what the chain does not allow', async () => {
    const audience = withCertificate({ overrideAudience: 'other' });
    await expectRefused(
      audience,
      MAINNET,
      'override aud is not allow-listed in 0x1::keyless_account',
    );
    const allowed = { ...MAINNET.configuration, overrideAudiences: ['other'] };
    await expectRefused(audience, { ...MAINNET, configuration: allowed }, failed);
    const horizon = { ...MAINNET.configuration, maxHorizonSecs: 9_999_999n };
    const tooLong = 'The expiration horizon is too long';
    await expectRefused(real, { ...MAINNET, configuration: horizon }, tooLong);
    const none = { ...MAINNET.configuration, maxSignatures: 0 };
    const tooMany = 'Too many keyless authenticators';
    await expectRefused(real, { ...MAINNET, configuration: none }, tooMany);
    const noKey = 'Groth16 VK has not been set on-chain';
    await expectRefused(real, { ...MAINNET, verificationKey: undefined }, noKey);
    const halfKey = MAINNET.verificationKey!.slice(0, 5);
    await expectRefused(real, { ...MAINNET, verificationKey: halfKey }, noKey);
    const long = withCertificate({ extraField: 'x'.repeat(351) });
    await expectRefused(long, MAINNET, undefined);
  });

  it('ends when it says', async () => {
    const { expirationSecs } = real.signature;
    const expired = 'The ephemeral keypair has expired';
    expect(await refusal(real, { ...MAINNET, nowSecs: expirationSecs })).toBeUndefined();
    await expectRefused(real, { ...MAINNET, nowSecs: expirationSecs + 1n }, expired);
    const never = withSignature({ expirationSecs: 1n << 63n });
    await expectRefused(never, MAINNET, expired);
  });

  it('needs the key of the issuer that its header names', async () => {
    const { id } = MAINNET.keys[0]!;
    const missing = `JWK for ${MAINNET.issuer} with KID ${id} was not found`;
    await expectRefused(real, { ...MAINNET, issuer: 'other' }, missing);
    await expectRefused(real, { ...MAINNET, keys: MAINNET.keys.slice(1) }, missing);
    const other = MAINNET.keys.map((key) => ({ ...key, modulus: MAINNET.keys[1]!.modulus }));
    await expectRefused(real, { ...MAINNET, keys: other }, failed);
    const short = MAINNET.keys.map((key) => ({ ...key, modulus: 'AQAB' }));
    const uncomputable = 'Could not compute public inputs hash';
    await expectRefused(real, { ...MAINNET, keys: short }, uncomputable);
    const algorithm = MAINNET.keys.map((key) => ({ ...key, algorithm: 'RS512' }));
    const mismatch = "JWK alg (RS512) does not match JWT header's alg (RS256)";
    await expectRefused(real, { ...MAINNET, keys: algorithm }, mismatch);
    for (const jwtHeaderJson of ['', '[]', '{"kid":1,"alg":"RS256"}', '{"kid":"a"}']) {
      const proof = withSignature({ jwtHeaderJson });
      await expectRefused(proof, MAINNET, 'Failed to parse JWT header');
    }
  });

  it('of a federated account finds the key where that says', async () => {
    const publisher = padAddress('77');
    const federated = { ...real, publisher };
    expect(await refusal(federated)).toBeUndefined();
    expect(await refusal(federated, { ...MAINNET, publisher })).toBeUndefined();
    const missing = `JWK for ${MAINNET.issuer} with KID ${MAINNET.keys[0]!.id} was not found`;
    await expectRefused(real, { ...MAINNET, publisher }, missing);
    await expectRefused(federated, { ...MAINNET, publisher: padAddress('78') }, missing);
  });

  it('needs the features', async () => {
    const gated = async (proof: KeylessProof, flag: number) => {
      const known = { ...MAINNET, disabledFlags: [flag] };
      await expectRefused(proof, known, undefined, 'FEATURE_UNDER_GATING');
    };
    await gated(real, 46);
    await gated({ ...real, publisher: padAddress('77') }, 77);
    const assertion = {
      signature: Buffer.alloc(64),
      authenticatorData: Buffer.alloc(0),
      clientDataJson: Buffer.alloc(0),
    };
    await gated(withSignature({ ephemeralSignature: { kind: 'webAuthn', assertion } }), 54);
    expect(await refusal(real, { ...MAINNET, disabledFlags: [47, 54, 77] })).toBeUndefined();
  });

  it('has training wheels where the chain wants them', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const trainingWheelsKey = Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url');
    const known = {
      ...MAINNET,
      configuration: { ...MAINNET.configuration, trainingWheelsKey },
    };
    const wrong = 'Could not verify training wheels signature';
    await expectRefused(real, known, wrong);
    const without = withCertificate({ trainingWheelsSignature: undefined });
    const missing = 'Training wheels signature expected but it is missing';
    await expectRefused(without, known, missing);
    // The hash of the public inputs, which the SDK also computes.
    const input = 121027368808281216387253388926250905555104160651206479089851286839936544947n;
    const { a, b, c } = certificate.proof;
    const signed = new Groth16ProofAndStatement(new Groth16Zkp({ a, b, c }), input).hash();
    const bytes = sign(null, signed, privateKey);
    const trained = withCertificate({ trainingWheelsSignature: { kind: 'ed25519', bytes } });
    expect(await refusal(trained, known)).toBeUndefined();
    const damaged = { kind: 'ed25519', bytes: flipped(bytes) } as const;
    await expectRefused(withCertificate({ trainingWheelsSignature: damaged }), known, wrong);
    const noPoint = { ...known.configuration, trainingWheelsKey: Buffer.alloc(32, 2) };
    const invalidKey = 'The training wheels PK set on chain is not a valid PK';
    await expectRefused(trained, { ...known, configuration: noPoint }, invalidKey);
  });
});

/** A proof that the reference's source publishes as a sample (types/src/keyless/circuit_testcases.rs). */
describe('a published proof', () => {
  const issuer = 'test.oidc.provider';
  const keys = [
    {
      id: 'test-rsa',
      modulus:
        '6S7asUuzq5Q_3U9rbs-PkDVIdjgmtgWreG5qWPsC9xXZKiMV1AiV9LXyqQsAYpCqEDM3XbfmZqGb48yLhb_X' +
        'qZaKgSYaC_h2DjM7lgrIQAp9902Rr8fUmLN2ivr5tnLxUUOnMOc2SQtr9dgzTONYW5Zu3PwyvAWk5D6ueIUh' +
        'LtYzpcB-etoNdL3Ir2746KIy_VUsDwAM7dhrqSK8U2xFCGlau4ikOTtvzDownAMHMrfE7q1B6WZQDAQlBmxR' +
        'QsyKln5DIsKv6xauNsHRgBAKctUxZG8M4QJIx3S6Aughd3RZC4Ca5Ae9fd8L8mlNYBCrQhOZ7dS0f4at4arl' +
        'Lcajtw',
    },
  ];
  const known: KnownState = {
    ...MAINNET,
    issuer,
    keys,
    configuration: { ...MAINNET.configuration, maxHorizonSecs: 999_999_999_999n },
  };
  const hex = (text: string): Buffer => Buffer.from(text, 'hex');
  const certificate: ZeroKnowledge = {
    kind: 'zeroKnowledge',
    proof: {
      a: hex('3304cc0defd488d770af0439480ec24c8473b30dbcbfad9fdf99ca62256bd908'),
      b: hex(
        '2f432b9459375ed2032bcb1ff3ccc1dd5d05a752d6956d2bb003f4e3b42d0b24' +
          '2cf4ab4d3dc8dc700ede17bbfeaddedd42033691e3d85ff8d6621663cb2e779a',
      ),
      c: hex('d44ee2772f4b48fdb0dbd8d870d3fb4401cd3a28fbdde535e9c57bac9a263f9c'),
    },
    expirationHorizonSecs: 999_999_999_999n,
    extraField: '"family_name":"Straka",',
    overrideAudience: undefined,
    trainingWheelsSignature: undefined,
  };
  const proofWith = (extraField: string | undefined): KeylessProof => ({
    key: {
      issuer,
      identityCommitment: hex('c390842e61c06e1ec945fc8504ad0830652ec1b6fc7bb0a095026be7551e001d'),
    },
    publisher: undefined,
    signature: {
      certificate: { ...certificate, extraField },
      jwtHeaderJson: '{"alg":"RS256","typ":"JWT","kid":"test-rsa"}',
      expirationSecs: 111_111_111_111n,
      ephemeralPublicKey: {
        kind: 'ed25519',
        bytes: hex('20fdbac9b10b7587bba7b5bc163bce69e796d71e4ed44c10fcb4488689f7a144'),
      },
      ephemeralSignature: { kind: 'ed25519', bytes: Buffer.alloc(64) },
    },
  });

  it('shows a field of the token', async () => {
    expect(await refusal(proofWith(certificate.extraField), known)).toBeUndefined();
    const failed = 'Proof verification failed';
    await expectRefused(proofWith('"family_name":"Other",'), known, failed);
    await expectRefused(proofWith(undefined), known, failed);
  });
});
