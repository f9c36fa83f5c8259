/** Proofs that transaction infos are in the ledger of a signed ledger info (docs/spec/backup.md §3.6, §4.5). */
import { type BcsReader, U64_MAX } from '../../move/bcs/bcs-reader.ts';
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { readHash, writeHash } from '../../move/bcs/fixed-bytes.ts';
import {
  ACCUMULATOR_PLACEHOLDER,
  MAX_ACCUMULATOR_LEAVES,
  MerkleAccumulator,
} from '../../move/crypto/accumulator.ts';
import { HASH_BYTES } from '../../move/crypto/hash.ts';
import {
  type LedgerInfo,
  readSignedLedgerInfo,
  type SignedLedgerInfo,
  writeUnsignedLedgerInfo,
} from '../../move/transactions/ledger-info.ts';
import { TransactionInfo, transactionInfoHash } from '../../move/transactions/transaction-info.ts';
import { unproved } from './backup-error.ts';
import { decodeIn } from './backup-files.ts';

const TRANSACTION_ACCUMULATOR = 'TransactionAccumulator';
/** Depth of the largest accumulator. */
const MAX_DEPTH = 63;

/** The proof of a snapshot: the proof of one transaction info. */
export interface InfoProof {
  readonly siblings: readonly Buffer[];
  readonly info: TransactionInfo;
  readonly infoBytes: Buffer;
  readonly signed: SignedLedgerInfo;
}

/** Decides which ledger infos are accepted. */
export interface LedgerInfoCheck {
  /** The last epoch whose ledger infos it can check. */
  readonly nextEpoch: bigint;
  /** @throws BackupError for a ledger info that is not accepted */
  check(signed: SignedLedgerInfo, file: string): void;
}

/** Accepts all ledger infos. Callers compare the roots with trusted ones, or report them. */
export const UNCHECKED: LedgerInfoCheck = { nextEpoch: U64_MAX, check: () => undefined };

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
    const info = TransactionInfo.read(reader);
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
 * The accumulator up to the info of a version, checked against the ledger info. @throws BackupError `backup_unproved`
 */
export function provedInfo(
  { siblings, infoBytes, signed: { info } }: InfoProof,
  version: bigint,
  file: string,
): MerkleAccumulator {
  // Siblings go level by level from the leaves. Those where the version's bit is set are full subtrees before it.
  const isLeft = (level: number): boolean => ((version >> BigInt(level)) & 1n) === 1n;
  const left = siblings.filter((_, level) => isLeft(level));
  const right = siblings.filter((_, level) => !isLeft(level));
  const accumulator = accumulatorOf(version, left, file);
  accumulator.append(transactionInfoHash(infoBytes));
  checkCovered(accumulator, right, info, file);
  return accumulator;
}

/**
 * The accumulator before a version, built from the left siblings of a proof. They are only verified when the infos from
 * that version on are found to be covered.
 * @throws BackupError `backup_unproved` unless there is one sibling per full subtree
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

/**
 * Verifies that the ledger of a ledger info begins with the leaves of an accumulator.
 * @throws BackupError `backup_unproved`
 */
export function checkCovered(
  accumulator: MerkleAccumulator,
  right: readonly Buffer[],
  { version, rootHash }: LedgerInfo,
  file: string,
): void {
  const last = accumulator.leafCount - 1n;
  const depth = depthOf(version);
  if (last <= version && depth <= MAX_DEPTH) {
    const root = accumulator.rootWithin(depth, right);
    if (root?.equals(rootHash) === true) return;
  }
  throw unproved(file, `the ledger info of version ${version} does not cover version ${last}`);
}

/** Number of levels above the leaves of the accumulator up to a version. */
function depthOf(version: bigint): number {
  return version === 0n ? 0 : version.toString(2).length;
}

/** The fields of an unsigned ledger info besides version and root. */
interface LedgerTime {
  readonly epoch: bigint;
  readonly timestampUsecs: bigint;
}

/**
 * The proof of an unsigned snapshot, where the info is the last one of the ledger.
 * @param before the accumulator before the version
 */
export function encodeInfoProof(
  before: MerkleAccumulator,
  info: Uint8Array,
  time: LedgerTime,
): Buffer {
  const version = before.leafCount;
  const left = [...before.frozenSubtreeRoots].reverse();
  const siblings = Array.from({ length: depthOf(version) }, (_, level) =>
    ((version >> BigInt(level)) & 1n) === 1n ? left.shift()! : ACCUMULATOR_PLACEHOLDER,
  );
  const after = before.clone();
  after.append(transactionInfoHash(info));
  return encodeBcs((writer) => {
    writer.vector(siblings, writeHash).fixed(info);
    writeUnsignedLedgerInfo(writer, { ...time, version, rootHash: after.rootHash() });
  });
}

/**
 * The proof of an unsigned chunk of transactions, which are the last ones of the ledger.
 * @param before the accumulator before the first of them
 * @param after the accumulator after the last of them
 */
export function encodeRangeProof(
  before: MerkleAccumulator,
  after: MerkleAccumulator,
  time: LedgerTime,
): Buffer {
  const version = after.leafCount - 1n;
  const zeros = depthOf(version) - version.toString(2).replaceAll('0', '').length;
  const right = Array.from({ length: zeros }, () => ACCUMULATOR_PLACEHOLDER);
  return encodeBcs((writer) => {
    writer.vector([...before.frozenSubtreeRoots].reverse(), writeHash).vector(right, writeHash);
    writeUnsignedLedgerInfo(writer, { ...time, version, rootHash: after.rootHash() });
  });
}
