/** Proofs that transaction infos are in the ledger of a signed ledger info (docs/spec/backup.md §3.6, §4.5). */
import type { BcsReader } from '../../move/bcs/bcs-reader.ts';
import { readHash } from '../../move/bcs/fixed-bytes.ts';
import { MAX_ACCUMULATOR_LEAVES, MerkleAccumulator } from '../../move/crypto/accumulator.ts';
import { HASH_BYTES } from '../../move/crypto/hash.ts';
import {
  type LedgerInfo,
  readSignedLedgerInfo,
  type SignedLedgerInfo,
} from '../../move/transactions/ledger-info.ts';
import {
  readTransactionInfo,
  type TransactionInfo,
  transactionInfoHash,
} from '../../move/transactions/transaction-info.ts';
import { unproved } from './backup-error.ts';
import { decodeIn } from './backup-files.ts';

const TRANSACTION_ACCUMULATOR = 'TransactionAccumulator';
/** Levels of the largest accumulator. */
const MAX_DEPTH = 63;

/** The proof of a snapshot: of one transaction info. */
export interface InfoProof {
  readonly siblings: readonly Buffer[];
  readonly info: TransactionInfo;
  readonly infoBytes: Buffer;
  readonly signed: SignedLedgerInfo;
}

/** The proof of a chunk of transactions. */
interface RangeProof {
  readonly left: readonly Buffer[];
  readonly right: readonly Buffer[];
  readonly signed: SignedLedgerInfo;
}

/** @throws BackupError */
export function readInfoProof(bytes: Buffer, file: string): InfoProof {
  return decodeIn(file, 'the proof', bytes, (reader) => {
    const siblings = readSiblings(reader);
    const start = reader.offset;
    const info = readTransactionInfo(reader);
    const infoBytes = reader.buffer.subarray(start, reader.offset);
    return { siblings, info, infoBytes, signed: readSignedLedgerInfo(reader) };
  });
}

/** @throws BackupError */
export function readRangeProofOf(bytes: Buffer, file: string): RangeProof {
  return decodeIn(file, 'the proof', bytes, (reader) => {
    const left = readSiblings(reader);
    const right = readSiblings(reader);
    return { left, right, signed: readSignedLedgerInfo(reader) };
  });
}

function readSiblings(reader: BcsReader): Buffer[] {
  const start = reader.offset;
  const siblings = reader.vector(HASH_BYTES, readHash);
  if (siblings.length <= MAX_DEPTH) return siblings;
  throw reader.error('bad_value', `${siblings.length} siblings, at most ${MAX_DEPTH}`, start);
}

/**
 * The accumulator up to the info of a version, which the ledger info covers.
 * @throws BackupError `backup_unproved`
 */
export function provedInfo(
  { siblings, infoBytes, signed: { info } }: InfoProof,
  version: bigint,
  file: string,
): MerkleAccumulator {
  // From the bottom up: where the version's bit is set, the sibling is a full subtree before it.
  const isLeft = (level: number): boolean => ((version >> BigInt(level)) & 1n) === 1n;
  const left = siblings.filter((_, level) => isLeft(level));
  const right = siblings.filter((_, level) => !isLeft(level));
  const accumulator = accumulatorOf(version, left, file);
  accumulator.append(transactionInfoHash(infoBytes));
  checkCovered(accumulator, right, info, file);
  return accumulator;
}

/**
 * The accumulator before a first version, as the left siblings of a proof say: whether they are true shows when the
 * infos from there on are covered.
 * @throws BackupError `backup_unproved` for another number of siblings than there are full subtrees
 */
export function accumulatorOf(
  leafCount: bigint,
  left: readonly Buffer[],
  file: string,
): MerkleAccumulator {
  const ones = leafCount.toString(2).replaceAll('0', '').length;
  if (left.length === ones && leafCount < MAX_ACCUMULATOR_LEAVES) {
    return new MerkleAccumulator(TRANSACTION_ACCUMULATOR, leafCount, [...left].reverse());
  }
  throw unproved(file, `${left.length} siblings to the left of version ${leafCount}, not ${ones}`);
}

/** Whether the ledger of a ledger info begins with an accumulator. @throws BackupError `backup_unproved` */
export function checkCovered(
  accumulator: MerkleAccumulator,
  right: readonly Buffer[],
  { version, rootHash }: LedgerInfo,
  file: string,
): void {
  const last = accumulator.leafCount - 1n;
  const depth = version === 0n ? 0 : version.toString(2).length;
  if (last <= version && depth <= MAX_DEPTH) {
    const root = accumulator.rootWithin(depth, right);
    if (root?.equals(rootHash) === true) return;
  }
  throw unproved(file, `the ledger info of version ${version} does not cover version ${last}`);
}
