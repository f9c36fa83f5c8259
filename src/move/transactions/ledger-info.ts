/** Ledger infos: what validators sign about a whole ledger (docs/spec/ledger.md §4.5). */
import type { BcsReader } from '../bcs/bcs-reader.ts';
import type { BcsWriter } from '../bcs/bcs-writer.ts';
import { readHash, readSizedBytes, writeHash } from '../bcs/fixed-bytes.ts';
import { HASH_BYTES } from '../crypto/hash.ts';
import { BLS_SIGNATURE_BYTES } from './validator-transaction.ts';
import { type EpochState, readEpochState } from './waypoint.ts';

export interface LedgerInfo {
  readonly epoch: bigint;
  /** Root of the transaction accumulator after `version`, 32 bytes. */
  readonly rootHash: Buffer;
  readonly version: bigint;
  /** Microseconds since 1970. */
  readonly timestampUsecs: bigint;
  readonly round: bigint;
  /** Id of the block that `version` ends, 32 bytes. */
  readonly blockId: Buffer;
  /** Present in the ledger info that ends an epoch. */
  readonly nextEpochState: EpochState | undefined;
  /** 32 bytes, of no use to a reader. */
  readonly consensusDataHash: Buffer;
}

export interface SignedLedgerInfo {
  readonly info: LedgerInfo;
  /** BCS of `info`: what is signed. */
  readonly infoBytes: Buffer;
  /** Bit 0x80 >> (i % 8) of byte i / 8 is set when validator i has signed. */
  readonly signers: Buffer;
  /** 96 bytes; absent at genesis, which nobody signs. */
  readonly signature: Buffer | undefined;
}

/** Reads a LedgerInfoWithSignatures; its buffers are views of the input. @throws BcsError */
export function readSignedLedgerInfo(reader: BcsReader): SignedLedgerInfo {
  reader.variant(1, 'LedgerInfoWithSignatures');
  const start = reader.offset;
  const info = readLedgerInfo(reader);
  const infoBytes = reader.buffer.subarray(start, reader.offset);
  const signers = reader.bytes();
  const signature = reader.option((inner) =>
    readSizedBytes(inner, BLS_SIGNATURE_BYTES, 'signature'),
  );
  return { info, infoBytes, signers, signature };
}

function readLedgerInfo(reader: BcsReader): LedgerInfo {
  const epoch = reader.u64();
  const round = reader.u64();
  const blockId = readHash(reader);
  const rootHash = readHash(reader);
  const version = reader.u64();
  const timestampUsecs = reader.u64();
  const nextEpochState = reader.option(readEpochState);
  const consensusDataHash = readHash(reader);
  return {
    ...{ epoch, round, blockId, rootHash, version, timestampUsecs, nextEpochState },
    consensusDataHash,
  };
}

type UnsignedLedgerInfo = Pick<LedgerInfo, 'epoch' | 'rootHash' | 'version' | 'timestampUsecs'>;

/** Writes a LedgerInfoWithSignatures that nobody has signed; what the store does not have is zero. */
export function writeUnsignedLedgerInfo(writer: BcsWriter, info: UnsignedLedgerInfo): void {
  const none = Buffer.alloc(HASH_BYTES);
  // The variant; epoch, round and block id.
  writer.uleb32(0).u64(info.epoch).u64(0);
  writeHash(writer, none);
  writeHash(writer, info.rootHash);
  writer.u64(info.version).u64(info.timestampUsecs);
  // No next epoch; the consensus data hash; no signers and no signature.
  writer.u8(0).fixed(none).u8(0).u8(0);
}
