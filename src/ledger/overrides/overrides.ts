/**
 * Overrides of a ledger, for tests (docs/fork.md). They are in memory, take precedence over the ledger, and are never
 * stored. An override reads from the ledger as a request does, so a fork records what it reads.
 */
import { Cache, type CacheSize } from '../../cache.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import { parseAddress } from '../../move/types/address.ts';
import type { HashedStateKey } from '../../move/types/state-key.ts';
import { parseTypeTag } from '../../move/types/type-parser.ts';
import { TypeTag } from '../../move/types/type-tag.ts';
import { ModuleCache, ModuleView } from '../../state/module-view.ts';
import { Overlay, type OverlayChanges } from '../../state/overlay.ts';
import { overlaidSource } from '../../state/overlay-source.ts';
import { PruningGuard } from '../../state/pruning-guard.ts';
import type { LedgerSource, OpenSource } from '../../state/source.ts';
import type { StoredEvent } from '../../store/columns/event-column.ts';
import { openHead } from '../../store/columns/head.ts';
import type { StoreReader } from '../../store/store.ts';
import type { LedgerCaches, LedgerView } from '../ledger-view.ts';
import { type LedgerReader, newCaches, openLedger } from '../open.ts';
import { TransactionCaches } from '../transactions/renderer.ts';
import {
  assertIsValue,
  assertU64,
  balanceEdit,
  moduleEdit,
  parsed,
  resourceEdit,
  type StateEdit,
} from './state-edits.ts';

/** An event to append: its type, and the BCS of its value. */
export interface AppendedEvent {
  readonly type: string;
  readonly data: Uint8Array;
}

export interface OverrideSnapshot {
  readonly isOverrideSnapshot: true;
}

/**
 * Overrides reject with OverrideError for state that no ledger could have, and with LedgerError for failed reads:
 * `fork_not_recorded`, `fork_upstream_failed`.
 */
export interface Overrides {
  /**
   * Sets an account's balance of an asset; for a coin, that of coin store and primary store together.
   * @param asset a coin type, or the address of a fungible asset's metadata
   */
  setBalance(account: string, asset: string, amount: bigint): Promise<void>;
  /** Sets a resource, also one in a resource group. @param value BCS, which must be of the type */
  setResource(account: string, type: string, value: Uint8Array): Promise<void>;
  deleteResource(account: string, type: string): Promise<void>;
  /** Publishes a module under the name in its bytecode. */
  setModule(bytecode: Uint8Array): Promise<void>;
  /** Appends events to a stream, at the newest version. The counter of the stream's handle does not change. */
  appendEvents(
    account: string,
    creationNumber: bigint,
    events: readonly AppendedEvent[],
  ): Promise<void>;
  snapshot(): OverrideSnapshot;
  /** Restores the overrides of a snapshot, any number of times. @throws RangeError for a snapshot of another node */
  revert(snapshot: OverrideSnapshot): void;
}

/** The overrides at one moment, and a cache of the modules as they show them. */
interface Overridden {
  readonly overlay: Overlay;
  readonly modules: ModuleCache;
}

/** Computes the changes that an override adds to the current overrides. */
type Change = (source: LedgerSource, modules: ModuleView) => Promise<OverlayChanges>;

/** A ledger that can be overridden. Each request sees one overlay, and whether it has read any of it. */
export class OverridableLedger implements LedgerReader, Overrides {
  readonly #store: StoreReader;
  readonly #openSource: OpenSource;
  readonly #caches: LedgerCaches = newCaches();
  readonly #base: ReturnType<typeof openLedger>;
  readonly #snapshots = new WeakMap<OverrideSnapshot, Overridden>();
  #current: Overridden;

  constructor(store: StoreReader, openSource: OpenSource) {
    this.#store = store;
    this.#openSource = openSource;
    this.#current = { overlay: Overlay.EMPTY, modules: this.#caches.modules };
    this.#base = this.#open(this.#current, this.#caches);
  }

  view(): MaybePromise<LedgerView> {
    const current = this.#current;
    if (current.overlay.isEmpty) return this.#base.view();
    // Each request gets a view that notes what it has read, and its own caches of what is cached by version.
    const caches: LedgerCaches = {
      ...this.#caches,
      modules: current.modules,
      pages: new Cache('event_pages'),
      transactions: new TransactionCaches(),
    };
    return this.#open(current, caches).view();
  }

  cacheSizes(): readonly CacheSize[] {
    return this.#base.cacheSizes();
  }

  waitingReads(): number {
    return this.#base.waitingReads();
  }

  #open({ overlay }: Overridden, caches: LedgerCaches): ReturnType<typeof openLedger> {
    return openLedger(this.#store, caches, (store, head) =>
      overlaidSource(this.#openSource(store, head), overlay),
    );
  }

  async setBalance(account: string, asset: string, amount: bigint): Promise<void> {
    await this.#edit(balanceEdit(account, asset, amount));
  }

  async setResource(account: string, type: string, value: Uint8Array): Promise<void> {
    await this.#edit(resourceEdit(account, type, Buffer.from(value)));
  }

  async deleteResource(account: string, type: string): Promise<void> {
    await this.#edit(resourceEdit(account, type, undefined));
  }

  async setModule(bytecode: Uint8Array): Promise<void> {
    await this.#edit(moduleEdit(bytecode), true);
  }

  async appendEvents(
    account: string,
    creationNumber: bigint,
    events: readonly AppendedEvent[],
  ): Promise<void> {
    assertU64('a creation number', creationNumber);
    const stream = { address: parsed(() => parseAddress(account)), creationNumber };
    const bodies = events.map(({ type, data }) => {
      const tag = parsed(() => parseTypeTag(type));
      const typeTag = TypeTag.encode(tag);
      const encoded = new BcsWriter().fixed(typeTag).bytes(data).toBytes();
      return { tag, body: { typeTag, data: Buffer.from(data), encoded } };
    });
    await this.#change(async ({ head: { version }, events: streams }, modules) => {
      for (const { tag, body } of bodies) await assertIsValue(tag, body.data, modules);
      const last = await streams.eventStream(stream).lastSequenceNumber();
      const first = last === undefined ? 0n : last + 1n;
      const added = bodies.map(
        ({ body }, at): StoredEvent => ({
          ...{ sequenceNumber: first + BigInt(at), version, index: 0, ...body },
        }),
      );
      return { events: [[stream, added]] };
    });
  }

  snapshot(): OverrideSnapshot {
    const snapshot: OverrideSnapshot = { isOverrideSnapshot: true };
    this.#snapshots.set(snapshot, this.#current);
    return snapshot;
  }

  revert(snapshot: OverrideSnapshot): void {
    const then = this.#snapshots.get(snapshot);
    if (then === undefined) throw new RangeError('not a snapshot of this node');
    this.#current = then;
  }

  async #edit(edit: StateEdit, changesModules = false): Promise<void> {
    await this.#change(async ({ state, head: { version } }, modules) => {
      const value = async (key: HashedStateKey) => (await state.state(key, version))?.bytes;
      const edits = await edit({ modules, value });
      const writes = edits.map(({ key: { hash, physical }, bytes }) => {
        const key = Buffer.from(physical);
        const deletedKey = bytes === undefined ? key : undefined;
        return { hash, physical: key, entry: { version, bytes, metadata: undefined, deletedKey } };
      });
      return { writes };
    }, changesModules);
  }

  async #change(change: Change, changesModules = false): Promise<void> {
    const head = await openHead(this.#store);
    for (;;) {
      const current = this.#current;
      const source = overlaidSource(this.#openSource(this.#store, head), current.overlay);
      const guard = new PruningGuard(this.#store, source, new Map(), performance.now());
      const caches = { modules: current.modules, types: this.#caches.types };
      const changes = await change(source, new ModuleView(caches, guard, head.version));
      // The overrides were changed or reverted meanwhile, so the values that were read may be different now.
      if (this.#current !== current) continue;
      const modules = changesModules ? new ModuleCache() : current.modules;
      this.#current = { overlay: current.overlay.with(changes), modules };
      return;
    }
  }
}
