/** Random values of the ledger's wire types, for property tests. */
import fc, { type Arbitrary } from 'fast-check';
import type {
  BlockEpilogue,
  BlockMetadata,
  BlockMetadataExt,
} from '../../../src/move/transactions/block-transaction.ts';
import type { ContractEvent, EventKey } from '../../../src/move/transactions/event.ts';
import type {
  Transaction,
  TransactionOnChainData,
} from '../../../src/move/transactions/transaction.ts';
import type { TransactionInfo } from '../../../src/move/transactions/transaction-info.ts';
import type {
  AggregateSignature,
  ValidatorTransaction,
} from '../../../src/move/transactions/validator-transaction.ts';
import type { WriteOp, WriteSet, WriteSetEntry } from '../../../src/move/transactions/write-set.ts';
import {
  AccessPathKey,
  encodePath,
  physicalStateKey,
  type StateKey,
} from '../../../src/move/types/state-key.ts';
import type { StateValueMetadata } from '../../../src/move/types/state-value.ts';

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
  structTag,
  typeTag,
  u32,
  u64,
} from '../values/scalar-arbitraries.ts';
import { script, signedTransaction } from './user-transaction-arbitraries.ts';
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
    .map(([account, path]) => new AccessPathKey(account, path)),
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
export const onChainData: Arbitrary<TransactionOnChainData> = fc.record({
  version: u64,
  transaction,
  info: transactionInfo,
  events: list(contractEvent),
  accumulatorRootHash: hash,
  changes: writeSet,
});
