/** The framework's events that give a ledger its blocks and epochs (docs/spec/ledger.md §2.3). */

import type { EventKey } from '../transactions/event.ts';
import { ADDRESS_ONE, type Address } from '../types/address.ts';
import { codec } from './framework-resource.ts';

/** The stream of blocks: one event where each block begins. */
export const NEW_BLOCK_EVENT_KEY: EventKey = { creationNumber: 3n, address: ADDRESS_ONE };
/** The stream of epochs: one event where each epoch ends. */
export const NEW_EPOCH_EVENT_KEY: EventKey = { creationNumber: 2n, address: ADDRESS_ONE };

/** `0x1::block::NewBlockEvent`. */
export interface NewBlockEvent {
  /** Block id, in the form of an address. */
  readonly hash: Address;
  readonly epoch: bigint;
  readonly round: bigint;
  readonly height: bigint;
  readonly previousBlockVotesBitvec: Buffer;
  readonly proposer: Address;
  /** u64 each here; u32 in the block's transaction. */
  readonly failedProposerIndices: readonly bigint[];
  /** Microseconds since 1970. */
  readonly timestampUsecs: bigint;
}

export const newBlockEventCodec = codec<NewBlockEvent>(
  (reader) => ({
    hash: reader.address(),
    epoch: reader.u64(),
    round: reader.u64(),
    height: reader.u64(),
    previousBlockVotesBitvec: reader.bytes(),
    proposer: reader.address(),
    failedProposerIndices: reader.vector(8, (inner) => inner.u64()),
    timestampUsecs: reader.u64(),
  }),
  (writer, event) => {
    writer.address(event.hash).u64(event.epoch).u64(event.round).u64(event.height);
    writer.bytes(event.previousBlockVotesBitvec).address(event.proposer);
    writer.vector(event.failedProposerIndices, (inner, index) => inner.u64(index));
    writer.u64(event.timestampUsecs);
  },
);

/** Data of `0x1::reconfiguration::NewEpochEvent` and `NewEpoch`: the epoch that begins. */
export const newEpochEventCodec = codec<bigint>(
  (reader) => reader.u64(),
  (writer, epoch) => {
    writer.u64(epoch);
  },
);
