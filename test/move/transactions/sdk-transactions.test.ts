/** Signed transactions from an independent source (@aptos-labs/ts-sdk 6.3.1), decoded and encoded again. */
import {
  AccountAddress,
  type AccountAuthenticator,
  AccountAuthenticatorAbstraction,
  AccountAuthenticatorEd25519,
  AccountAuthenticatorMultiEd25519,
  AccountAuthenticatorMultiKey,
  AccountAuthenticatorNoAccountAuthenticator,
  AccountAuthenticatorSingleKey,
  AnyPublicKey,
  AnySignature,
  Bool,
  ChainId,
  Ed25519PrivateKey,
  EntryFunction,
  EphemeralCertificate,
  EphemeralCertificateVariant,
  EphemeralPublicKey,
  EphemeralSignature,
  FederatedKeylessPublicKey,
  Groth16Zkp,
  I8,
  I16,
  I32,
  I64,
  I128,
  I256,
  KeylessPublicKey,
  KeylessSignature,
  MoveVector,
  MultiEd25519PublicKey,
  MultiEd25519Signature,
  MultiKey,
  MultiKeySignature,
  MultiSig,
  MultiSigTransactionPayload,
  parseTypeTag,
  RawTransaction,
  Script,
  SignedTransaction as SdkSignedTransaction,
  Secp256k1PrivateKey,
  Secp256r1PrivateKey,
  Serialized,
  type TransactionAuthenticator,
  TransactionAuthenticatorEd25519,
  TransactionAuthenticatorFeePayer,
  TransactionAuthenticatorMultiAgent,
  TransactionAuthenticatorMultiEd25519,
  TransactionAuthenticatorSingleSender,
  TransactionExecutableEmpty,
  TransactionExecutableEntryFunction,
  TransactionExecutableScript,
  TransactionExtraConfigV1,
  TransactionInnerPayloadV1,
  type TransactionPayload,
  TransactionPayloadEntryFunction,
  TransactionPayloadMultiSig,
  TransactionPayloadScript,
  U8,
  U16,
  U32,
  U64,
  U128,
  U256,
  WebAuthnSignature,
  ZeroKnowledgeSig,
  ZkProof,
  ZkpVariant,
} from '@aptos-labs/ts-sdk';
import { describe, expect, test } from 'vitest';
import { SignedTransaction } from '../../../src/move/transactions/user-transaction.ts';
import { formatTypeTag } from '../../../src/move/types/type-tag.ts';

const SENDER = AccountAddress.from(`0x${'5e'.repeat(32)}`);
const OTHER = AccountAddress.from(`0x${'07'.repeat(32)}`);
const MESSAGE = new Uint8Array([1, 2, 3]);

const ed25519Keys = [1, 2, 3].map((byte) => new Ed25519PrivateKey(new Uint8Array(32).fill(byte)));
const [edKey] = ed25519Keys as [Ed25519PrivateKey];
const k1Key = new Secp256k1PrivateKey(new Uint8Array(32).fill(4));
const r1Key = new Secp256r1PrivateKey(new Uint8Array(32).fill(5));

const transfer = EntryFunction.build(
  '0x1::coin',
  'transfer',
  [parseTypeTag('0x1::aptos_coin::AptosCoin'), parseTypeTag('vector<u8>')],
  [OTHER, new U64(2n ** 64n - 1n)],
);
const script = new Script(
  new Uint8Array([0xa1, 0x1c, 0xeb, 0x0b]),
  [parseTypeTag('u256')],
  [
    new U8(8),
    new U16(16),
    new U32(32),
    new U64(64n),
    new U128(2n ** 128n - 1n),
    new U256(2n ** 256n - 1n),
    new I8(-8),
    new I16(-16),
    new I32(-32),
    new I64(-64n),
    new I128(-(2n ** 127n)),
    new I256(-(2n ** 255n)),
    new Bool(true),
    OTHER,
    MoveVector.U8([9, 8, 7]),
    new Serialized(new Uint8Array([1])),
  ],
);

function rawOf(payload: TransactionPayload, sequenceNumber = 7n): RawTransaction {
  return new RawTransaction(
    SENDER,
    sequenceNumber,
    payload,
    1000n,
    100n,
    1_900_000_000n,
    new ChainId(4),
  );
}

/** Decodes the SDK's bytes, asserts that they encode to the same bytes, and returns the value. */
function throughUs(
  raw: RawTransaction,
  authenticator: TransactionAuthenticator,
): SignedTransaction {
  const bytes = Buffer.from(new SdkSignedTransaction(raw, authenticator).bcsToBytes());
  const decoded = SignedTransaction.decode(bytes);
  expect(SignedTransaction.encode(decoded).toString('hex')).toBe(bytes.toString('hex'));
  return decoded;
}

const edAuthenticator = new TransactionAuthenticatorEd25519(edKey.publicKey(), edKey.sign(MESSAGE));
const edAccount = new AccountAuthenticatorEd25519(edKey.publicKey(), edKey.sign(MESSAGE));

describe('payloads', () => {
  const throughPayload = (payload: TransactionPayload) =>
    throughUs(rawOf(payload), edAuthenticator).raw.payload;

  test('entry function, and the fields around it', () => {
    const { raw } = throughUs(
      rawOf(new TransactionPayloadEntryFunction(transfer)),
      edAuthenticator,
    );
    expect(raw).toMatchObject({
      sender: '5e'.repeat(32),
      sequenceNumber: 7n,
      maxGasAmount: 1000n,
      gasUnitPrice: 100n,
      expirationTimestampSecs: 1_900_000_000n,
      chainId: 4,
    });
    if (raw.payload.kind !== 'entryFunction') throw new Error(raw.payload.kind);
    expect(raw.payload.module).toEqual({ address: '1'.padStart(64, '0'), name: 'coin' });
    expect(raw.payload.function).toBe('transfer');
    expect(raw.payload.typeArguments.map(formatTypeTag)).toEqual([
      '0x1::aptos_coin::AptosCoin',
      'vector<u8>',
    ]);
    expect(raw.payload.args.map((argument) => argument.toString('hex'))).toEqual([
      '07'.repeat(32),
      'ff'.repeat(8),
    ]);
  });

  test('script with every kind of argument', () => {
    const payload = throughPayload(new TransactionPayloadScript(script));
    if (payload.kind !== 'script') throw new Error(payload.kind);
    expect(payload.args).toEqual([
      { kind: 'u8', value: 8 },
      { kind: 'u16', value: 16 },
      { kind: 'u32', value: 32 },
      { kind: 'u64', value: 64n },
      { kind: 'u128', value: 2n ** 128n - 1n },
      { kind: 'u256', value: 2n ** 256n - 1n },
      { kind: 'i8', value: -8 },
      { kind: 'i16', value: -16 },
      { kind: 'i32', value: -32 },
      { kind: 'i64', value: -64n },
      { kind: 'i128', value: -(2n ** 127n) },
      { kind: 'i256', value: -(2n ** 255n) },
      { kind: 'bool', value: true },
      { kind: 'address', value: '07'.repeat(32) },
      { kind: 'u8Vector', value: Buffer.from([9, 8, 7]) },
      { kind: 'serialized', value: Buffer.from([1]) },
    ]);
  });

  test('multisig with and without a payload', () => {
    const stored = throughPayload(new TransactionPayloadMultiSig(new MultiSig(OTHER)));
    expect(stored).toEqual({
      kind: 'multisig',
      multisigAddress: '07'.repeat(32),
      payload: undefined,
    });
    const given = new MultiSig(OTHER, new MultiSigTransactionPayload(transfer));
    expect(throughPayload(new TransactionPayloadMultiSig(given))).toMatchObject({
      kind: 'multisig',
      payload: { kind: 'entryFunction', function: 'transfer' },
    });
  });

  test.each([
    ['script', new TransactionExecutableScript(script)],
    ['entryFunction', new TransactionExecutableEntryFunction(transfer)],
    ['empty', new TransactionExecutableEmpty()],
  ] as const)('with extra configuration: %s', (kind, executable) => {
    const config = new TransactionExtraConfigV1(OTHER, 2n ** 64n - 1n);
    expect(throughPayload(new TransactionInnerPayloadV1(executable, config))).toMatchObject({
      kind: 'payload',
      executable: { kind },
      extraConfig: {
        kind: 'v1',
        multisigAddress: '07'.repeat(32),
        replayProtectionNonce: 2n ** 64n - 1n,
      },
    });
    const bare = new TransactionExtraConfigV1();
    expect(throughPayload(new TransactionInnerPayloadV1(executable, bare))).toMatchObject({
      extraConfig: { multisigAddress: undefined, replayProtectionNonce: undefined },
    });
  });
});

const payload = new TransactionPayloadEntryFunction(transfer);
const throughAuthenticator = (authenticator: TransactionAuthenticator) =>
  throughUs(rawOf(payload), authenticator).authenticator;
const throughAccount = (authenticator: AccountAuthenticator) => {
  const outer = throughAuthenticator(new TransactionAuthenticatorSingleSender(authenticator));
  if (outer.kind !== 'singleSender') throw new Error(outer.kind);
  return outer.sender;
};

const multiEdKey = new MultiEd25519PublicKey({
  publicKeys: ed25519Keys.map((key) => key.publicKey()),
  threshold: 2,
});
const multiEdSignature = new MultiEd25519Signature({
  signatures: [0, 2].map((index) => ed25519Keys[index]!.sign(MESSAGE)),
  bitmap: [0, 2],
});
const multiEdAccount = new AccountAuthenticatorMultiEd25519(multiEdKey, multiEdSignature);

describe('transaction authenticators', () => {
  test('Ed25519', () => {
    const decoded = throughAuthenticator(edAuthenticator);
    expect(decoded).toMatchObject({ kind: 'ed25519' });
    if (decoded.kind !== 'ed25519') throw new Error(decoded.kind);
    expect([...decoded.publicKey]).toEqual([...edKey.publicKey().toUint8Array()]);
    expect([...decoded.signature]).toEqual([...edKey.sign(MESSAGE).toUint8Array()]);
  });

  test('MultiEd25519', () => {
    const outer = throughAuthenticator(
      new TransactionAuthenticatorMultiEd25519(multiEdKey, multiEdSignature),
    );
    if (outer.kind !== 'multiEd25519') throw new Error(outer.kind);
    expect(outer.publicKey.threshold).toBe(2);
    expect(outer.publicKey.keys).toHaveLength(3);
    expect(outer.signature.signatures).toHaveLength(2);
    expect(outer.signature.bitmap.toString('hex')).toBe('a0000000');
  });

  test('multi-agent', () => {
    const none = new AccountAuthenticatorNoAccountAuthenticator();
    const decoded = throughAuthenticator(
      new TransactionAuthenticatorMultiAgent(edAccount, [OTHER, SENDER], [multiEdAccount, none]),
    );
    expect(decoded).toMatchObject({
      kind: 'multiAgent',
      sender: { kind: 'ed25519' },
      secondarySignerAddresses: ['07'.repeat(32), '5e'.repeat(32)],
      secondarySigners: [{ kind: 'multiEd25519' }, { kind: 'noAccount' }],
    });
  });

  test('fee payer', () => {
    const decoded = throughAuthenticator(
      new TransactionAuthenticatorFeePayer(edAccount, [OTHER], [edAccount], {
        address: SENDER,
        authenticator: multiEdAccount,
      }),
    );
    expect(decoded).toMatchObject({
      kind: 'feePayer',
      secondarySignerAddresses: ['07'.repeat(32)],
      feePayerAddress: '5e'.repeat(32),
      feePayer: { kind: 'multiEd25519' },
    });
  });
});

const ephemeral = new EphemeralSignature(edKey.sign(MESSAGE));
const keylessSignature = (extra: { extraField?: string; overrideAudVal?: string }) =>
  new KeylessSignature({
    jwtHeader: '{"alg":"RS256"}',
    ephemeralCertificate: new EphemeralCertificate(
      new ZeroKnowledgeSig({
        proof: new ZkProof(
          new Groth16Zkp({
            a: new Uint8Array(32).fill(0xa),
            b: new Uint8Array(64).fill(0xb),
            c: new Uint8Array(32).fill(0xc),
          }),
          ZkpVariant.Groth16,
        ),
        expHorizonSecs: 10_000_000,
        trainingWheelsSignature: ephemeral,
        ...extra,
      }),
      EphemeralCertificateVariant.ZkProof,
    ),
    expiryDateSecs: 1_900_000_000,
    ephemeralPublicKey: new EphemeralPublicKey(edKey.publicKey()),
    ephemeralSignature: ephemeral,
  });
const keylessKey = new KeylessPublicKey('https://issuer.example', new Uint8Array(32).fill(0x1d));
const federatedKey = new FederatedKeylessPublicKey(OTHER, keylessKey);

describe('account authenticators', () => {
  test.each([
    ['ed25519', edKey.publicKey(), edKey.sign(MESSAGE), 'ed25519'],
    ['secp256k1', k1Key.publicKey(), k1Key.sign(MESSAGE), 'secp256k1'],
    [
      'secp256r1',
      r1Key.publicKey(),
      new WebAuthnSignature(new Uint8Array(64).fill(6), new Uint8Array(37), MESSAGE),
      'webAuthn',
    ],
    ['keyless', keylessKey, keylessSignature({}), 'keyless'],
    ['federatedKeyless', federatedKey, keylessSignature({ extraField: 'x' }), 'keyless'],
  ] as const)('single key: %s', (keyKind, key, signature, signatureKind) => {
    const decoded = throughAccount(
      new AccountAuthenticatorSingleKey(new AnyPublicKey(key), new AnySignature(signature)),
    );
    expect(decoded).toMatchObject({
      kind: 'singleKey',
      publicKey: { kind: keyKind },
      signature: { kind: signatureKind },
    });
  });

  test('keyless, in its parts', () => {
    const decoded = throughAccount(
      new AccountAuthenticatorSingleKey(
        new AnyPublicKey(federatedKey),
        new AnySignature(keylessSignature({ extraField: '"hd":"x"', overrideAudVal: 'aud' })),
      ),
    );
    if (decoded.kind !== 'singleKey') throw new Error(decoded.kind);
    expect(decoded.publicKey).toEqual({
      kind: 'federatedKeyless',
      key: {
        jwkAddress: '07'.repeat(32),
        issuer: 'https://issuer.example',
        identityCommitment: Buffer.alloc(32, 0x1d),
      },
    });
    expect(decoded.signature).toMatchObject({
      kind: 'keyless',
      signature: {
        certificate: {
          kind: 'zeroKnowledge',
          proof: { a: Buffer.alloc(32, 0xa), b: Buffer.alloc(64, 0xb), c: Buffer.alloc(32, 0xc) },
          expirationHorizonSecs: 10_000_000n,
          extraField: '"hd":"x"',
          overrideAudience: 'aud',
          trainingWheelsSignature: { kind: 'ed25519' },
        },
        jwtHeaderJson: '{"alg":"RS256"}',
        expirationSecs: 1_900_000_000n,
        ephemeralPublicKey: { kind: 'ed25519' },
        ephemeralSignature: { kind: 'ed25519' },
      },
    });
  });

  test('multi-key', () => {
    const key = new MultiKey({
      publicKeys: [edKey.publicKey(), k1Key.publicKey(), keylessKey],
      signaturesRequired: 2,
    });
    const signature = new MultiKeySignature({
      signatures: [k1Key.sign(MESSAGE), keylessSignature({})],
      bitmap: key.createBitmap({ bits: [1, 2] }),
    });
    const decoded = throughAccount(new AccountAuthenticatorMultiKey(key, signature));
    expect(decoded).toMatchObject({
      kind: 'multiKey',
      publicKeys: [{ kind: 'ed25519' }, { kind: 'secp256k1' }, { kind: 'keyless' }],
      signaturesRequired: 2,
      signatures: [{ kind: 'secp256k1' }, { kind: 'keyless' }],
      bitmap: Buffer.from([0x60, 0, 0, 0]),
    });
  });

  test('abstract: both forms', () => {
    const digest = new Uint8Array(32).fill(0xdd);
    const derivable = new AccountAuthenticatorAbstraction(
      '0x7::solana::authenticate',
      digest,
      new Uint8Array([1, 2]),
      new Uint8Array([3]),
    );
    expect(throughAccount(derivable)).toMatchObject({
      kind: 'abstract',
      moduleName: 'solana',
      functionName: 'authenticate',
      data: {
        kind: 'derivableV1',
        signingMessageDigest: Buffer.alloc(32, 0xdd),
        signature: Buffer.from([1, 2]),
        publicKey: Buffer.from([3]),
      },
    });
    // The SDK writes the signature of the first form without its length, which the caller has to add.
    const plain = new AccountAuthenticatorAbstraction(
      '0x7::any::authenticate',
      digest,
      new Uint8Array([2, 0xaa, 0xbb]),
    );
    expect(throughAccount(plain)).toMatchObject({
      data: { kind: 'v1', signature: Buffer.from([0xaa, 0xbb]) },
    });
  });
});
