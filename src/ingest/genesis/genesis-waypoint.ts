/**
 * The waypoint of a genesis, from the file alone (docs/spec/ledger.md §2.7): no virtual machine, only
 * hashes.
 */
import { accumulatorRoot } from '../../move/crypto/accumulator.ts';
import { SparseMerkleLeaves } from '../../move/crypto/sparse-merkle.ts';
import { contractEventHash } from '../../move/transactions/event.ts';
import { transactionHash } from '../../move/transactions/transaction.ts';
import {
  encodeTransactionInfo,
  type TransactionInfo,
  transactionInfoHash,
} from '../../move/transactions/transaction-info.ts';
import { epochStateOf } from '../../move/transactions/validator-set.ts';
import {
  type EpochState,
  isSameWaypoint,
  type Waypoint,
  waypointOfParts,
} from '../../move/transactions/waypoint.ts';
import { writeSetHash, writtenValue } from '../../move/transactions/write-set.ts';
import { stateKeyHash } from '../../move/types/state-key.ts';
import { stateValueHash } from '../../move/types/state-value.ts';
import { GENESIS_VERSION, type Genesis } from './genesis.ts';
import { WaypointMismatchError } from './genesis-error.ts';

/**
 * Every step from the file to its waypoint, in the order of docs/spec/ledger.md §2.7. All hashes are 32
 * bytes.
 */
export interface GenesisProof {
  readonly transactionHash: Buffer;
  readonly stateChangeHash: Buffer;
  readonly eventRootHash: Buffer;
  /** Root of the state after genesis. */
  readonly stateCheckpointHash: Buffer;
  readonly info: TransactionInfo;
  readonly infoBytes: Buffer;
  readonly infoHash: Buffer;
  /** Root of the transaction accumulator, whose one leaf is `infoHash`. */
  readonly accumulatorRootHash: Buffer;
  readonly nextEpochState: EpochState;
  readonly waypoint: Waypoint;
}

/** The ledger info of genesis is of epoch 0; epoch 1 begins with it. */
const GENESIS_EPOCH = 0n;
const GENESIS_TIMESTAMP_USECS = 0n;

/** Computes all hashes of a genesis: some two per write, well under a second for real ones. */
export function proveGenesis(genesis: Genesis): GenesisProof {
  const hashes = {
    transactionHash: transactionHash(genesis.bytes),
    stateChangeHash: writeSetHash(genesis.writeSetBytes),
    eventRootHash: accumulatorRoot('EventAccumulator', eventLeaves(genesis)),
    stateCheckpointHash: stateRoot(genesis),
  };
  const info: TransactionInfo = {
    kind: 'v0',
    gasUsed: 0n,
    status: { kind: 'success' },
    ...hashes,
    auxiliaryInfoHash: undefined,
  };
  const infoBytes = encodeTransactionInfo(info);
  const infoHash = transactionInfoHash(infoBytes);
  const accumulatorRootHash = accumulatorRoot('TransactionAccumulator', [infoHash]);
  const nextEpochState = epochStateOf(GENESIS_EPOCH + 1n, genesis.validatorSet);
  const waypoint = waypointOfParts({
    epoch: GENESIS_EPOCH,
    rootHash: accumulatorRootHash,
    version: GENESIS_VERSION,
    timestampUsecs: GENESIS_TIMESTAMP_USECS,
    nextEpochState,
  });
  return { ...hashes, info, infoBytes, infoHash, accumulatorRootHash, nextEpochState, waypoint };
}

function* eventLeaves(genesis: Genesis): Generator<Buffer> {
  for (const bytes of genesis.eventBytes()) yield contractEventHash(bytes);
}

function stateRoot(genesis: Genesis): Buffer {
  const leaves = new SparseMerkleLeaves();
  for (const { physicalKey, op } of genesis.writes()) {
    const value = writtenValue(op);
    if (value !== undefined) leaves.add(stateKeyHash(physicalKey), stateValueHash(value));
  }
  return leaves.rootHash();
}

/** The waypoint of a genesis. */
export function genesisWaypoint(genesis: Genesis): Waypoint {
  return proveGenesis(genesis).waypoint;
}

/**
 * Asserts that a genesis is the one a waypoint pins, and gives its proof.
 * @throws WaypointMismatchError, `waypoint_of_other_version` when the waypoint is not of version 0.
 */
export function checkWaypoint(genesis: Genesis, expected: Waypoint): GenesisProof {
  const proof = proveGenesis(genesis);
  if (!isSameWaypoint(proof.waypoint, expected)) {
    throw new WaypointMismatchError(expected, proof.waypoint);
  }
  return proof;
}
