/**
 * Overrides of a fork, for tests (docs/fork.md): in memory, read before what is recorded, and never recorded. What has
 * to be known of the ledger to make one is asked for as a request would, and recorded.
 */
import { groupOf } from '../ledger/accounts/resource.ts';
import { CoinAsset, FungibleAsset, primaryStoreGroup } from '../ledger/balances/balance.ts';
import type { ModuleCaches } from '../ledger/modules/module-view.ts';
import { ModuleView } from '../ledger/modules/module-view.ts';
import { PruningGuard } from '../ledger/pruning-guard.ts';
import { BcsWriter } from '../move/bcs/bcs-writer.ts';
import { MoveError } from '../move/errors.ts';
import { moduleIdOf } from '../move/modules/compiled.ts';
import { loadModule } from '../move/modules/read.ts';
import { parseAddress } from '../move/types/address.ts';
import { decodeResourceGroup, encodeStructTag } from '../move/types/resource-group.ts';
import {
  hashedPhysicalKey,
  hashedStateKey,
  moduleStateKey,
  parsePhysicalStateKey,
  resourceGroupStateKey,
  resourceStateKey,
} from '../move/types/state-key.ts';
import { parseStructTag, parseTypeTag } from '../move/types/type-parser.ts';
import { encodeTypeTag, type TypeTag } from '../move/types/type-tag.ts';
import { renderValue } from '../move/values/value-json.ts';
import type { StoredEvent } from '../store/columns/event-column.ts';
import { openHead } from '../store/columns/head.ts';
import type { StoreReader } from '../store/store.ts';
import { groupOfMembers, holdingOf } from './balance-override.ts';
import type { ForkSource } from './fork-recorder.ts';
import {
  APPENDED_EVENTS,
  hashName,
  OVERRIDDEN_ASSETS,
  OVERRIDDEN_KEYS,
  OVERRIDDEN_VALUES,
  OverriddenView,
  streamName,
} from './overridden-view.ts';
import { OverrideError } from './override-error.ts';
import { type OverrideChange, OverrideState } from './override-state.ts';

const U64_MAX = 0xffff_ffff_ffff_ffffn;

/** An event to append: its type, and the BCS of its value. */
export interface AppendedEvent {
  readonly type: string;
  readonly data: Uint8Array;
}

/** What was overridden at a moment. */
export interface OverrideSnapshot {
  readonly isOverrideSnapshot: true;
}

/**
 * All reject with OverrideError for what no ledger could have, and with LedgerError as the requests do that they stand
 * for: `fork_not_recorded`, `fork_upstream_failed`.
 */
export interface ForkOverrides {
  /**
   * Sets what an account has of an asset: of a coin, coin store and primary store together.
   * @param asset a coin type, or the address of a fungible asset's metadata
   */
  setBalance(account: string, asset: string, amount: bigint): Promise<void>;
  /** Sets a resource, also one in a resource group. @param value BCS, which must be of the type */
  setResource(account: string, type: string, value: Uint8Array): Promise<void>;
  deleteResource(account: string, type: string): Promise<void>;
  /** Publishes a module, under the name that its bytecode has. */
  setModule(bytecode: Uint8Array): Promise<void>;
  /** Appends events to a stream, at the fork's version. The counter of the stream's handle stays what it is. */
  appendEvents(
    account: string,
    creationNumber: bigint,
    events: readonly AppendedEvent[],
  ): Promise<void>;
  snapshot(): OverrideSnapshot;
  /** Goes back to what was overridden at a snapshot, as often as wanted. @throws RangeError for another node's */
  revert(snapshot: OverrideSnapshot): void;
}

/** The changes that an override makes, by what is overridden already. */
type Change = (at: {
  readonly state: OverrideState;
  readonly view: OverriddenView;
  readonly modules: ModuleView;
}) => Promise<readonly OverrideChange[]>;

export class MemoryOverrides implements ForkOverrides {
  readonly #store: StoreReader;
  readonly #source: ForkSource;
  readonly #cachesAt: (state: OverrideState) => ModuleCaches;
  readonly #snapshots = new WeakMap<OverrideSnapshot, OverrideState>();
  #state = OverrideState.empty();

  /** @param cachesAt caches of what some overrides show */
  constructor(
    store: StoreReader,
    source: ForkSource,
    cachesAt: (state: OverrideState) => ModuleCaches,
  ) {
    this.#store = store;
    this.#source = source;
    this.#cachesAt = cachesAt;
  }

  /** What is overridden now. */
  get state(): OverrideState {
    return this.#state;
  }

  async setBalance(account: string, asset: string, amount: bigint): Promise<void> {
    if (typeof amount !== 'bigint' || amount < 0n || amount > U64_MAX) {
      throw new OverrideError(`a balance of ${amount} is not a u64`);
    }
    const address = parsed(() => parseAddress(account));
    const { keys } = parsed(() =>
      asset.includes('::')
        ? new CoinAsset(parseStructTag(asset))
        : new FungibleAsset(parseAddress(asset)),
    );
    await this.#change(async ({ state, view }) => {
      const coinKey = parsed(() => keys.coinStores?.key(address));
      const groupKey = primaryStoreGroup(address, keys);
      const coinStore = coinKey && (await view.state(coinKey))?.bytes;
      const group = (await view.state(groupKey))?.bytes;
      const next = parsed(() => holdingOf({ coinStore, group }, address, keys.metadata, amount));
      const metadata = Buffer.from(keys.metadata);
      return [
        ...(coinStore === undefined ? [] : valueChanges(state, coinKey!.physical, next.coinStore)),
        ...(next.group === undefined ? [] : valueChanges(state, groupKey.physical, next.group)),
        OVERRIDDEN_ASSETS.adding(state, address, [metadata]),
      ];
    });
  }

  async setResource(account: string, type: string, value: Uint8Array): Promise<void> {
    const bytes = Buffer.from(value);
    await this.#setResource(account, type, bytes);
  }

  async deleteResource(account: string, type: string): Promise<void> {
    await this.#setResource(account, type, undefined);
  }

  async #setResource(account: string, type: string, bytes: Buffer | undefined): Promise<void> {
    const address = parsed(() => parseAddress(account));
    const tag = parsed(() => parseStructTag(type));
    await this.#change(async ({ state, view, modules }) => {
      if (bytes !== undefined) await checkValue({ kind: 'struct', struct: tag }, bytes, modules);
      const container = await groupOf(tag, modules.lookup);
      if (container === undefined) {
        const { physical } = hashedStateKey(resourceStateKey(address, tag));
        return valueChanges(state, physical, bytes);
      }
      const key = hashedStateKey(resourceGroupStateKey(address, container));
      const group = (await view.state(key))?.bytes;
      const name = encodeStructTag(tag);
      const members = group === undefined ? [] : parsed(() => decodeResourceGroup(group));
      const others = members.filter(({ tagBytes }) => !tagBytes.equals(name));
      const next = bytes === undefined ? others : [...others, { tag, data: bytes }];
      const changed = next.length === 0 ? undefined : groupOfMembers(next);
      return valueChanges(state, key.physical, changed);
    });
  }

  async setModule(bytecode: Uint8Array): Promise<void> {
    const bytes = Buffer.from(bytecode);
    const { address, name } = moduleIdOf(parsed(() => loadModule(bytes)));
    const { physical } = hashedStateKey(moduleStateKey(address, name));
    await this.#change(async ({ state }) => valueChanges(state, physical, bytes), true);
  }

  async appendEvents(
    account: string,
    creationNumber: bigint,
    events: readonly AppendedEvent[],
  ): Promise<void> {
    if (typeof creationNumber !== 'bigint' || creationNumber < 0n || creationNumber > U64_MAX) {
      throw new OverrideError(`a creation number of ${creationNumber} is not a u64`);
    }
    const stream = { address: parsed(() => parseAddress(account)), creationNumber };
    const bodies = events.map(({ type, data }) => {
      const tag = parsed(() => parseTypeTag(type));
      return { tag, data: Buffer.from(data), ...eventBody(tag, data) };
    });
    if (bodies.length === 0) return;
    await this.#change(async ({ state, view, modules }) => {
      for (const { tag, data } of bodies) await checkValue(tag, data, modules);
      const last = await view.eventStream(stream).lastSequenceNumber();
      const first = last === undefined ? 0n : last + 1n;
      const { version } = view.head;
      const added = bodies.map(({ typeTag, data, encoded }, at): StoredEvent => {
        return {
          ...{ sequenceNumber: first + BigInt(at), version, index: 0 },
          ...{ typeTag, data, encoded },
        };
      });
      return [APPENDED_EVENTS.adding(state, streamName(stream), added)];
    });
  }

  snapshot(): OverrideSnapshot {
    const snapshot: OverrideSnapshot = { isOverrideSnapshot: true };
    this.#snapshots.set(snapshot, this.#state);
    return snapshot;
  }

  revert(snapshot: OverrideSnapshot): void {
    const state = this.#snapshots.get(snapshot);
    if (state === undefined) throw new RangeError('not a snapshot of this node');
    this.#state = state;
  }

  /** @param ofModules whether modules are changed */
  async #change(change: Change, ofModules = false): Promise<void> {
    const head = await openHead(this.#store);
    for (;;) {
      const state = this.#state;
      const view = new OverriddenView(this.#store, head, this.#source, state);
      const guard = new PruningGuard(this.#store, view, new Map(), performance.now());
      const modules = new ModuleView(this.#cachesAt(state), guard, head.version);
      const changes = await change({ state, view, modules });
      // Somebody else has changed or reverted it meanwhile: what was read may be different now.
      if (this.#state !== state) continue;
      this.#state = state.with(changes, ofModules);
      return;
    }
  }
}

/** @param bytes `undefined`: no value */
function valueChanges(
  state: OverrideState,
  physical: Uint8Array,
  bytes: Buffer | undefined,
): readonly OverrideChange[] {
  const { hash } = hashedPhysicalKey(physical);
  const change: OverrideChange = [OVERRIDDEN_VALUES.keyOf(hashName(hash)), { bytes }];
  const key = parsePhysicalStateKey(physical);
  const path = key.kind === 'accessPath' ? key.parsed : undefined;
  if (key.kind !== 'accessPath' || path === undefined) return [change];
  const listed = { physical: Buffer.from(physical), kind: path.kind };
  return [change, OVERRIDDEN_KEYS.adding(state, key.address, [listed])];
}

function eventBody(tag: TypeTag, data: Uint8Array) {
  const typeTag = encodeTypeTag(tag);
  return { typeTag, encoded: new BcsWriter().fixed(typeTag).bytes(data).toBytes() };
}

/** @throws OverrideError for bytes that are not a value of the type */
async function checkValue(tag: TypeTag, bytes: Buffer, modules: ModuleView): Promise<void> {
  try {
    const { layout } = (await modules.type(encodeTypeTag(tag), tag)).value;
    renderValue(layout, bytes);
  } catch (cause) {
    throw asOverrideError(cause);
  }
}

/** @throws OverrideError instead of MoveError */
function parsed<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw asOverrideError(cause);
  }
}

function asOverrideError(cause: unknown): unknown {
  return cause instanceof MoveError ? new OverrideError(cause.message, { cause }) : cause;
}
