/**
 * Writes in memory on top of a source: values of state keys, deletions, and events at the ends of streams. An overlay
 * is immutable: `with` returns a new one. So keeping an overlay is a snapshot, and going back to it is a revert.
 *
 * An overlay is a chain of layers. A new layer absorbs those below it that are not larger: n writes make at most log n
 * layers, and each write is copied at most log n times.
 */
import { balancePathOf, objectGroupChange } from '../move/values/balance-values.ts';
import { encodeStreamId, type StoredEvent, type StreamId } from '../store/columns/event-column.ts';
import type { StateEntry } from '../store/columns/state-column.ts';
import { isAccountKey, ownerOfKey } from '../store/columns/state-key-column.ts';

/** A write to a state key; a deletion if it has no bytes. */
export interface OverlaidWrite {
  readonly hash: Buffer;
  readonly physical: Buffer;
  /** Its version is not below that of an earlier write to the key. */
  readonly entry: StateEntry;
}

export interface OverlayChanges {
  readonly writes?: readonly OverlaidWrite[];
  /** Events that follow the last ones of their streams. */
  readonly events?: readonly (readonly [StreamId, readonly StoredEvent[]])[];
}

interface Items {
  readonly writes: OverlaidWrite;
  readonly keys: Buffer;
  /** Metadata of the assets whose balance may have changed, by owner. */
  readonly assets: Buffer;
  readonly events: StoredEvent;
}
type List<T> = ReadonlyMap<string, readonly T[]>;

interface Layer {
  readonly size: number;
  readonly lists: { readonly [K in keyof Items]: List<Items[K]> };
}

export class Overlay {
  static readonly EMPTY = new Overlay([]);
  /** Newest first. */
  readonly #layers: readonly Layer[];

  private constructor(layers: readonly Layer[]) {
    this.#layers = layers;
  }

  get isEmpty(): boolean {
    return this.#layers.length === 0;
  }

  with({ writes = [], events = [] }: OverlayChanges): Overlay {
    if (writes.length + events.length === 0) return this;
    const keys = writes.filter(({ physical }) => isAccountKey(physical));
    const lists: Layer['lists'] = {
      writes: listed(writes.map((write) => [write.hash, write])),
      keys: listed(keys.map(({ physical }) => [ownerOfKey(physical), physical])),
      assets: listed(writes.flatMap(assetOf)),
      events: listed(
        events.flatMap(([stream, more]) => more.map((event) => [encodeStreamId(stream), event])),
      ),
    };
    let newest: Layer = { size: writes.length + events.length, lists };
    const below = [...this.#layers];
    while (below[0] !== undefined && below[0].size <= newest.size) {
      newest = merged(below.shift()!, newest);
    }
    return new Overlay([newest, ...below]);
  }

  find(hash: Uint8Array, version: bigint): StateEntry | undefined {
    const name = nameOf(hash);
    for (const { lists } of this.#layers) {
      const found = lists.writes.get(name)?.findLast(({ entry }) => entry.version <= version);
      if (found !== undefined) return found.entry;
    }
    return undefined;
  }

  /**
   * The writes to a key in ascending order of versions, the events of a stream in order, the keys of an account, or the
   * assets of an owner. Keys and assets may repeat.
   */
  list<K extends keyof Items>(kind: K, name: Uint8Array): readonly Items[K][] {
    const key = nameOf(name);
    return this.#layers.toReversed().flatMap(({ lists }) => lists[kind].get(key) ?? []);
  }

  lastWrites(): Iterable<OverlaidWrite> {
    const found = new Map<string, OverlaidWrite>();
    for (const { lists } of this.#layers.toReversed()) {
      for (const [name, writes] of lists.writes) found.set(name, writes.at(-1)!);
    }
    return found.values();
  }
}

function nameOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

function listed<T>(items: readonly (readonly [name: Uint8Array, item: T])[]): List<T> {
  const lists = new Map<string, T[]>();
  for (const [bytes, item] of items) {
    const name = nameOf(bytes);
    const list = lists.get(name);
    if (list === undefined) lists.set(name, [item]);
    else list.push(item);
  }
  return lists;
}

function merged(older: Layer, newer: Layer): Layer {
  const both = <T>(first: List<T>, second: List<T>): List<T> => {
    const lists = new Map(first);
    for (const [name, list] of second) lists.set(name, [...(lists.get(name) ?? []), ...list]);
    return lists;
  };
  return {
    size: older.size + newer.size,
    lists: {
      writes: both(older.lists.writes, newer.lists.writes),
      keys: both(older.lists.keys, newer.lists.keys),
      assets: both(older.lists.assets, newer.lists.assets),
      events: both(older.lists.events, newer.lists.events),
    },
  };
}

/** The owner and the asset of the balance that a write contains; empty if it contains none. */
function assetOf({ physical, entry }: OverlaidWrite): (readonly [Buffer, Buffer])[] {
  const path = balancePathOf(physical);
  if (path?.kind === 'coinStore') return [[ownerOfKey(physical), path.metadata]];
  if (path === undefined) return [];
  const { holder } = objectGroupChange(physical, entry.bytes);
  return holder === undefined ? [] : [[holder.owner, holder.metadata]];
}
