/** The first chunk of a ledger: genesis with everything that follows from it (spec/ledger.md §2.1). */
import { encodeBcs } from '../move/bcs-writer.ts';
import { writeHash } from '../move/fixed-bytes.ts';
import { HASH_BYTES } from '../move/hash.ts';
import { encodeTypeTag } from '../move/type-tag.ts';
import { writtenValue } from '../move/write-set.ts';
import type {
  Chunk,
  ChunkModuleEvent,
  ChunkStreamEvent,
  ChunkTransaction,
  StateWrite,
} from '../store/chunk.ts';
import { GENESIS_VERSION, type Genesis, type GenesisEvent, type GenesisWrite } from './genesis.ts';
import type { GenesisProof } from './genesis-waypoint.ts';

/** A ledger that holds only genesis is in epoch 0, at time 0, whatever the chain's own resources say (§2.1). */
const GENESIS_BLOCK = {
  height: 0n,
  firstVersion: GENESIS_VERSION,
  epoch: 0n,
  round: 0n,
  timestampUsecs: 0n,
  id: Buffer.alloc(HASH_BYTES),
} as const;

/**
 * The chunk that begins a ledger. Its buffers are views on the genesis file.
 * @param proof the hashes of this genesis
 * @param keepsTransactions whether the ledger keeps whole transactions, to feed others
 */
export function chunkOfGenesis(
  genesis: Genesis,
  proof: GenesisProof,
  keepsTransactions = true,
): Chunk {
  const transaction: ChunkTransaction = {
    writes: Array.from(genesis.writes(), stateWrite),
    events: Array.from(genesis.events(), chunkEvent),
    info: proof.infoBytes,
    transaction: keepsTransactions ? onChainData(genesis, proof) : undefined,
  };
  return {
    firstVersion: GENESIS_VERSION,
    transactions: [transaction],
    blocks: [GENESIS_BLOCK],
    epochEnds: [{ epoch: 0n, lastVersion: GENESIS_VERSION }],
    frozenRoots: [proof.infoHash],
    identity: {
      chainId: genesis.chainId,
      genesisWaypointHash: proof.waypoint.hash,
      keepsTransactions,
    },
  };
}

function stateWrite({ physicalKey, op }: GenesisWrite): StateWrite {
  const written = writtenValue(op);
  return { key: physicalKey, value: written?.bytes, metadata: written?.metadata };
}

function chunkEvent({ event }: GenesisEvent): ChunkStreamEvent | ChunkModuleEvent {
  const body = { typeTag: encodeTypeTag(event.typeTag), data: event.data };
  if (event.kind === 'v2') return { kind: 'module', ...body };
  return { kind: 'stream', ...event.key, sequenceNumber: event.sequenceNumber, ...body };
}

/** BCS of the TransactionOnChainData (spec/ledger.md §3.1), put together from the file's own bytes. */
function onChainData(genesis: Genesis, proof: GenesisProof): Buffer {
  return encodeBcs((writer) => {
    writer.u64(GENESIS_VERSION).fixed(genesis.bytes).fixed(proof.infoBytes);
    writer.fixed(genesis.eventsBytes);
    writeHash(writer, proof.accumulatorRootHash);
    writer.fixed(genesis.writeSetBytes);
  });
}
