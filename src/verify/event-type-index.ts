/**
 * Compares the index of module events by type with the events, window by window: what a window lacks, what it names
 * too much, and windows that no event belongs to.
 */
import { EVENT_TYPES, MODULE_EVENTS, type ScannedRow } from '../store/columns/columns.ts';
import { decodeModuleEventRow, moduleEventBounds } from '../store/columns/event-column.ts';
import {
  placeInWindow,
  TYPE_WINDOW,
  typePartition,
  type WindowVersions,
  windowEnd,
  windowStart,
} from '../store/columns/event-type-column.ts';
import { decodeU64Key, encodeBucketKey } from '../store/columns/order-key.ts';
import { rowsBetween } from '../store/store.ts';
import { isDamaged } from '../store/store-error.ts';
import { EventTypeIndex, type FilledWindow } from '../store/write/event-type-index.ts';
import { DamageList, reportAbove, scanColumn, type VerifyContext } from './context.ts';

export class EventTypeExaminer {
  readonly #context: VerifyContext;
  #types = new EventTypeIndex();
  #windowEnd = -1n;
  #compared: bigint;

  /** @param compared rows that the continued run had compared */
  constructor(context: VerifyContext, compared = 0n) {
    this.#context = context;
    this.#compared = compared;
  }

  /** Rows that were compared with the events of their windows. */
  get compared(): bigint {
    return this.#compared;
  }

  /** Takes the module events up to the head, in their order. @param typeTag BCS */
  async add(version: bigint, typeTag: Uint8Array): Promise<void> {
    if (version > this.#windowEnd) {
      await this.endWindow();
      this.#windowEnd = windowEnd(version);
    }
    this.#types.add(version, typeTag);
  }

  async finish(): Promise<void> {
    await this.endWindow();
    if ((await this.#countRows()) !== this.#compared) await this.#reportUnwrittenRows();
  }

  /** Compares the rows of the window that has ended. */
  async endWindow(): Promise<void> {
    const { windows } = this.#types;
    this.#types = new EventTypeIndex();
    const keys = windows.map((window) => TYPE_WINDOW.keyOf(window));
    const values = await this.#context.store.getMany(EVENT_TYPES, keys);
    for (const [index, window] of windows.entries()) {
      await this.#compareRow(window, values[index]);
    }
  }

  async #compareRow(window: FilledWindow, value: Buffer | undefined): Promise<void> {
    const { damages } = this.#context;
    const key = TYPE_WINDOW.keyOf(window);
    if (value === undefined) {
      damages.row(EVENT_TYPES, key, 'it is missing', window.start);
      return;
    }
    this.#compared += 1n;
    const stored = await damages.decoded(() => TYPE_WINDOW.decode(key, value), window.start);
    if (stored === undefined) return;
    const visible = this.#upToHead(window.start, stored);
    if (visible.count < stored.count) reportAbove(this.#context, EVENT_TYPES, key);
    if (visible.equals(window.versions)) return;
    damages.row(EVENT_TYPES, key, 'it does not name the versions of its events', window.start);
  }

  #upToHead(start: bigint, versions: WindowVersions): WindowVersions {
    const { version } = this.#context.view.head;
    if (version >= windowEnd(start)) return versions;
    return versions.between(0, placeInWindow(version));
  }

  async #countRows(): Promise<bigint> {
    const { version } = this.#context.view.head;
    let rows = 0n;
    for await (const row of scanColumn(this.#context, EVENT_TYPES)) {
      if (decodeU64Key(row.order) > version) reportAbove(this.#context, EVENT_TYPES, row);
      else rows += 1n;
    }
    return rows;
  }

  /** Reports the rows that no event belongs to: not even the first version that they name has one of the type. */
  async #reportUnwrittenRows(): Promise<void> {
    const { damages, view } = this.#context;
    for await (const row of scanColumn(this.#context, EVENT_TYPES)) {
      const start = decodeU64Key(row.order);
      if (start > view.head.version) continue;
      const versions = await damages.decoded(() => TYPE_WINDOW.decode(row, row.value), start);
      if (versions === undefined) continue;
      const [place] = this.#upToHead(start, versions).places();
      if (place === undefined) reportAbove(this.#context, EVENT_TYPES, row);
      else if (!(await this.#isWritten(row, start + BigInt(place)))) {
        damages.row(EVENT_TYPES, row, 'no event is of its type and window', start);
      }
    }
  }

  async #isWritten(row: ScannedRow, version: bigint): Promise<boolean> {
    const { progress, store } = this.#context;
    const start = decodeU64Key(row.order);
    if (start !== windowStart(start) || version < progress.clearedBelow) return false;
    const [partition, bounds] = moduleEventBounds(encodeBucketKey(version));
    // Rows that cannot be read or decoded are reported already.
    try {
      for await (const event of rowsBetween(store, MODULE_EVENTS, partition, bounds)) {
        const decode = () => decodeModuleEventRow({ partition, ...event });
        const decoded = await new DamageList().decoded(decode);
        if (decoded !== undefined && typePartition(decoded.typeTag).equals(row.partition))
          return true;
      }
    } catch (error) {
      if (!isDamaged(error)) throw error;
      return true;
    }
    return false;
  }
}
