/** Reads chunks of transactions and verifies them (docs/spec/backup.md §4.7). */
import { BcsReader } from '../../move/bcs/bcs-reader.ts';
import { BcsWriter, encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { MerkleAccumulator } from '../../move/crypto/accumulator.ts';
import { domainHash } from '../../move/crypto/hash.ts';
import { ContractEvent } from '../../move/transactions/event.ts';
import { readOnChainData, Transaction } from '../../move/transactions/transaction.ts';
import { TransactionInfo, transactionInfoHash } from '../../move/transactions/transaction-info.ts';
import { PageError } from '../feed/page-error.ts';
import type { TrustedRoot } from '../feed/page-verifier.ts';
import { frozenRootsOf, type VerifiedPage } from '../feed/verified-page.ts';
import type { Verifier } from '../feed/verifier.ts';
import { BackupError, unproved } from './backup-error.ts';
import { decodeIn, recordsOf, type StoredPair } from './backup-files.ts';
import {
  accumulatorOf,
  checkCovered,
  type LedgerInfoCheck,
  readRangeProofOf,
} from './ledger-proofs.ts';
import type { TransactionChunk } from './manifests.ts';

/** Maximum number of versions that are verified together, and of their bytes, as in a page of a feed. */
const PAGE_TRANSACTIONS = 1_000;
const PAGE_BYTES = 4 * 1024 * 1024;

/** More transactions than a block has, including discarded ones. */
const MAX_BLOCK_TRANSACTIONS = 65_536;

/** Versions as a feed sends them, so that the same verifier checks them. */
interface UnverifiedPage {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly firstVersion: bigint;
}

interface VerifiedChunk {
  /** Pages of the versions that were not known yet. */
  readonly pages: readonly VerifiedPage[];
  readonly accumulator: MerkleAccumulator;
}

interface TransactionChecks {
  /**
   * The accumulator before the first version that is needed. The chunk contains that version. Earlier versions in it
   * are verified and dropped.
   */
  readonly known: MerkleAccumulator;
  readonly infos: LedgerInfoCheck;
  readonly trustedRoots: readonly TrustedRoot[];
  readonly verifier: Verifier;
}

/**
 * Verifies a chunk as a whole.
 * @returns undefined if its epoch is later than those whose validators are known
 * @throws BackupError
 */
export async function verifyTransactions(
  chunk: TransactionChunk,
  { data, proof }: StoredPair,
  { known, infos, trustedRoots, verifier }: TransactionChecks,
): Promise<VerifiedChunk | undefined> {
  const { left, right, signed } = readRangeProofOf(proof, chunk.proof);
  const isOfLaterEpoch = signed.info.epoch > infos.nextEpoch;
  if (!isOfLaterEpoch) infos.check(signed, chunk.proof);
  const before = accumulatorOf(chunk.first, left, chunk.proof);
  verifier.start({
    nextVersion: chunk.first,
    frozenRoots: before.frozenSubtreeRoots,
    trustedRoots,
    waypoint: undefined,
  });
  const pages: VerifiedPage[] = [];
  let last: VerifiedPage | undefined;
  for (const { bytes, firstVersion } of pagesOf(chunk, data, before, known)) {
    last = await withPageErrors(chunk.data, () => verifier.verify(bytes));
    if (firstVersion >= known.leafCount) pages.push(last);
  }
  // Taken from the verified pages, not from the records.
  const roots = frozenRootsOf(last!.end);
  const accumulator = new MerkleAccumulator('TransactionAccumulator', chunk.last + 1n, roots);
  checkCovered(accumulator, right, signed.info, chunk.proof);
  // Checked last: a wrong proof must not pass for one of a later epoch, which ends the ledger without an error.
  if (isOfLaterEpoch) return undefined;
  return { pages, accumulator };
}

/** Runs a comparison of the feed. @throws BackupError `backup_unproved` in place of PageError */
export async function withPageErrors<T>(
  file: string | undefined,
  compare: () => Promise<T>,
): Promise<T> {
  try {
    return await compare();
  } catch (cause) {
    if (!(cause instanceof PageError)) throw cause;
    throw new BackupError('backup_unproved', cause.message, file, { cause });
  }
}

/** Makes pages of a feed from the records of a chunk. One page begins right after the known versions. */
function* pagesOf(
  chunk: TransactionChunk,
  data: Buffer,
  accumulator: MerkleAccumulator,
  known: MerkleAccumulator,
): Generator<UnverifiedPage> {
  const start = known.leafCount;
  let items: Buffer[] = [];
  let byteLength = 0;
  let version = chunk.first;
  const page = (): UnverifiedPage => {
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

/** Makes a TransactionOnChainData (docs/spec/ledger.md §3.1) from a record, and adds its info to the accumulator. */
function itemOf(
  { data, hasAuxiliaryInfo }: TransactionChunk,
  record: Buffer,
  version: bigint,
  accumulator: MerkleAccumulator,
): Buffer {
  return decodeIn(data, `version ${version}`, record, (reader) => {
    Transaction.read(reader);
    const transaction = record.subarray(0, reader.offset);
    const auxiliaryHash = hasAuxiliaryInfo ? readAuxiliaryHash(reader) : undefined;
    const infoStart = reader.offset;
    const info = TransactionInfo.read(reader);
    const infoBytes = record.subarray(infoStart, reader.offset);
    const isSame =
      auxiliaryHash === undefined
        ? info.auxiliaryInfoHash === undefined
        : info.auxiliaryInfoHash?.equals(auxiliaryHash) === true;
    if (!isSame)
      throw unproved(data, `version ${version}: the auxiliary info is not that of its hash`);
    const eventsStart = reader.offset;
    const events = reader.itemCount(ContractEvent.minBytes);
    for (let index = 0; index < events; index += 1) ContractEvent.read(reader);
    const eventBytes = record.subarray(eventsStart, reader.offset);
    accumulator.append(transactionInfoHash(infoBytes));
    // The rest is the write set, which the verifier decodes.
    const changes = reader.fixed(reader.remaining);
    const head = new BcsWriter(8).u64(version).toBytes();
    return Buffer.concat([
      ...[head, transaction, infoBytes, eventBytes, accumulator.rootHash(), changes],
    ]);
  });
}

/** Reads a PersistedAuxiliaryInfo (docs/spec/ledger.md §3.3). Infos contain the hash of variant 1 only. */
function readAuxiliaryHash(reader: BcsReader): Buffer | undefined {
  const start = reader.offset;
  const variant = reader.variant(3, 'PersistedAuxiliaryInfo');
  if (variant === 0) return undefined;
  reader.u32();
  if (variant === 2) return undefined;
  return domainHash('PersistedAuxiliaryInfo', reader.buffer.subarray(start, reader.offset));
}

export class TransactionRecords {
  readonly accumulator: MerkleAccumulator;
  #index = -1;

  /** @param accumulator before the first record, which begins a block */
  constructor(accumulator: MerkleAccumulator) {
    this.accumulator = accumulator;
  }

  /** @param item BCS of a TransactionOnChainData @throws BcsError; RangeError for an unknown auxiliary info */
  write(record: BcsWriter, item: Buffer): void {
    const { data, bytes } = readOnChainData(new BcsReader(item));
    const auxiliary = this.#auxiliaryInfo(data.info.auxiliaryInfoHash);
    record.fixed(bytes.transaction).fixed(auxiliary).fixed(bytes.info);
    record.vector(bytes.events, (inner, event) => inner.fixed(event)).fixed(bytes.changes);
    this.accumulator.append(transactionInfoHash(bytes.info));
  }

  /**
   * Nodes do not serve it. But it only contains the index of the transaction in its block, so its hash identifies it.
   */
  #auxiliaryInfo(hash: Buffer | undefined): Buffer {
    if (hash === undefined) return Buffer.of(0);
    for (const index of indexesAfter(this.#index)) {
      const info = encodeBcs((writer) => writer.u8(1).u32(index));
      if (!domainHash('PersistedAuxiliaryInfo', info).equals(hash)) continue;
      this.#index = index;
      return info;
    }
    throw new RangeError(`version ${this.accumulator.leafCount} has another auxiliary info`);
  }
}

/** Possible indexes of a transaction in its block, likely ones first. Discarded transactions leave gaps. */
function* indexesAfter(index: number): Generator<number> {
  yield index + 1;
  yield 0;
  for (let next = index + 2; next < MAX_BLOCK_TRANSACTIONS; next += 1) yield next;
}
