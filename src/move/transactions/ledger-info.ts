/** Ledger infos: what validators sign about a whole ledger (docs/spec/ledger.md §4.5). */
import type { BcsReader } from '../bcs/bcs-reader.ts';
import type { BcsWriter } from '../bcs/bcs-writer.ts';
import { type CodecValue, hash, option, structCodec, u64 } from '../bcs/codec.ts';
import { HASH_BYTES } from '../crypto/hash.ts';
import { blsSignature } from './validator-transaction.ts';
import { EpochState } from './waypoint.ts';

const LedgerInfo = structCodec({
  epoch: u64,
  round: u64,
  /** Id of the block that `version` ends. */
  blockId: hash,
  /** Root of the transaction accumulator after `version`. */
  rootHash: hash,
  version: u64,
  /** Microseconds since 1970. */
  timestampUsecs: u64,
  /** Present in the ledger info that ends an epoch. */
  nextEpochState: option(EpochState),
  /** Useless to readers. */
  consensusDataHash: hash,
});
export type LedgerInfo = CodecValue<typeof LedgerInfo>;

export interface SignedLedgerInfo {
  readonly info: LedgerInfo;
  /** BCS of `info`: what is signed. */
  readonly infoBytes: Buffer;
  /** Bit 0x80 >> (i % 8) of byte i / 8 is set when validator i has signed. */
  readonly signers: Buffer;
  /** Absent at genesis, which nobody signs. */
  readonly signature: Buffer | undefined;
}

/** Reads a LedgerInfoWithSignatures; its buffers are views of the input. @throws BcsError */
export function readSignedLedgerInfo(reader: BcsReader): SignedLedgerInfo {
  reader.variant(1, 'LedgerInfoWithSignatures');
  const start = reader.offset;
  const info = LedgerInfo.read(reader);
  const infoBytes = reader.buffer.subarray(start, reader.offset);
  const signers = reader.bytes();
  return { info, infoBytes, signers, signature: reader.option(blsSignature.read) };
}

type UnsignedLedgerInfo = Pick<LedgerInfo, 'epoch' | 'rootHash' | 'version' | 'timestampUsecs'>;

/** Writes an unsigned LedgerInfoWithSignatures; fields that the store does not have are zero. */
export function writeUnsignedLedgerInfo(writer: BcsWriter, info: UnsignedLedgerInfo): void {
  const none = Buffer.alloc(HASH_BYTES);
  const unknown = { round: 0n, blockId: none, nextEpochState: undefined, consensusDataHash: none };
  LedgerInfo.write(writer.uleb32(0), { ...unknown, ...info });
  // No signers and no signature.
  writer.u8(0).u8(0);
}
