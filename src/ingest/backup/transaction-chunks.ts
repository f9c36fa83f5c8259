/** Reads chunks of transactions and verifies them (docs/spec/backup.md §4.7). */
import type { BcsReader } from '../../move/bcs/bcs-reader.ts';
import { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import { MerkleAccumulator } from '../../move/crypto/accumulator.ts';
import { domainHash } from '../../move/crypto/hash.ts';
import { MIN_EVENT_BYTES, readContractEvent } from '../../move/transactions/event.ts';
import { readTransaction } from '../../move/transactions/transaction.ts';
import {
  readTransactionInfo,
  transactionInfoHash,
} from '../../move/transactions/transaction-info.ts';
import { PageError } from '../feed/feed-error.ts';
import { frozenRootsOf, type VerifiedPage } from '../feed/verified-page.ts';
import type { Verifier } from '../feed/verifier.ts';
import { unproved } from './backup-error.ts';
import { decodeIn, recordsOf, type StoredPair } from './backup-files.ts';
import type { EpochChain } from './epoch-chain.ts';
import { accumulatorOf, checkCovered, readRangeProofOf } from './ledger-proofs.ts';
import type { TransactionChunk } from './manifests.ts';

/** Versions that are verified together, and their bytes, as in a page of a feed. */
const PAGE_TRANSACTIONS = 1_000;
const PAGE_BYTES = 4 * 1024 * 1024;

/** Versions as a feed would send them: the same checks are made of them. */
interface MadePage {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly firstVersion: bigint;
}

interface VerifiedChunk {
  /** The versions after those that were known. */
  readonly pages: readonly VerifiedPage[];
  /** The accumulator after the chunk. */
  readonly accumulator: MerkleAccumulator;
}

/**
 * Verifies a chunk as a whole.
 * @param known the accumulator before the first version that is needed: the chunk has that version, and what it has
 *   before it is verified and left out
 * @returns undefined when its epoch is later than those whose validators are known
 * @throws BackupError
 */
export async function verifyTransactions(
  chunk: TransactionChunk,
  { data, proof }: StoredPair,
  known: MerkleAccumulator,
  epochs: EpochChain,
  verifier: Verifier,
): Promise<VerifiedChunk | undefined> {
  const { left, right, signed } = readRangeProofOf(proof, chunk.proof);
  const isOfLaterEpoch = signed.info.epoch > epochs.nextEpoch;
  if (!isOfLaterEpoch) epochs.check(signed, chunk.proof);
  const before = accumulatorOf(chunk.first, left, chunk.proof);
  verifier.start({
    nextVersion: chunk.first,
    frozenRoots: before.frozenSubtreeRoots,
    trustedRoots: [],
    waypoint: undefined,
  });
  const pages: VerifiedPage[] = [];
  let last: VerifiedPage | undefined;
  for (const { bytes, firstVersion } of pagesOf(chunk, data, before, known)) {
    last = await verifier.verify(bytes).catch((cause: unknown) => {
      if (!(cause instanceof PageError)) throw cause;
      throw unproved(chunk.data, cause.message, cause);
    });
    if (firstVersion >= known.leafCount) pages.push(last);
  }
  // From what was verified, not from what was read.
  const roots = frozenRootsOf(last!.end);
  const accumulator = new MerkleAccumulator('TransactionAccumulator', chunk.last + 1n, roots);
  checkCovered(accumulator, right, signed.info, chunk.proof);
  // Only now: a proof of something else must not pass for one of a later epoch, which ends the ledger without an error.
  if (isOfLaterEpoch) return undefined;
  return { pages, accumulator };
}

/** The records of a chunk as pages of a feed; one of them begins after the known versions. */
function* pagesOf(
  chunk: TransactionChunk,
  data: Buffer,
  accumulator: MerkleAccumulator,
  known: MerkleAccumulator,
): Generator<MadePage> {
  const start = known.leafCount;
  let items: Buffer[] = [];
  let byteLength = 0;
  let version = chunk.first;
  const page = (): MadePage => {
    const count = new BcsWriter().length32(items.length).toBytes();
    const bytes = new Uint8Array(count.length + byteLength);
    let at = 0;
    for (const part of [count, ...items]) {
      bytes.set(part, at);
      at += part.length;
    }
    const firstVersion = version - BigInt(items.length);
    items = [];
    byteLength = 0;
    return { bytes, firstVersion };
  };
  for (const record of recordsOf(data, chunk.last - chunk.first + 1n, chunk.data)) {
    const isFull = items.length >= PAGE_TRANSACTIONS || byteLength >= PAGE_BYTES;
    if (items.length > 0 && (isFull || version === start)) yield page();
    if (version === start && !accumulator.rootHash().equals(known.rootHash())) {
      throw unproved(chunk.data, `the versions before ${start} are not those that are known`);
    }
    const item = itemOf(chunk, record, version, accumulator);
    items.push(item);
    byteLength += item.length;
    version += 1n;
  }
  yield page();
}

/** A record as a TransactionOnChainData (docs/spec/ledger.md §3.1), and its info added to the accumulator. */
function itemOf(
  { data, hasAuxiliaryInfo }: TransactionChunk,
  record: Buffer,
  version: bigint,
  accumulator: MerkleAccumulator,
): Buffer {
  return decodeIn(data, `version ${version}`, record, (reader) => {
    readTransaction(reader);
    const transaction = record.subarray(0, reader.offset);
    const auxiliaryHash = hasAuxiliaryInfo ? readAuxiliaryHash(reader) : undefined;
    const infoStart = reader.offset;
    const info = readTransactionInfo(reader);
    const infoBytes = record.subarray(infoStart, reader.offset);
    const isSame =
      auxiliaryHash === undefined
        ? info.auxiliaryInfoHash === undefined
        : info.auxiliaryInfoHash?.equals(auxiliaryHash) === true;
    if (!isSame)
      throw unproved(data, `version ${version}: the auxiliary info is not that of its hash`);
    const eventsStart = reader.offset;
    const events = reader.itemCount(MIN_EVENT_BYTES);
    for (let index = 0; index < events; index += 1) readContractEvent(reader);
    const eventBytes = record.subarray(eventsStart, reader.offset);
    accumulator.append(transactionInfoHash(infoBytes));
    // The write set is the rest: the verifier decodes it.
    const changes = reader.fixed(reader.remaining);
    const head = new BcsWriter(8).u64(version).toBytes();
    return Buffer.concat([
      ...[head, transaction, infoBytes, eventBytes, accumulator.rootHash(), changes],
    ]);
  });
}

/** PersistedAuxiliaryInfo (docs/spec/ledger.md §3.3): only its variant 1 is hashed into the info. */
function readAuxiliaryHash(reader: BcsReader): Buffer | undefined {
  const start = reader.offset;
  const variant = reader.variant(3, 'PersistedAuxiliaryInfo');
  if (variant === 0) return undefined;
  reader.u32();
  if (variant === 2) return undefined;
  return domainHash('PersistedAuxiliaryInfo', reader.buffer.subarray(start, reader.offset));
}
