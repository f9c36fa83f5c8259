/**
 * Examines the versions of a ledger in order. With whole transactions, every hash is recomputed, the accumulator is
 * extended from genesis (or from the subtrees that pruning stored), and every row derived from a version is compared
 * with the stored one. Without them, the rows that each version is recorded to have written must exist.
 */
import { ChunkBuilder, ChunkDataError } from '../ingest/chunk-builder.ts';
import { PageError } from '../ingest/feed/page-error.ts';
import { checkItem } from '../ingest/feed/page-verifier.ts';
import { GenesisError, readGenesis } from '../ingest/genesis/genesis.ts';
import { computeGenesisHashes } from '../ingest/genesis/genesis-waypoint.ts';
import { BcsError, decodeBcs } from '../move/bcs/bcs-reader.ts';
import { encodeBcs } from '../move/bcs/bcs-writer.ts';
import { accumulatorRoot, MerkleAccumulator } from '../move/crypto/accumulator.ts';
import { contractEventHash, EventKey } from '../move/transactions/event.ts';
import { type EncodedOnChainData, readOnChainData } from '../move/transactions/transaction.ts';
import { TransactionInfo, transactionInfoHash } from '../move/transactions/transaction-info.ts';
import type { BatchOperation } from '../store/batch.ts';
import {
  ACCOUNT_TRANSACTIONS,
  type Column,
  EVENTS,
  HEAD,
  IDENTITY,
  MODULE_EVENTS,
  type RowKey,
  STATE,
  TRANSACTION_HASHES,
  TRANSACTION_INFOS,
  TRANSACTIONS,
  VERSION_WRITES,
} from '../store/columns/columns.ts';
import {
  decodeEventRow,
  decodeModuleEventRow,
  encodeStreamId,
  moduleEventBounds,
  type StoredEvent,
} from '../store/columns/event-column.ts';
import { type BucketKey, encodeBucketKey, encodeU64Key } from '../store/columns/order-key.ts';
import { decodeStateRow } from '../store/columns/state-column.ts';
import { rowsOfKey } from '../store/columns/state-key-column.ts';
import {
  type EmittedEvent,
  type VersionWrites,
  WRITES_OF_VERSION,
} from '../store/columns/version-writes-column.ts';
import { rowsBetween } from '../store/store.ts';
import { type ChunkKey, type ChunkRows, chunkRows } from '../store/write/chunk-rows.ts';
import { recordedWrites, type VerifyContext } from './context.ts';

const MODULE_EVENT_VARIANT = Buffer.of(1);
const VERSIONS_PER_REPORT = 256n;

/** Checks every version that is not cleared, and the rows it wrote. */
export async function verifyVersions(
  context: VerifyContext,
  onVersions: (versions: number) => void,
): Promise<void> {
  const { clearedBelow, frozenRoots } = context.progress;
  const { head } = context.view;
  const accumulator = new MerkleAccumulator('TransactionAccumulator', clearedBelow, frozenRoots);
  const examiner = new VersionExaminer(context, accumulator);
  for (let version = clearedBelow; version <= head.version; version += 1n) {
    await examiner.examine(version);
    if (version % VERSIONS_PER_REPORT === 0n) onVersions(Number(version - clearedBelow) + 1);
  }
  const roots = accumulator.frozenSubtreeRoots;
  const isSame =
    roots.length === head.frozenRoots.length &&
    roots.every((root, index) => root.equals(head.frozenRoots[index]!));
  if (isSame) return;
  const detail = 'its accumulator roots are not those of the infos';
  context.damages.add({ column: HEAD.name, version: head.version, detail });
}

class VersionExaminer {
  readonly #context: VerifyContext;
  readonly #accumulator: MerkleAccumulator;
  /** Once an info is wrong, every later root is: that is one damage and not a million. */
  #isChainBroken = false;

  constructor(context: VerifyContext, accumulator: MerkleAccumulator) {
    this.#context = context;
    this.#accumulator = accumulator;
  }

  async examine(version: bigint): Promise<void> {
    const key = encodeBucketKey(version);
    const info = await this.#examineInfo(version, key);
    const item = await this.#itemOf(version, key);
    if (item !== undefined) this.#examineItem(version, key, item, info);
    const made = item && this.#rowsOf(version, key, item);
    const stored = await recordedWrites(this.#context, version);
    if (stored !== undefined) this.#context.reached.writes += 1n;
    if (item === undefined || made === undefined) {
      await this.#examineRecorded(version, key, stored, info);
      return;
    }
    // Begun together: on an engine in another process each read is a round trip.
    await Promise.all([
      ...made.batch.rows.map((row) => this.#compare(version, row)),
      ...made.keys.map((written) => this.#examineKnown(version, written)),
    ]);
    await this.#examineRecord(version, key, made.batch.rows, stored, item);
  }

  async #examineInfo(version: bigint, key: BucketKey): Promise<Buffer | undefined> {
    const { damages } = this.#context;
    const read = await this.#get(TRANSACTION_INFOS, key, version);
    const info = read?.value;
    if (read !== undefined && info === undefined) {
      damages.row(TRANSACTION_INFOS, key, 'it is missing', version);
    }
    if (info !== undefined) this.#decodeInfo(version, key, info);
    // A missing info counts in the chain too, so that version numbers stay correct.
    this.#accumulator.append(transactionInfoHash(info ?? Buffer.alloc(0)));
    return info;
  }

  /** The value of a row; `undefined` when it cannot be read, which is reported. */
  #get(
    column: Column,
    { partition, order }: RowKey,
    version: bigint,
  ): Promise<{ readonly value: Buffer | undefined } | undefined> {
    const { damages, store } = this.#context;
    const read = async () => ({ value: await store.get(column, partition, order) });
    return damages.decoded(read, version);
  }

  #decodeInfo(version: bigint, key: BucketKey, info: Buffer): TransactionInfo | undefined {
    const decode = () => TransactionInfo.decode(info);
    return this.#decode(version, key, TRANSACTION_INFOS, decode);
  }

  #decode<T>(version: bigint, key: BucketKey, column: Column, decode: () => T): T | undefined {
    try {
      return decode();
    } catch (error) {
      const isDamage =
        error instanceof BcsError ||
        error instanceof PageError ||
        error instanceof ChunkDataError ||
        error instanceof GenesisError;
      if (!isDamage) throw error;
      this.#context.damages.row(column, key, error.message, version);
      return undefined;
    }
  }

  async #itemOf(version: bigint, key: BucketKey): Promise<EncodedOnChainData | undefined> {
    const { damages, identity } = this.#context;
    if (!identity.keepsTransactions) return undefined;
    const read = await this.#get(TRANSACTIONS, key, version);
    if (read === undefined) return undefined;
    const bytes = read.value;
    if (bytes === undefined) {
      damages.row(TRANSACTIONS, key, 'it is missing', version);
      return undefined;
    }
    return this.#decode(version, key, TRANSACTIONS, () => {
      const item = decodeBcs(bytes, readOnChainData);
      checkItem(item, version);
      return item;
    });
  }

  #examineItem(
    version: bigint,
    key: BucketKey,
    item: EncodedOnChainData,
    info: Buffer | undefined,
  ): void {
    const { damages } = this.#context;
    const root = this.#isChainBroken ? undefined : this.#accumulator.rootHash();
    const isRootRight = root?.equals(item.data.accumulatorRootHash) === true;
    if (info !== undefined && !info.equals(item.bytes.info)) {
      // The root covers the info that is stored: where it is right, so is that.
      if (isRootRight) {
        damages.row(TRANSACTIONS, key, 'the info in it is not the one its root covers', version);
      } else {
        damages.row(TRANSACTION_INFOS, key, 'it is not the info of the transaction', version);
      }
    }
    if (root !== undefined && !isRootRight) {
      this.#isChainBroken = true;
      const detail =
        'the accumulator of the infos up to here has another root than the transaction says; ' +
        'later roots are not compared';
      damages.row(TRANSACTIONS, key, detail, version);
    }
    if (version === 0n) this.#examineGenesis(key, item);
  }

  #examineGenesis(key: BucketKey, { bytes }: EncodedOnChainData): void {
    const { damages, identity } = this.#context;
    const made = this.#decode(0n, key, TRANSACTIONS, () => {
      const genesis = readGenesis(bytes.transaction);
      return { genesis, hashes: computeGenesisHashes(genesis) };
    });
    if (made === undefined) return;
    const { genesis, hashes } = made;
    if (!hashes.infoBytes.equals(bytes.info)) {
      damages.row(TRANSACTIONS, key, 'its info is not the one computed from genesis', 0n);
    }
    if (!hashes.waypoint.hash.equals(identity.genesisWaypointHash)) {
      damages.column(
        IDENTITY,
        `genesis has waypoint 0:${hashes.waypoint.hash.toString('hex')}`,
        0n,
      );
    }
    if (genesis.chainId !== identity.chainId) {
      const detail = `genesis is of chain ${genesis.chainId}, this says ${identity.chainId}`;
      damages.column(IDENTITY, detail, 0n);
    }
  }

  #rowsOf(version: bigint, key: BucketKey, { bytes }: EncodedOnChainData): ChunkRows | undefined {
    const { identity } = this.#context;
    return this.#decode(version, key, TRANSACTIONS, () => {
      const builder = new ChunkBuilder(version);
      const { info, events, changes, whole } = bytes;
      builder.add({ info, events, writeSet: changes, transaction: whole });
      return chunkRows(builder.finish([]), identity);
    });
  }

  async #compare(version: bigint, row: BatchOperation): Promise<void> {
    const { damages, progress, reached } = this.#context;
    const { column, partition, value } = row;
    if (column === VERSION_WRITES || column === TRANSACTIONS || column === TRANSACTION_INFOS) {
      return;
    }
    const read = await this.#get(column, row, version);
    if (read === undefined) return;
    const stored = read.value;
    if (stored === undefined) {
      // A deletion at the version below which all is cleared is itself cleared (docs/spec/ledger.md §5.6).
      const isClearing = column === STATE && version === progress.clearedBelow && version > 0n;
      const entry = { order: encodeU64Key(version), value: Buffer.from(value!) };
      if (isClearing && decodeStateRow(partition, entry).deletedKey !== undefined) return;
      damages.row(column, row, 'it is missing', version);
      return;
    }
    if (column === STATE) reached.state += 1n;
    if (column === EVENTS) reached.events += 1n;
    if (column === MODULE_EVENTS) reached.moduleEvents += 1n;
    if (column === TRANSACTION_HASHES) reached.hashes += 1n;
    if (column === ACCOUNT_TRANSACTIONS) reached.sent += 1n;
    if (Buffer.compare(stored, value!) !== 0) {
      damages.row(column, row, 'it is not what its transaction says', version);
    }
  }

  async #examineKnown(version: bigint, { physical, hash }: ChunkKey): Promise<void> {
    const { damages, store } = this.#context;
    const place = rowsOfKey(physical, hash).at(-1)!;
    const read = await this.#get(place.column, place, version);
    if (read === undefined || read.value !== undefined) return;
    // A key whose last write is a deletion that is cleared is forgotten with it.
    const [any] = await store.range(STATE, hash, { limit: 1 });
    if (any === undefined) return;
    damages.row(place.column, place, 'it is missing, though its key has state', version);
  }

  /** The record of a version's writes: its keys, its events, then the translations of its module events. */
  async #examineRecord(
    version: bigint,
    key: BucketKey,
    made: readonly BatchOperation[],
    stored: VersionWrites | undefined,
    { data }: EncodedOnChainData,
  ): Promise<void> {
    const { damages } = this.#context;
    const row = made.find(({ column }) => column === VERSION_WRITES);
    if (row === undefined && stored === undefined) return;
    const expected = row?.value ?? WRITES_OF_VERSION.encode({ keys: [], events: [] });
    const { length } = WRITES_OF_VERSION.decode(key, expected).events;
    const { keys, events } = stored ?? { keys: [], events: [] };
    const own = WRITES_OF_VERSION.encode({ keys, events: events.slice(0, length) });
    if (stored === undefined || !own.equals(expected)) {
      damages.row(VERSION_WRITES, key, 'it is not what its transaction says', version);
      return;
    }
    for (const event of events.slice(length)) {
      const found = await this.#eventRow(version, event);
      if (found === undefined || data.events[found.index]?.kind === 'v2') continue;
      const stream = `${event.address}/${event.creationNumber}`;
      const detail = `event ${event.sequenceNumber} of stream ${stream} was not emitted`;
      damages.row(VERSION_WRITES, key, detail, version);
    }
  }

  /** The recorded writes of a version exist, and its events match its info. */
  async #examineRecorded(
    version: bigint,
    key: BucketKey,
    stored: VersionWrites | undefined,
    info: Buffer | undefined,
  ): Promise<void> {
    const { damages, progress, reached, store } = this.#context;
    const order = encodeU64Key(version);
    for (const { hash } of stored?.keys ?? []) {
      const read = await this.#get(STATE, { partition: hash, order }, version);
      if (read === undefined || read.value !== undefined) reached.state += 1n;
      else if (version !== progress.clearedBelow || version === 0n) {
        damages.row(STATE, { partition: hash, order }, 'it is missing', version);
      }
    }
    const leaves = new Map<number, Buffer>();
    for (const event of stored?.events ?? []) {
      const row = await this.#eventRow(version, event);
      if (row !== undefined) leaves.set(row.index, streamEventHash(event, row));
    }
    // Module events come last: they replace their translations, which have the same index.
    const { partition } = key;
    const read = () => listed(rowsBetween(store, MODULE_EVENTS, ...moduleEventBounds(key)));
    for (const row of (await damages.decoded(read, version)) ?? []) {
      reached.moduleEvents += 1n;
      const decode = () => decodeModuleEventRow({ partition, ...row });
      const event = await damages.decoded(decode, version);
      if (event === undefined) continue;
      const bytes = Buffer.concat([MODULE_EVENT_VARIANT, event.encoded]);
      leaves.set(event.index, contractEventHash(bytes));
    }
    const events = [...leaves].sort(([left], [right]) => left - right);
    const isGapless = events.every(([index], place) => index === place);
    const hashes = events.map(([, leaf]) => leaf);
    const root = accumulatorRoot('EventAccumulator', hashes);
    const stated = info && this.#decodeInfo(version, key, info);
    if (stated === undefined || (isGapless && root.equals(stated.eventRootHash))) return;
    const detail = 'the events of its version are not those of its info';
    const column = leaves.size === 0 ? MODULE_EVENTS : EVENTS;
    damages.column(column, detail, version);
  }

  async #eventRow(version: bigint, event: EmittedEvent): Promise<StoredEvent | undefined> {
    const { damages, reached } = this.#context;
    const partition = encodeStreamId(event);
    const order = encodeU64Key(event.sequenceNumber);
    const read = await this.#get(EVENTS, { partition, order }, version);
    if (read === undefined) return undefined;
    const { value } = read;
    if (value === undefined) {
      damages.row(EVENTS, { partition, order }, 'it is missing', version);
      return undefined;
    }
    reached.events += 1n;
    const row = await damages.decoded(() => decodeEventRow(partition, { order, value }), version);
    if (row !== undefined && row.version !== version) {
      damages.row(EVENTS, { partition, order }, `it says version ${row.version}`, version);
    }
    return row;
  }
}

/** The leaf of an event of a stream, put together from its row (docs/spec/ledger.md §1.3). */
function streamEventHash(event: EmittedEvent, row: StoredEvent): Buffer {
  const head = encodeBcs((writer) => {
    EventKey.write(writer.uleb32(0), event);
    writer.u64(event.sequenceNumber);
  });
  return contractEventHash(Buffer.concat([head, row.encoded]));
}

async function listed<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}
