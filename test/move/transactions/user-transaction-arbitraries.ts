/** Random user transactions and their parts, for property tests. */

import fc, { type Arbitrary } from 'fast-check';
import type {
  AccountAuthenticator,
  TransactionAuthenticator,
} from '../../../src/move/crypto/authenticator.ts';
import {
  type AnyPublicKey,
  type AnySignature,
  type KeylessSignature,
  PUBLIC_KEY_BYTES,
  SIGNATURE_BYTES,
} from '../../../src/move/crypto/public-key.ts';
import type {
  EntryFunction,
  Executable,
  ExtraConfig,
  Script,
} from '../../../src/move/transactions/executable.ts';
import type {
  EncryptedPayload,
  TransactionPayload,
} from '../../../src/move/transactions/payload.ts';
import type { TransactionArgument } from '../../../src/move/transactions/transaction-argument.ts';
import type { SignedTransaction } from '../../../src/move/transactions/user-transaction.ts';
import {
  address,
  bytes,
  bytesOf,
  hash,
  kind,
  list,
  moduleId,
  name,
  option,
  signed,
  typeTag,
  u64,
  unsigned,
} from '../values/scalar-arbitraries.ts';
import { CIPHERTEXT_POINTS, ciphertextBytes } from './wire-bytes.ts';

const smallNumber = (
  of: 'u8' | 'u16' | 'u32' | 'i8' | 'i16' | 'i32',
): Arbitrary<TransactionArgument> => {
  const bits = Number(of.slice(1));
  const [min, max] = of.startsWith('u')
    ? [0, 2 ** bits - 1]
    : [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1];
  return fc.record({ kind: fc.constant(of), value: fc.integer({ min, max }) });
};
const bigNumber = (
  of: 'u64' | 'u128' | 'u256' | 'i64' | 'i128' | 'i256',
): Arbitrary<TransactionArgument> => {
  const bits = BigInt(of.slice(1));
  return fc.record({
    kind: fc.constant(of),
    value: of.startsWith('u') ? unsigned(bits) : signed(bits),
  });
};
export const transactionArgument: Arbitrary<TransactionArgument> = fc.oneof(
  ...(['u8', 'u16', 'u32', 'i8', 'i16', 'i32'] as const).map(smallNumber),
  ...(['u64', 'u128', 'u256', 'i64', 'i128', 'i256'] as const).map(bigNumber),
  fc.record({ kind: kind('address'), value: address }),
  fc.record({ kind: kind('bool'), value: fc.boolean() }),
  fc.record({ kind: fc.constantFrom('u8Vector', 'serialized'), value: bytes }),
);

const entryFunction: Arbitrary<EntryFunction> = fc.record({
  kind: kind('entryFunction'),
  module: moduleId,
  function: name,
  typeArguments: list(typeTag),
  args: list(bytes),
});
export const script: Arbitrary<Script> = fc.record({
  kind: kind('script'),
  code: bytes,
  typeArguments: list(typeTag),
  args: list(transactionArgument),
});
const executable: Arbitrary<Executable> = fc.oneof(
  entryFunction,
  script,
  fc.record({ kind: kind('empty') }),
  fc.record({ kind: kind('encrypted') }),
);

const multipliers = fc.record({ executionPercent: u64, ioPercent: u64 });
const limitsRequest = fc.oneof(
  fc.record({ kind: kind('stakePoolOwner'), multipliers }),
  fc.record({
    kind: fc.constantFrom('delegatedVoter', 'delegationPoolDelegator'),
    poolAddress: address,
    multipliers,
  }),
);
const extraConfig: Arbitrary<ExtraConfig> = fc.oneof(
  fc.record({
    kind: kind('v1'),
    multisigAddress: option(address),
    replayProtectionNonce: option(u64),
  }),
  fc.record({
    kind: kind('v2'),
    multisigAddress: option(address),
    replayProtectionNonce: option(u64),
    limitsRequest: option(limitsRequest),
  }),
);

const encryptedContent = fc.record({
  ciphertext: fc
    .record({
      points: fc.oneof(
        fc.constant(CIPHERTEXT_POINTS),
        fc.record({ verificationKey: hash, identity: hash, groupElements: bytesOf(288) }),
      ),
      paddedKey: bytesOf(16),
      nonce: bytesOf(12),
      body: bytes,
      associatedData: bytes,
      signature: bytesOf(64),
    })
    .map(({ points, ...rest }) => ciphertextBytes({ ...points, ...rest })),
  extraConfig,
  payloadHash: hash,
  encryptionEpoch: u64,
  claimedEntryFunction: option(fc.record({ module: moduleId, function: option(name) })),
});
const encryptedPayload: Arbitrary<EncryptedPayload> = fc.oneof(
  fc.record({ state: kind('encrypted'), content: encryptedContent }),
  fc.record({
    state: kind('failedDecryption'),
    content: encryptedContent,
    evalProof: option(bytes),
    reason: fc.nat(9),
  }),
  fc.record({
    state: kind('decrypted'),
    content: encryptedContent,
    evalProof: bytes,
    executable,
    decryptionNonce: bytesOf(16),
  }),
);

export const payload: Arbitrary<TransactionPayload> = fc.oneof(
  entryFunction,
  script,
  fc.record({ kind: kind('moduleBundle'), dummy: u64 }),
  fc.record({
    kind: kind('multisig'),
    multisigAddress: address,
    payload: option(fc.oneof(entryFunction, script)),
  }),
  fc.record({ kind: kind('payload'), executable, extraConfig }),
  fc.record({ kind: kind('encrypted'), payload: encryptedPayload }),
);

const assertion = fc.record({
  signature: bytesOf(64),
  authenticatorData: bytes,
  clientDataJson: bytes,
});
const ephemeralSignature = fc.oneof(
  fc.record({ kind: kind('ed25519'), bytes: bytesOf(64) }),
  fc.record({ kind: kind('webAuthn'), assertion }),
);
const keylessSignature: Arbitrary<KeylessSignature> = fc.record({
  certificate: fc.oneof(
    fc.record({
      kind: kind('zeroKnowledge'),
      proof: fc.record({ a: hash, b: bytesOf(64), c: hash }),
      expirationHorizonSecs: u64,
      extraField: option(name),
      overrideAudience: option(name),
      trainingWheelsSignature: option(ephemeralSignature),
    }),
    fc.record({
      kind: kind('openId'),
      jwtSignature: bytes,
      jwtPayloadJson: name,
      uidKey: name,
      ephemeralKeyBlinder: bytes,
      pepper: bytesOf(31),
      identityAudience: option(name),
    }),
  ),
  jwtHeaderJson: name,
  expirationSecs: u64,
  ephemeralPublicKey: fc.oneof(
    fc.record({ kind: kind('ed25519'), bytes: hash }),
    fc.record({ kind: kind('secp256r1'), bytes: bytesOf(65) }),
  ),
  ephemeralSignature,
});
const keylessKey = { issuer: name, identityCommitment: bytes };
const anyPublicKey: Arbitrary<AnyPublicKey> = fc.oneof(
  ...(['ed25519', 'secp256k1', 'secp256r1', 'slhDsa'] as const).map((scheme) =>
    fc.record({ kind: fc.constant(scheme), bytes: bytesOf(PUBLIC_KEY_BYTES[scheme]) }),
  ),
  fc.record({ kind: kind('keyless'), key: fc.record(keylessKey) }),
  fc.record({
    kind: kind('federatedKeyless'),
    key: fc.record({ jwkAddress: address, ...keylessKey }),
  }),
);
const anySignature: Arbitrary<AnySignature> = fc.oneof(
  ...(['ed25519', 'secp256k1', 'slhDsa'] as const).map((scheme) =>
    fc.record({ kind: fc.constant(scheme), bytes: bytesOf(SIGNATURE_BYTES[scheme]) }),
  ),
  fc.record({ kind: kind('webAuthn'), assertion }),
  fc.record({ kind: kind('keyless'), signature: keylessSignature }),
);

const ed25519 = fc.record({ kind: kind('ed25519'), publicKey: hash, signature: bytesOf(64) });
const multiEd25519 = fc
  .record({
    keys: fc.array(hash, { minLength: 1, maxLength: 4 }),
    threshold: fc.nat(),
    signatures: fc.array(bytesOf(64), { minLength: 1, maxLength: 4 }),
    shift: fc.nat(28),
  })
  .map(({ keys, threshold, signatures, shift }) => {
    const bitmap = Buffer.alloc(4);
    bitmap.writeUInt32BE((((1 << signatures.length) - 1) << shift) >>> 0);
    return {
      kind: 'multiEd25519' as const,
      publicKey: { keys, threshold: 1 + (threshold % keys.length) },
      signature: { signatures, bitmap },
    };
  });
export const accountAuthenticator: Arbitrary<AccountAuthenticator> = fc.oneof(
  ed25519,
  multiEd25519,
  fc.record({ kind: kind('singleKey'), publicKey: anyPublicKey, signature: anySignature }),
  fc.record({
    kind: kind('multiKey'),
    publicKeys: list(anyPublicKey),
    signaturesRequired: fc.nat(255),
    signatures: list(anySignature),
    bitmap: bytes,
  }),
  fc.record({ kind: kind('noAccount') }),
  fc.record({
    kind: kind('abstract'),
    moduleAddress: address,
    moduleName: name,
    functionName: name,
    data: fc.oneof(
      fc.record({ kind: kind('v1'), signingMessageDigest: bytes, signature: bytes }),
      fc.record({
        kind: kind('derivableV1'),
        signingMessageDigest: bytes,
        signature: bytes,
        publicKey: bytes,
      }),
    ),
  }),
);
const signers = {
  sender: accountAuthenticator,
  secondarySignerAddresses: list(address),
  secondarySigners: list(accountAuthenticator),
};
export const transactionAuthenticator: Arbitrary<TransactionAuthenticator> = fc.oneof(
  ed25519,
  multiEd25519,
  fc.record({ kind: kind('multiAgent'), ...signers }),
  fc.record({
    kind: kind('feePayer'),
    ...signers,
    feePayerAddress: address,
    feePayer: accountAuthenticator,
  }),
  fc.record({ kind: kind('singleSender'), sender: accountAuthenticator }),
);
export const signedTransaction: Arbitrary<SignedTransaction> = fc.record({
  raw: fc.record({
    sender: address,
    sequenceNumber: u64,
    payload,
    maxGasAmount: u64,
    gasUnitPrice: u64,
    expirationTimestampSecs: u64,
    chainId: fc.nat(255),
  }),
  authenticator: transactionAuthenticator,
});
