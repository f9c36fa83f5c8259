/** Random values of the ledger's wire types, for property tests. */
import fc, { type Arbitrary } from 'fast-check';
import type { AggregateSignature } from '../../src/move/aggregate-signature.ts';
import {
  type AnyPublicKey,
  type AnySignature,
  PUBLIC_KEY_BYTES,
  SIGNATURE_BYTES,
} from '../../src/move/any-key.ts';
import type {
  AccountAuthenticator,
  TransactionAuthenticator,
} from '../../src/move/authenticator.ts';
import type {
  BlockEpilogue,
  BlockMetadata,
  BlockMetadataExt,
} from '../../src/move/block-transaction.ts';
import type { EncryptedPayload } from '../../src/move/encrypted-payload.ts';
import type { ContractEvent, EventKey } from '../../src/move/event.ts';
import type { ExtraConfig } from '../../src/move/extra-config.ts';
import type { KeylessSignature } from '../../src/move/keyless.ts';
import type { EpochState, LedgerInfoWithSignatures } from '../../src/move/ledger-info.ts';
import type { ModuleId } from '../../src/move/module/compiled.ts';
import type { TransactionOnChainData } from '../../src/move/on-chain-data.ts';
import {
  accessPathKey,
  encodePath,
  physicalStateKey,
  type StateKey,
} from '../../src/move/state-key.ts';
import type { StateValueMetadata } from '../../src/move/state-value.ts';
import type { Transaction } from '../../src/move/transaction.ts';
import type { TransactionArgument } from '../../src/move/transaction-argument.ts';
import type { EntryFunction, Executable, Script } from '../../src/move/transaction-executable.ts';
import type { PersistedAuxiliaryInfo, TransactionInfo } from '../../src/move/transaction-info.ts';
import type { TransactionPayload } from '../../src/move/transaction-payload.ts';
import { PRIMITIVE_KINDS, type StructTag, type TypeTag } from '../../src/move/type-tag.ts';
import type { SignedTransaction } from '../../src/move/user-transaction.ts';
import type { ValidatorTransaction } from '../../src/move/validator-transaction.ts';
import type { WriteOp, WriteSet, WriteSetEntry } from '../../src/move/write-set.ts';

const kind = <const K extends string>(value: K): Arbitrary<K> => fc.constant(value);
const u64 = fc.bigInt(0n, 2n ** 64n - 1n);
const u32 = fc.nat(0xffff_ffff);
const name = fc.string({ maxLength: 6 });
const option = <T>(inner: Arbitrary<T>): Arbitrary<T | undefined> =>
  fc.option(inner, { nil: undefined });
const list = <T>(inner: Arbitrary<T>): Arbitrary<T[]> => fc.array(inner, { maxLength: 3 });
const unsigned = (bits: bigint): Arbitrary<bigint> => fc.bigInt(0n, 2n ** bits - 1n);
const signed = (bits: bigint): Arbitrary<bigint> =>
  fc.bigInt(-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n);

function bytesOf(byteLength: number): Arbitrary<Buffer> {
  // Long ones repeat a short pattern: the bytes do not matter, their number does.
  if (byteLength > 300) return bytesOf(16).map((part) => Buffer.alloc(byteLength, part));
  return fc
    .uint8Array({ minLength: byteLength, maxLength: byteLength })
    .map((bytes) => Buffer.from(bytes));
}
const bytes = fc.uint8Array({ maxLength: 12 }).map((raw) => Buffer.from(raw));
const hash = bytesOf(32);
const address = hash.map((raw) => raw.toString('hex'));

const primitive: Arbitrary<TypeTag> = fc
  .constantFrom(...PRIMITIVE_KINDS)
  .map((of) => ({ kind: of }));
const typeTagTo: (depth: number) => Arbitrary<TypeTag> = fc.memo((depth: number) => {
  if (depth <= 1) return primitive;
  const inner = typeTagTo(depth - 1);
  const part = fc.oneof(
    inner,
    fc.record({ kind: kind('reference'), mutable: fc.boolean(), to: inner }),
  );
  return fc.oneof(
    primitive,
    fc.record({ kind: kind('vector'), element: inner }),
    fc.record({ kind: kind('struct'), struct: structTagOf(inner) }),
    fc.record({
      kind: kind('function'),
      args: list(part),
      results: list(part),
      abilities: fc.nat(15),
    }),
  );
});
function structTagOf(argument: Arbitrary<TypeTag>): Arbitrary<StructTag> {
  return fc.record({ address, module: name, name, typeArguments: list(argument) });
}
export const typeTag = typeTagTo(3);
const structTag = structTagOf(typeTagTo(2));
const moduleId: Arbitrary<ModuleId> = fc.record({ address, name });

export const stateKey: Arbitrary<StateKey> = fc.oneof(
  fc
    .tuple(
      address,
      fc.oneof(
        bytes,
        moduleId.map((module) => encodePath({ kind: 'code', module })),
        structTag.map((tag) => encodePath({ kind: 'resource', tag })),
        structTag.map((tag) => encodePath({ kind: 'resourceGroup', tag })),
      ),
    )
    .map(([account, path]) => accessPathKey(account, path)),
  fc.record({ kind: kind('tableItem'), handle: address, key: bytes }),
  fc.record({ kind: kind('raw'), bytes }),
  fc.record({ kind: kind('tradingNative'), exchange: address, account: address, market: address }),
);

export const stateValueMetadata: Arbitrary<StateValueMetadata> = fc.oneof(
  fc.record({ kind: kind('v0'), deposit: u64, creationTimeUsecs: u64 }),
  fc.record({
    kind: kind('v1'),
    slotDeposit: u64,
    bytesDeposit: u64,
    creationTimeUsecs: u64,
  }),
);
export const stateValue = fc.record({ bytes, metadata: option(stateValueMetadata) });

const writeOp: Arbitrary<WriteOp> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('creation', 'modification'),
    bytes,
    metadata: option(stateValueMetadata),
  }),
  fc.record({ kind: kind('deletion'), metadata: option(stateValueMetadata) }),
);
const writes: Arbitrary<WriteSetEntry[]> = fc.uniqueArray(
  fc.record({ key: stateKey, op: writeOp }),
  { maxLength: 4, selector: ({ key }) => physicalStateKey(key).toString('hex') },
);
export const writeSet: Arbitrary<WriteSet> = fc.oneof(
  fc.record({ kind: kind('v0'), writes }),
  fc.record({
    kind: kind('v1'),
    writes,
    hotness: list(stateKey),
    extensions: list(fc.record({ kind: kind('nativePosition'), writes })),
  }),
);

export const eventKey: Arbitrary<EventKey> = fc.record({ creationNumber: u64, address });
export const contractEvent: Arbitrary<ContractEvent> = fc.oneof(
  fc.record({ kind: kind('v1'), key: eventKey, sequenceNumber: u64, typeTag, data: bytes }),
  fc.record({ kind: kind('v2'), typeTag, data: bytes }),
);

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
const script: Arbitrary<Script> = fc.record({
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
  ciphertext: fc.record({
    verificationKey: hash,
    identity: hash,
    groupElements: bytesOf(288),
    paddedKey: bytesOf(16),
    nonce: bytesOf(12),
    body: bytes,
    associatedData: bytes,
    signature: bytesOf(64),
  }),
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

const blockMetadata: Arbitrary<BlockMetadata> = fc.record({
  id: hash,
  epoch: u64,
  round: u64,
  proposer: address,
  previousBlockVotesBitvec: bytes,
  failedProposerIndices: list(u32),
  timestampUsecs: u64,
});
const roundBytes = fc.record({ epoch: u64, round: u64, bytes });
const blockMetadataExt: Arbitrary<BlockMetadataExt> = fc.oneof(
  fc.record({ kind: kind('v0'), metadata: blockMetadata }),
  fc.record({ kind: kind('v1'), metadata: blockMetadata, randomness: option(roundBytes) }),
  fc.record({
    kind: kind('v2'),
    metadata: blockMetadata,
    randomness: option(roundBytes),
    decryptionKey: option(roundBytes),
  }),
);
const blockEnd = {
  blockId: hash,
  endInfo: fc.record({
    blockGasLimitReached: fc.boolean(),
    blockOutputLimitReached: fc.boolean(),
    effectiveBlockGasUnits: u64,
    approxOutputSize: u64,
  }),
};
const feeDistribution = fc.uniqueArray(fc.record({ validatorIndex: u64, octas: u64 }), {
  maxLength: 3,
  selector: ({ validatorIndex }) => validatorIndex,
});
const blockEpilogue: Arbitrary<BlockEpilogue> = fc.oneof(
  fc.record({ kind: kind('v0'), ...blockEnd }),
  fc.record({ kind: kind('v1'), ...blockEnd, feeDistribution }),
  fc.record({ kind: kind('v2'), ...blockEnd, feeDistribution, toMakeHot: list(stateKey) }),
);

export const aggregateSignature: Arbitrary<AggregateSignature> = fc.record({
  validatorBitmask: bytes,
  signature: option(bytesOf(96)),
});
const validatorTransaction: Arbitrary<ValidatorTransaction> = fc.oneof(
  fc.record({ kind: kind('dkgResult'), epoch: u64, author: address, transcript: bytes }),
  fc.record({
    kind: kind('observedJwkUpdate'),
    issuer: bytes,
    version: u64,
    jwks: list(fc.record({ typeName: name, data: bytes })),
    signature: aggregateSignature,
  }),
  fc.record({
    kind: kind('chunkyDkgResult'),
    epoch: u64,
    author: address,
    transcript: bytes,
    signature: aggregateSignature,
    encryptionKey: bytes,
  }),
);

export const transaction: Arbitrary<Transaction> = fc.oneof(
  fc.record({ kind: kind('user'), transaction: signedTransaction }),
  fc.record({
    kind: kind('genesis'),
    payload: fc.oneof(
      fc.record({ kind: kind('direct'), writeSet, events: list(contractEvent) }),
      fc.record({ kind: kind('script'), executeAs: address, script }),
    ),
  }),
  fc.record({ kind: kind('blockMetadata'), metadata: blockMetadata }),
  fc.record({ kind: kind('stateCheckpoint'), blockId: hash }),
  fc.record({ kind: kind('validator'), transaction: validatorTransaction }),
  fc.record({ kind: kind('blockMetadataExt'), metadata: blockMetadataExt }),
  fc.record({ kind: kind('blockEpilogue'), epilogue: blockEpilogue }),
);

const location = fc.oneof(
  fc.record({ kind: kind('module'), module: moduleId }),
  fc.record({ kind: kind('script') }),
);
const status = fc.oneof(
  fc.record({ kind: fc.constantFrom('success', 'outOfGas') }),
  fc.record({
    kind: kind('moveAbort'),
    location,
    code: u64,
    info: option(fc.record({ reasonName: name, description: name })),
  }),
  fc.record({
    kind: kind('executionFailure'),
    location,
    function: fc.nat(0xffff),
    codeOffset: fc.nat(0xffff),
  }),
  fc.record({ kind: kind('miscellaneousError'), statusCode: option(u64) }),
);
const infoContent = {
  gasUsed: u64,
  status,
  transactionHash: hash,
  eventRootHash: hash,
  stateChangeHash: hash,
  stateCheckpointHash: option(hash),
  auxiliaryInfoHash: option(hash),
};
export const transactionInfo: Arbitrary<TransactionInfo> = fc.oneof(
  fc.record({ kind: kind('v0'), ...infoContent }),
  fc.record({
    kind: kind('v1'),
    ...infoContent,
    hotStateCheckpointHash: option(hash),
    reserved: fc.array(option(hash), { minLength: 8, maxLength: 8 }),
  }),
);
export const auxiliaryInfo: Arbitrary<PersistedAuxiliaryInfo> = fc.oneof(
  fc.record({ kind: kind('none') }),
  fc.record({
    kind: fc.constantFrom('v1', 'timestampNotYetAssignedV1'),
    transactionIndex: u32,
  }),
);
export const onChainData: Arbitrary<TransactionOnChainData> = fc.record({
  version: u64,
  transaction,
  info: transactionInfo,
  events: list(contractEvent),
  accumulatorRootHash: hash,
  changes: writeSet,
});

const epochState: Arbitrary<EpochState> = fc.record({
  epoch: u64,
  validators: list(fc.record({ address, consensusKey: bytesOf(48), votingPower: u64 })),
});
export const ledgerInfoWithSignatures: Arbitrary<LedgerInfoWithSignatures> = fc.record({
  ledgerInfo: fc.record({
    commitInfo: fc.record({
      epoch: u64,
      round: u64,
      id: hash,
      executedStateId: hash,
      version: u64,
      timestampUsecs: u64,
      nextEpochState: option(epochState),
    }),
    consensusDataHash: hash,
  }),
  signatures: aggregateSignature,
});
