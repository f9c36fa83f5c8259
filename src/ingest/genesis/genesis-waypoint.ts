/**
 * The waypoint of a genesis, computed from the file alone by hashing (docs/spec/ledger.md §2.7), and the first chunk of
 * its ledger (§2.1).
 */
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { writeHash } from '../../move/bcs/fixed-bytes.ts';
import { accumulatorRoot } from '../../move/crypto/accumulator.ts';
import { SparseMerkleLeaves } from '../../move/crypto/sparse-merkle.ts';
import { contractEventHash } from '../../move/transactions/event.ts';
import { transactionHash } from '../../move/transactions/transaction.ts';
import { TransactionInfo, transactionInfoHash } from '../../move/transactions/transaction-info.ts';
import {
  type EpochState,
  epochStateOf,
  formatWaypoint,
  isSameWaypoint,
  type Waypoint,
  waypointOfParts,
} from '../../move/transactions/waypoint.ts';
import { writeSetHash, writtenValue } from '../../move/transactions/write-set.ts';
import { stateKeyHash } from '../../move/types/state-key.ts';
import { stateValueHash } from '../../move/types/state-value.ts';
import type { Chunk } from '../../store/write/chunk.ts';
import { ChunkBuilder } from '../chunk-builder.ts';
import { GENESIS_VERSION, type Genesis, GenesisError } from './genesis.ts';

/**
 * The intermediate hashes from the file to its waypoint, in the order of docs/spec/ledger.md §2.7. All hashes are 32
 * bytes.
 */
interface GenesisHashes {
  readonly transactionHash: Buffer;
  readonly stateChangeHash: Buffer;
  readonly eventRootHash: Buffer;
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

/** Computes all hashes of a genesis: about two per write, well under a second for real ones. */
export function computeGenesisHashes(genesis: Genesis): GenesisHashes {
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
  const infoBytes = TransactionInfo.encode(info);
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

/**
 * The hashes of a genesis, if it matches a waypoint.
 * @throws GenesisError `waypoint_mismatch`; `waypoint_of_other_version` if the waypoint is not for version 0
 */
export function checkWaypoint(genesis: Genesis, expected: Waypoint): GenesisHashes {
  const hashes = computeGenesisHashes(genesis);
  const { waypoint } = hashes;
  if (isSameWaypoint(waypoint, expected)) return hashes;
  const [found, expectedText] = [formatWaypoint(waypoint), formatWaypoint(expected)];
  if (expected.version === waypoint.version) {
    throw new GenesisError(
      'waypoint_mismatch',
      `the genesis has waypoint ${found}, not ${expectedText}`,
    );
  }
  throw new GenesisError(
    'waypoint_of_other_version',
    `waypoint ${expectedText} is of version ${expected.version} and cannot be ` +
      `compared with a genesis, whose waypoint is ${found}`,
  );
}

/**
 * The chunk that begins a ledger. It contains copies of the bytes that it needs from the genesis file.
 * @param keepsTransactions whether the ledger stores whole transactions, so that other nodes can replicate it
 */
export function chunkOfGenesis(
  genesis: Genesis,
  hashes: GenesisHashes,
  keepsTransactions = true,
): Chunk {
  const builder = new ChunkBuilder(GENESIS_VERSION);
  builder.add({
    info: hashes.infoBytes,
    events: [...genesis.eventBytes()],
    writeSet: genesis.writeSetBytes,
    transaction: keepsTransactions ? onChainData(genesis, hashes) : undefined,
  });
  return builder.finish([hashes.infoHash], {
    chainId: genesis.chainId,
    genesisWaypointHash: hashes.waypoint.hash,
    keepsTransactions,
  });
}

/** BCS of the TransactionOnChainData (docs/spec/ledger.md §3.1), assembled from the file's own bytes. */
function onChainData(genesis: Genesis, hashes: GenesisHashes): Buffer {
  return encodeBcs((writer) => {
    writer.u64(GENESIS_VERSION).fixed(genesis.bytes).fixed(hashes.infoBytes);
    writer.fixed(genesis.eventsBytes);
    writeHash(writer, hashes.accumulatorRootHash);
    writer.fixed(genesis.writeSetBytes);
  });
}
