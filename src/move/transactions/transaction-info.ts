/** Transaction infos: a transaction's outcome, in hashes (docs/spec/ledger.md §3.3). */
import { BcsReader } from '../bcs/bcs-reader.ts';
import {
  type CodecValue,
  hash,
  option,
  repeated,
  structCodec,
  text,
  u16,
  u64,
  variants,
} from '../bcs/codec.ts';
import { domainHash, HASH_BYTES } from '../crypto/hash.ts';
import { ModuleId } from '../types/module-id.ts';

/** Where an abort or failure happened: in a module, or in the transaction's script. */
const location = variants('AbortLocation', { module: { module: ModuleId }, script: {} });

export const ExecutionStatus = variants('ExecutionStatus', {
  success: {},
  outOfGas: {},
  moveAbort: {
    location,
    code: u64,
    /** The aborting module's name and description of the code. */
    info: option(structCodec({ reasonName: text, description: text })),
  },
  executionFailure: {
    location,
    /** Index of the function in its module. */
    function: u16,
    /** Index of the instruction in the function. */
    codeOffset: u16,
  },
  miscellaneousError: { statusCode: option(u64) },
});
export type ExecutionStatus = CodecValue<typeof ExecutionStatus>;

const CONTENT = {
  /** Gas units. */
  gasUsed: u64,
  status: ExecutionStatus,
  transactionHash: hash,
  eventRootHash: hash,
  stateChangeHash: hash,
  /** Present at the last transaction of a block. */
  stateCheckpointHash: option(hash),
};
const U64_BYTES = 8;
/** Hashes that a V1 info reserves. */
const RESERVED_HASHES = 8;

export const TransactionInfo = variants('TransactionInfo', {
  v0: { ...CONTENT, auxiliaryInfoHash: option(hash) },
  v1: {
    ...CONTENT,
    hotStateCheckpointHash: option(hash),
    auxiliaryInfoHash: option(hash),
    reserved: repeated(RESERVED_HASHES, option(hash)),
  },
});
export type TransactionInfo = CodecValue<typeof TransactionInfo>;

/** The transaction's hash, from an info's bytes. @throws BcsError */
export function transactionHashIn(infoBytes: Uint8Array): Buffer {
  const reader = new BcsReader(infoBytes);
  reader.variant(TransactionInfo.kinds.length, 'TransactionInfo');
  reader.skip(U64_BYTES);
  ExecutionStatus.read(reader);
  return hash.read(reader);
}

/** Offsets of parts of an info in the bytes that it was read from. */
export interface InfoPlaces {
  readonly gasUsedAt: number;
  readonly status: ExecutionStatus;
  /** Hashes of the transaction, its events and its state change, one after the other. */
  readonly hashesAt: number;
  /** Present only at the last transaction of a block. */
  readonly checkpointAt: number | undefined;
}

/** Reads an info, most of which is shown unchanged. @throws BcsError when `TransactionInfo.read` does */
export function readInfoPlaces(reader: BcsReader): InfoPlaces {
  const form = reader.variant(TransactionInfo.kinds.length, 'TransactionInfo');
  const gasUsedAt = reader.skip(U64_BYTES);
  const status = ExecutionStatus.read(reader);
  const hashesAt = reader.skip(3 * HASH_BYTES);
  const checkpointAt = skipOptionalHash(reader);
  const others = form === 0 ? 1 : 2 + RESERVED_HASHES;
  for (let left = others; left > 0; left -= 1) skipOptionalHash(reader);
  return { gasUsedAt, status, hashesAt, checkpointAt };
}

function skipOptionalHash(reader: BcsReader): number | undefined {
  return reader.option((inner) => inner.skip(HASH_BYTES));
}

/** The leaf of a transaction in the ledger's accumulator: a hash of the info's own bytes. */
export function transactionInfoHash(infoBytes: Uint8Array): Buffer {
  return domainHash('TransactionInfo', infoBytes);
}
