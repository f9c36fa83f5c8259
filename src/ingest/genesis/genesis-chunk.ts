/** The first chunk of a ledger: genesis with everything that follows from it (docs/spec/ledger.md §2.1). */
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { writeHash } from '../../move/bcs/fixed-bytes.ts';
import type { Chunk } from '../../store/chunk.ts';
import { ChunkBuilder } from '../chunk-builder.ts';
import { GENESIS_VERSION, type Genesis } from './genesis.ts';
import type { GenesisProof } from './genesis-waypoint.ts';

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
  const builder = new ChunkBuilder(GENESIS_VERSION);
  builder.add({
    info: proof.infoBytes,
    events: [...genesis.eventBytes()],
    writeSet: genesis.writeSetBytes,
    transaction: keepsTransactions ? onChainData(genesis, proof) : undefined,
  });
  return builder.finish([proof.infoHash], {
    chainId: genesis.chainId,
    genesisWaypointHash: proof.waypoint.hash,
    keepsTransactions,
  });
}

/** BCS of the TransactionOnChainData (docs/spec/ledger.md §3.1), put together from the file's own bytes. */
function onChainData(genesis: Genesis, proof: GenesisProof): Buffer {
  return encodeBcs((writer) => {
    writer.u64(GENESIS_VERSION).fixed(genesis.bytes).fixed(proof.infoBytes);
    writer.fixed(genesis.eventsBytes);
    writeHash(writer, proof.accumulatorRootHash);
    writer.fixed(genesis.writeSetBytes);
  });
}
