/**
 * Extends and clears the index of module events by type. Versions share its rows: a window may have begun in an earlier
 * commit, so its rows are read and extended.
 */
import { byteTools } from '../../move/bcs/bytes.ts';
import type { Batch } from '../batch.ts';
import { EVENT_TYPES } from '../columns/columns.ts';
import {
  placeInWindow,
  TYPE_WINDOW,
  type TypeWindow,
  typePartition,
  WINDOW_VERSIONS,
  WindowVersions,
  windowEnd,
  windowStart,
} from '../columns/event-type-column.ts';
import type { StoreReader } from '../store.ts';

/** A window with the versions in it that have events of its type. */
export interface FilledWindow extends TypeWindow {
  readonly versions: WindowVersions;
}

interface KnownType {
  readonly partition: Buffer;
  newest: FilledWindow | undefined;
}

export class EventTypeIndex {
  readonly #windows: FilledWindow[] = [];
  readonly #byTag = new Map<string, KnownType>();
  readonly #byPartition = new Map<string, KnownType>();
  #version = -1n;
  #start = -1n;
  #place = 0;

  get windows(): readonly FilledWindow[] {
    return this.#windows;
  }

  /** Adds a module event. Versions must not decrease. @param typeTag BCS */
  add(version: bigint, typeTag: Uint8Array): void {
    if (version !== this.#version) {
      this.#version = version;
      this.#start = windowStart(version);
      this.#place = placeInWindow(version);
    }
    const type = this.#typeOf(typeTag);
    let window = type.newest;
    if (window === undefined || window.start !== this.#start) {
      const { partition } = type;
      window = { partition, start: this.#start, versions: new WindowVersions() };
      type.newest = window;
      this.#windows.push(window);
    }
    window.versions.add(this.#place);
  }

  #typeOf(typeTag: Uint8Array): KnownType {
    const name = nameOf(typeTag);
    const known = this.#byTag.get(name);
    if (known !== undefined) return known;
    const partition = typePartition(typeTag);
    const place = nameOf(partition);
    const type = this.#byPartition.get(place) ?? { partition, newest: undefined };
    this.#byTag.set(name, type);
    this.#byPartition.set(place, type);
    return type;
  }
}

function nameOf(bytes: Uint8Array): string {
  return byteTools.asBuffer(bytes).toString('latin1');
}

/**
 * Adds windows to a batch, together with their stored versions.
 * @param firstVersion the lowest version of their events; windows that begin after it are not in the store
 * @throws RowDamagedError
 */
export async function putEventTypes(
  batch: Batch,
  store: StoreReader,
  windows: readonly FilledWindow[],
  firstVersion: bigint,
): Promise<void> {
  const begun = windows.filter(({ start }) => start <= firstVersion);
  const stored = await storedWindows(store, begun);
  for (const [index, { versions }] of begun.entries()) {
    const before = stored[index];
    if (before !== undefined) versions.addAll(before);
  }
  for (const window of windows) TYPE_WINDOW.put(batch, window, window.versions);
}

/**
 * Removes versions below a bound.
 * @param windows those of the events of all removed versions
 * @throws RowDamagedError
 */
export async function clearTypeWindows(
  batch: Batch,
  store: StoreReader,
  windows: readonly FilledWindow[],
  bound: bigint,
): Promise<void> {
  const cut: FilledWindow[] = [];
  for (const window of windows) {
    if (windowEnd(window.start) < bound) TYPE_WINDOW.delete(batch, window);
    else cut.push(window);
  }
  const stored = await storedWindows(store, cut);
  for (const [index, window] of cut.entries()) {
    const left = stored[index]?.between(placeInWindow(bound), WINDOW_VERSIONS - 1);
    if (left === undefined || left.count === 0) TYPE_WINDOW.delete(batch, window);
    else TYPE_WINDOW.put(batch, window, left);
  }
}

async function storedWindows(
  store: StoreReader,
  windows: readonly TypeWindow[],
): Promise<(WindowVersions | undefined)[]> {
  const keys = windows.map((window) => TYPE_WINDOW.keyOf(window));
  const values = await store.getMany(EVENT_TYPES, keys);
  return values.map((value, index) => value && TYPE_WINDOW.decode(keys[index]!, value));
}
