/**
 * Examines the versions of a ledger in order. With whole transactions, every hash is recomputed, the accumulator is
 * extended from genesis (or from the subtrees that pruning stored), and every row derived from a version is compared
 * with the stored one: those that are stored by version at once, all others by their sums (row-sums.ts). Without
 * transactions, the rows that each version is recorded to have written must exist.
 */
import { readGenesis } from '../ingest/genesis/genesis.ts';
import { computeGenesisHashes } from '../ingest/genesis/genesis-waypoint.ts';
import { encodeBcs } from '../move/bcs/bcs-writer.ts';
import { accumulatorRoot, MerkleAccumulator } from '../move/crypto/accumulator.ts';
import { contractEventHash, EventKey } from '../move/transactions/event.ts';
import { TransactionInfo, transactionInfoHash } from '../move/transactions/transaction-info.ts';
import type { BatchOperation } from '../store/batch.ts';
import {
  type Column,
  EVENTS,
  HEAD,
  IDENTITY,
  MODULE_EVENTS,
  type ScannedRow,
  STATE,
  TRANSACTION_INFOS,
  TRANSACTIONS,
  VERSION_WRITES,
} from '../store/columns/columns.ts';
import {
  decodeEventRow,
  decodeModuleEventRow,
  encodeStreamId,
  type StoredEvent,
  type StoredModuleEvent,
} from '../store/columns/event-column.ts';
import { windowEnd } from '../store/columns/event-type-column.ts';
import { type BucketKey, encodeBucketKey, encodeU64Key } from '../store/columns/order-key.ts';
import { decodeStateRow } from '../store/columns/state-column.ts';
import {
  type EmittedEvent,
  type VersionWrites,
  WRITES_OF_VERSION,
} from '../store/columns/version-writes-column.ts';
import { compareRowKeys, type StoreReader } from '../store/store.ts';
import { nextTurn } from '../yield-budget.ts';
import { DamageList, readEach, type VerifyContext } from './context.ts';
import { type DerivedVersion, decodedPart, deriveVersion } from './derived-version.ts';
import { EventTypeExaminer } from './event-type-index.ts';
import { NO_VALUE, type RowSums, type SavedSums } from './row-sums.ts';
import type { PartSaver } from './saved-part.ts';
import { type SavedVersionRows, VersionRows } from './version-rows.ts';

const MODULE_EVENT_VARIANT = Buffer.of(1);
const VERSIONS_PER_REPORT = 256n;
/** Columns whose rows are compared version by version. */
export const BY_VERSION: readonly Column[] = [
  TRANSACTION_INFOS,
  TRANSACTIONS,
  VERSION_WRITES,
  MODULE_EVENTS,
];

/** How far versions were examined, after the last of a window of event types. */
export interface SavedVersions {
  /** The next version. */
  readonly next: bigint;
  readonly frozenRoots: readonly Uint8Array[];
  readonly expectedSums: SavedSums;
  readonly isComplete: boolean;
  readonly isChainBroken: boolean;
  readonly comparedWindows: bigint;
  /** Progress in each column by version. */
  readonly rows: readonly SavedVersionRows[];
}

interface VersionsRun {
  /** Gets the rows that versions say the other columns have. */
  readonly expectedSums: RowSums;
  readonly saver: PartSaver;
  /** Progress of the run that is continued. */
  readonly saved: SavedVersions | undefined;
  onVersions(versions: number): void;
}

/**
 * Examines every version that is not cleared, and the columns by version.
 * @returns false if a version did not say which rows the other columns have
 */
export async function verifyVersions(
  context: VerifyContext,
  { expectedSums, saver, saved, onVersions }: VersionsRun,
): Promise<boolean> {
  const { clearedBelow, frozenRoots: firstRoots } = context.progress;
  const { head } = context.view;
  const next = saved?.next ?? clearedBelow;
  const frozenRoots = saved?.frozenRoots.map((root) => Buffer.from(root)) ?? firstRoots;
  const accumulator = new MerkleAccumulator('TransactionAccumulator', next, frozenRoots);
  const examiner = new VersionExaminer(context, accumulator, expectedSums, saved);
  for (let version = next; version <= head.version; version += 1n) {
    await examiner.examine(version);
    if (version % VERSIONS_PER_REPORT === 0n) onVersions(Number(version - clearedBelow) + 1);
    if (version !== windowEnd(version)) continue;
    await examiner.endWindow();
    saver.saveIfDue(context, () => examiner.save(version + 1n));
  }
  await examiner.finish();
  const roots = accumulator.frozenSubtreeRoots;
  const isSame =
    roots.length === head.frozenRoots.length &&
    roots.every((root, index) => root.equals(head.frozenRoots[index]!));
  if (!isSame) {
    const detail = 'its accumulator roots are not those of the infos';
    context.damages.add({ column: HEAD.name, version: head.version, detail });
  }
  return examiner.isComplete;
}

class VersionExaminer {
  readonly #context: VerifyContext;
  readonly #accumulator: MerkleAccumulator;
  readonly #expectedSums: RowSums;
  readonly #types: EventTypeExaminer;
  readonly #infos: VersionRows;
  readonly #transactions: VersionRows;
  readonly #writes: VersionRows;
  readonly #moduleEvents: VersionRows;
  readonly #columns: readonly VersionRows[];
  /** After a wrong info every later root is wrong too: that counts as one damage. */
  #isChainBroken: boolean;
  isComplete: boolean;

  constructor(
    context: VerifyContext,
    accumulator: MerkleAccumulator,
    expectedSums: RowSums,
    saved: SavedVersions | undefined,
  ) {
    this.#context = context;
    this.#accumulator = accumulator;
    this.#expectedSums = expectedSums;
    this.#isChainBroken = saved?.isChainBroken ?? false;
    this.isComplete = saved?.isComplete ?? true;
    this.#types = new EventTypeExaminer(context, saved?.comparedWindows);
    const [infos, transactions, writes, moduleEvents] = saved?.rows ?? [];
    this.#infos = new VersionRows(context, TRANSACTION_INFOS, infos);
    this.#transactions = new VersionRows(context, TRANSACTIONS, transactions);
    this.#writes = new VersionRows(context, VERSION_WRITES, writes);
    this.#moduleEvents = new VersionRows(
      context,
      MODULE_EVENTS,
      moduleEvents,
      async (row, version) => {
        const detail = 'its version was pruned, and yet it is there';
        context.damages.row(MODULE_EVENTS, row, detail, version);
        await this.#examineModuleEvents(version, [row]);
      },
    );
    this.#columns = [this.#infos, this.#transactions, this.#writes, this.#moduleEvents];
  }

  endWindow(): Promise<void> {
    return this.#types.endWindow();
  }

  /** @param next the version after the last of a window */
  save(next: bigint): SavedVersions {
    return {
      next,
      frozenRoots: this.#accumulator.frozenSubtreeRoots,
      expectedSums: this.#expectedSums.save(),
      isComplete: this.isComplete,
      isChainBroken: this.#isChainBroken,
      comparedWindows: this.#types.compared,
      rows: this.#columns.map((column) => column.save(Number(next))),
    };
  }

  async examine(version: bigint): Promise<void> {
    // All columns read their next pages in one turn.
    if (this.#infos.isAtEndOfPage) await nextTurn();
    const key = encodeBucketKey(version);
    const info = await this.#examineInfo(version, key);
    const derived = await this.#deriveVersion(version, key);
    if (derived !== undefined) this.#examineItem(version, key, derived, info);
    const rows = await this.#writes.of(version);
    const stored = rows?.[0];
    const moduleEvents = await this.#moduleEvents.of(version);
    const events = await this.#examineModuleEvents(version, moduleEvents ?? []);
    if (derived === undefined) {
      if (this.#context.identity.keepsTransactions) this.isComplete = false;
      const writes = stored && (await this.#decodeWrites(version, stored));
      await this.#examineRecorded(version, key, { writes, info, events });
      return;
    }
    await this.#addExpected(version, derived);
    if (moduleEvents !== undefined) this.#compareModuleEvents(version, derived, moduleEvents);
    if (rows !== undefined) await this.#examineRecord(version, key, derived, stored);
  }

  /** Reads what is left of the columns. */
  async finish(): Promise<void> {
    for (const column of this.#columns) await column.finish();
    await this.#types.finish();
  }

  async #examineInfo(version: bigint, key: BucketKey): Promise<Buffer | undefined> {
    const { damages } = this.#context;
    const rows = await this.#infos.of(version);
    const info = rows?.[0]?.value;
    if (rows?.length === 0) damages.row(TRANSACTION_INFOS, key, 'it is missing', version);
    // A missing info counts in the chain too, so that version numbers stay correct.
    this.#accumulator.append(transactionInfoHash(info ?? Buffer.alloc(0)));
    return info;
  }

  async #deriveVersion(version: bigint, key: BucketKey): Promise<DerivedVersion | undefined> {
    const { damages, identity } = this.#context;
    const rows = await this.#transactions.of(version);
    const [row] = rows ?? [];
    if (!identity.keepsTransactions) {
      const detail = 'there should be no such row';
      if (row !== undefined) damages.row(TRANSACTIONS, row, detail, version);
      return undefined;
    }
    if (rows?.length === 0) damages.row(TRANSACTIONS, key, 'it is missing', version);
    return row && deriveVersion(damages, identity, version, key, row.value);
  }

  #examineItem(
    version: bigint,
    key: BucketKey,
    { item }: DerivedVersion,
    info: Buffer | undefined,
  ): void {
    const { damages } = this.#context;
    const root = this.#isChainBroken ? undefined : this.#accumulator.rootHash();
    const isRootCorrect = root?.equals(item.data.accumulatorRootHash) === true;
    if (info !== undefined && !info.equals(item.bytes.info)) {
      // The root covers the stored info: if the root is right, so is the info.
      if (isRootCorrect) {
        damages.row(TRANSACTIONS, key, 'the info in it is not the one its root covers', version);
      } else {
        damages.row(TRANSACTION_INFOS, key, 'it is not the info of the transaction', version);
      }
    }
    if (root !== undefined && !isRootCorrect) {
      this.#isChainBroken = true;
      const detail =
        'the accumulator of the infos up to here has another root than the transaction says; ' +
        'later roots are not compared';
      damages.row(TRANSACTIONS, key, detail, version);
    }
    if (version === 0n) this.#examineGenesis(key, item.bytes);
  }

  #examineGenesis(key: BucketKey, { info, transaction }: DerivedVersion['item']['bytes']): void {
    const { damages, identity } = this.#context;
    const decoded = decodedPart(damages, { column: TRANSACTIONS, key, version: 0n }, () => {
      const genesis = readGenesis(transaction);
      return { genesis, hashes: computeGenesisHashes(genesis) };
    });
    if (decoded === undefined) return;
    const { genesis, hashes } = decoded;
    if (!hashes.infoBytes.equals(info)) {
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

  async #examineModuleEvents(
    version: bigint,
    rows: readonly ScannedRow[],
  ): Promise<readonly StoredModuleEvent[]> {
    const events: StoredModuleEvent[] = [];
    for (const row of rows) {
      const decode = () => decodeModuleEventRow(row);
      const event = await this.#context.damages.decoded(decode, version);
      if (event === undefined) continue;
      events.push(event);
      await this.#types.add(version, event.typeTag);
    }
    return events;
  }

  async #addExpected(version: bigint, { rows }: DerivedVersion): Promise<void> {
    const { progress, store } = this.#context;
    for (const row of rows) {
      if (BY_VERSION.includes(row.column)) continue;
      const isClearing = version === progress.clearedBelow && version > 0n;
      if (isClearing && isDeletion(row) && !(await isStored(store, row))) continue;
      this.#expectedSums.add(row.column, row, row.value!);
    }
  }

  #compareModuleEvents(
    version: bigint,
    { rows }: DerivedVersion,
    stored: readonly ScannedRow[],
  ): void {
    const { damages } = this.#context;
    let at = 0;
    const skipTo = (derived?: DerivedVersion['rows'][number]): void => {
      for (; at < stored.length; at += 1) {
        if (derived !== undefined && compareRowKeys(stored[at]!, derived) >= 0) return;
        damages.row(MODULE_EVENTS, stored[at]!, 'its version did not write it', version);
      }
    };
    for (const derived of rows) {
      if (derived.column !== MODULE_EVENTS) continue;
      skipTo(derived);
      const found = stored[at];
      if (found === undefined || compareRowKeys(found, derived) > 0) {
        damages.row(MODULE_EVENTS, derived, 'it is missing', version);
        continue;
      }
      at += 1;
      if (Buffer.compare(found.value, derived.value!) !== 0) {
        damages.row(MODULE_EVENTS, derived, 'it is not what its transaction says', version);
      }
    }
    skipTo();
  }

  #decodeWrites(version: bigint, row: ScannedRow): Promise<VersionWrites | undefined> {
    const { damages } = this.#context;
    return damages.decoded(() => WRITES_OF_VERSION.decode(row, row.value), version);
  }

  /** The record of a version's writes: its keys, its events, then the translations of its module events. */
  async #examineRecord(
    version: bigint,
    key: BucketKey,
    { rows, isModuleEvent }: DerivedVersion,
    stored: ScannedRow | undefined,
  ): Promise<void> {
    const { damages } = this.#context;
    const derived = rows.find(({ column }) => column === VERSION_WRITES)?.value;
    if (stored === undefined && derived === undefined) return;
    if (stored !== undefined && derived !== undefined && stored.value.equals(derived)) return;
    const expected = derived ?? WRITES_OF_VERSION.encode({ keys: [], events: [] });
    const { length } = WRITES_OF_VERSION.decode(key, expected).events;
    const found = stored && (await this.#decodeWrites(version, stored));
    const { keys, events } = found ?? { keys: [], events: [] };
    const recorded = WRITES_OF_VERSION.encode({ keys, events: events.slice(0, length) });
    if (found === undefined || !recorded.equals(expected)) {
      damages.row(VERSION_WRITES, key, 'it is not what its transaction says', version);
      return;
    }
    const translated = events.slice(length);
    for (const [index, row] of (await this.#eventRows(version, translated)).entries()) {
      if (row === undefined || isModuleEvent[row.index] === true) continue;
      const event = translated[index]!;
      const stream = `${event.address}/${event.creationNumber}`;
      const detail = `event ${event.sequenceNumber} of stream ${stream} was not emitted`;
      damages.row(VERSION_WRITES, key, detail, version);
    }
  }

  /** The recorded writes of a version exist, and its events match its info. */
  async #examineRecorded(
    version: bigint,
    key: BucketKey,
    { writes, info, events: moduleEvents }: RecordedVersion,
  ): Promise<void> {
    const { damages, progress, store } = this.#context;
    const order = encodeU64Key(version);
    for (const { hash } of writes?.keys ?? []) {
      const row = { column: STATE, partition: hash, order };
      const isClearing = version === progress.clearedBelow && version > 0n;
      if (isClearing && !(await isStored(store, row))) continue;
      this.#expectedSums.add(STATE, row, NO_VALUE);
    }
    const leaves = new Map<number, Buffer>();
    const events = writes?.events ?? [];
    for (const [index, row] of (await this.#eventRows(version, events)).entries()) {
      if (row !== undefined) leaves.set(row.index, streamEventHash(events[index]!, row));
    }
    // Module events come last: they replace their translations, which have the same index.
    for (const { index, encoded } of moduleEvents) {
      leaves.set(index, contractEventHash(Buffer.concat([MODULE_EVENT_VARIANT, encoded])));
    }
    const byIndex = [...leaves].sort(([left], [right]) => left - right);
    const isGapless = byIndex.every(([index], place) => index === place);
    const hashes = byIndex.map(([, leaf]) => leaf);
    const root = accumulatorRoot('EventAccumulator', hashes);
    const decode = () => TransactionInfo.decode(info!);
    const place = { column: TRANSACTION_INFOS, key, version };
    const decoded = info && decodedPart(damages, place, decode);
    if (decoded === undefined || (isGapless && root.equals(decoded.eventRootHash))) return;
    const detail = 'the events of its version are not those of its info';
    const column = leaves.size === 0 ? MODULE_EVENTS : EVENTS;
    damages.column(column, detail, version);
  }

  /** The rows of events that the record of a version names; `undefined` for those that cannot be read. */
  async #eventRows(
    version: bigint,
    events: readonly EmittedEvent[],
  ): Promise<readonly (StoredEvent | undefined)[]> {
    if (events.length === 0) return [];
    const { damages, store } = this.#context;
    const keys = events.map((event) => ({
      partition: encodeStreamId(event),
      order: encodeU64Key(event.sequenceNumber),
    }));
    const read = await readEach(damages, keys, (some) => store.getMany(EVENTS, some));
    const rows: (StoredEvent | undefined)[] = [];
    for (const [index, found] of read.entries()) {
      const { partition, order } = keys[index]!;
      const value = found?.[0];
      if (found !== undefined && value === undefined) {
        damages.row(EVENTS, { partition, order }, 'it is missing', version);
      }
      if (value !== undefined) this.#expectedSums.add(EVENTS, { partition, order }, value);
      const decode = () => decodeEventRow(partition, { order, value: value! });
      const row = value && (await damages.decoded(decode, version));
      if (row !== undefined && row.version !== version) {
        damages.row(EVENTS, { partition, order }, `it says version ${row.version}`, version);
      }
      rows.push(row);
    }
    return rows;
  }
}

/** What is known of a version without its transaction. */
interface RecordedVersion {
  readonly info: Buffer | undefined;
  readonly writes: VersionWrites | undefined;
  /** Module events. */
  readonly events: readonly StoredModuleEvent[];
}

/**
 * A deletion at the version below which all is cleared may itself be cleared (docs/spec/ledger.md §5.6).
 * @param row that a version made
 */
export function isDeletion({ column, partition, order, value }: BatchOperation): boolean {
  if (column !== STATE) return false;
  const row = { order: Buffer.from(order), value: Buffer.from(value!) };
  return decodeStateRow(partition, row).deletedKey !== undefined;
}

async function isStored(
  store: StoreReader,
  { column, partition, order }: Pick<BatchOperation, 'column' | 'partition' | 'order'>,
): Promise<boolean> {
  // Unreadable rows are reported where their column is read.
  const read = async () => (await store.get(column, partition, order)) !== undefined;
  return (await new DamageList().decoded(read)) === true;
}

/** The leaf of an event of a stream, put together from its row (docs/spec/ledger.md §1.3). */
function streamEventHash(event: EmittedEvent, row: StoredEvent): Buffer {
  const head = encodeBcs((writer) => {
    EventKey.write(writer.uleb32(0), event);
    writer.u64(event.sequenceNumber);
  });
  return contractEventHash(Buffer.concat([head, row.encoded]));
}
