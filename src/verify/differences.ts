/**
 * Names the rows in which columns differ from what versions say, when the sums show that there are some: each row that
 * a version made is looked up, then each row of the columns is searched among those of its version.
 */
import type { BatchOperation } from '../store/batch.ts';
import { BLOCK_BY_HEIGHT } from '../store/columns/block-column.ts';
import {
  ACCOUNT_TRANSACTIONS,
  BLOCKS_BY_HEIGHT,
  BLOCKS_BY_VERSION,
  type Column,
  EPOCHS,
  EVENTS,
  type RowKey,
  type ScannedRow,
  STATE,
  TRANSACTION_HASHES,
  TRANSACTIONS,
} from '../store/columns/columns.ts';
import { decodeEventRow, encodeStreamId } from '../store/columns/event-column.ts';
import {
  decodeBucketKey,
  decodeU64Key,
  encodeBucketKey,
  encodeU64Key,
} from '../store/columns/order-key.ts';
import { rowsOfKey } from '../store/columns/state-key-column.ts';
import { SENDER_TRANSACTION } from '../store/columns/transaction-index-column.ts';
import { WRITES_OF_VERSION } from '../store/columns/version-writes-column.ts';
import { compareRowKeys } from '../store/store.ts';
import type { ChunkKey } from '../store/write/chunk-rows.ts';
import { DamageList, scanColumn, type VerifyContext } from './context.ts';
import { type DerivedVersion, deriveVersion } from './derived-version.ts';
import { isDeletion } from './versions.ts';

/** The version of a row of each column whose rows are compared by sums. @throws RowDamagedError */
const VERSION_OF = new Map<Column, (row: ScannedRow) => bigint>([
  [STATE, ({ order }) => decodeU64Key(order)],
  [EVENTS, (row) => decodeEventRow(row.partition, row).version],
  [TRANSACTION_HASHES, ({ order }) => decodeU64Key(order)],
  [ACCOUNT_TRANSACTIONS, (row) => SENDER_TRANSACTION.decode(row, row.value).version],
  [BLOCKS_BY_HEIGHT, (row) => BLOCK_BY_HEIGHT.decode(row, row.value).firstVersion],
  [BLOCKS_BY_VERSION, ({ partition, order }) => decodeBucketKey(partition, order)],
  [EPOCHS, ({ order }) => decodeU64Key(order)],
]);

export const SUMMED_COLUMNS: readonly Column[] = [...VERSION_OF.keys()];

/** @param areKeysKnown false: keys of written state may be missing, too */
export async function reportDifferences(
  context: VerifyContext,
  columns: readonly Column[],
  areKeysKnown: boolean,
): Promise<void> {
  const { progress, view } = context;
  if (columns.length === 0 && areKeysKnown) return;
  const differences = new Differences(context, columns, areKeysKnown);
  for (let version = progress.clearedBelow; version <= view.head.version; version += 1n) {
    await differences.reportMissing(version);
  }
  for (const column of columns) await differences.reportUnwritten(column);
}

class Differences {
  readonly #context: VerifyContext;
  readonly #columns: readonly Column[];
  readonly #areKeysKnown: boolean;
  /** Keys of the last requested version: most rows of a version follow one another. */
  #last: { readonly version: bigint; readonly keys: Promise<readonly ColumnKey[]> } | undefined;

  constructor(context: VerifyContext, columns: readonly Column[], areKeysKnown: boolean) {
    this.#context = context;
    this.#columns = columns;
    this.#areKeysKnown = areKeysKnown;
  }

  /** Reports rows that a version made and that are missing, or have another value. */
  async reportMissing(version: bigint): Promise<void> {
    const derived = await this.#deriveVersion(version);
    // Begun together: on an engine in another process each read is a round trip.
    if (derived === undefined) {
      const keys = this.#columns.includes(STATE) ? await this.#recordedState(version) : [];
      await Promise.all(keys.map((key) => this.#findRecorded(version, key)));
      return;
    }
    const rows = derived.rows.filter(({ column }) => this.#columns.includes(column));
    const keys = this.#areKeysKnown ? [] : derived.keys;
    await Promise.all([
      ...rows.map((row) => this.#compare(version, row)),
      ...keys.map((key) => this.#findKey(version, key)),
    ]);
  }

  /** Reports rows that no version made. */
  async reportUnwritten(column: Column): Promise<void> {
    const { damages, progress, view } = this.#context;
    const versionOf = VERSION_OF.get(column)!;
    for await (const row of scanColumn(this.#context, column)) {
      // A row that does not decode is reported already.
      const version = await new DamageList().decoded(() => versionOf(row));
      if (version === undefined) continue;
      if (version < progress.clearedBelow || version > view.head.version) continue;
      const keys = await this.#keysOf(version);
      const isWritten = keys.some((key) => key.column === column && compareRowKeys(key, row) === 0);
      if (!isWritten) damages.row(column, row, 'its version did not write it', version);
    }
  }

  async #compare(version: bigint, row: BatchOperation): Promise<void> {
    const { damages, progress } = this.#context;
    const { column, value } = row;
    const found = await this.#get(version, row);
    if (found === undefined) return;
    const [stored] = found;
    if (stored === undefined) {
      const isClearing = version === progress.clearedBelow && version > 0n;
      if (!isClearing || !isDeletion(row)) damages.row(column, row, 'it is missing', version);
    } else if (Buffer.compare(stored, value!) !== 0) {
      damages.row(column, row, 'it is not what its transaction says', version);
    }
  }

  async #findRecorded(version: bigint, key: ColumnKey): Promise<void> {
    const { damages, progress } = this.#context;
    if (version === progress.clearedBelow && version > 0n) return;
    const found = await this.#get(version, key);
    if (found === undefined || found[0] !== undefined) return;
    damages.row(key.column, key, 'it is missing', version);
  }

  async #findKey(version: bigint, { physical, hash }: ChunkKey): Promise<void> {
    const { damages, store } = this.#context;
    const place = rowsOfKey(physical, hash).at(-1)!;
    const found = await this.#get(version, place);
    if (found === undefined || found[0] !== undefined) return;
    // A key whose last write is a deletion that is cleared is forgotten with it.
    const [any] = await store.range(STATE, hash, { limit: 1 });
    if (any === undefined) return;
    damages.row(place.column, place, 'it is missing, though its key has state', version);
  }

  /** The value of a row; `undefined` when it cannot be read, which is reported where its column is read. */
  async #get(
    version: bigint,
    { column, partition, order }: ColumnKey,
  ): Promise<[Buffer | undefined] | undefined> {
    const { damages, store } = this.#context;
    const read = async () => [await store.get(column, partition, order)] as [Buffer | undefined];
    return await damages.decoded(read, version);
  }

  #keysOf(version: bigint): Promise<readonly ColumnKey[]> {
    if (this.#last?.version !== version) this.#last = { version, keys: this.#allKeys(version) };
    return this.#last.keys;
  }

  /** The keys of the rows that a version wrote, as far as its transaction and its record tell. */
  async #allKeys(version: bigint): Promise<readonly ColumnKey[]> {
    const derived = await this.#deriveVersion(version);
    const events = (await this.#recordedWrites(version))?.events ?? [];
    const eventKeys = events.map((event) => ({
      column: EVENTS,
      partition: encodeStreamId(event),
      order: encodeU64Key(event.sequenceNumber),
    }));
    return [...(derived?.rows ?? (await this.#recordedState(version))), ...eventKeys];
  }

  async #recordedState(version: bigint): Promise<readonly ColumnKey[]> {
    const order = encodeU64Key(version);
    const keys = (await this.#recordedWrites(version))?.keys ?? [];
    return keys.map(({ hash }) => ({ column: STATE, partition: hash, order }));
  }

  #recordedWrites(version: bigint) {
    return new DamageList().decoded(() => WRITES_OF_VERSION.get(this.#context.store, version));
  }

  /** What cannot be read or does not decode was reported when the version was examined. */
  async #deriveVersion(version: bigint): Promise<DerivedVersion | undefined> {
    const { identity, store } = this.#context;
    if (!identity.keepsTransactions) return undefined;
    const unreported = new DamageList();
    const key = encodeBucketKey(version);
    const read = async () => store.get(TRANSACTIONS, key.partition, key.order);
    const bytes = await unreported.decoded(read);
    return bytes && deriveVersion(unreported, identity, version, key, bytes);
  }
}

interface ColumnKey extends RowKey {
  readonly column: Column;
}
