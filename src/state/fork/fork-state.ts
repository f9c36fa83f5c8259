/**
 * The state of a fork: the value recorded for a key and a version, or else the upstream's answer, which is then
 * recorded. Reads reject with LedgerError as ForkSource does.
 */

import { andThen, type MaybePromise, together } from '../../maybe-promise.ts';
import { U64_MAX } from '../../move/bcs/bcs-reader.ts';
import { formatHex } from '../../move/bcs/hex.ts';
import { BinaryFormatError } from '../../move/modules/format.ts';
import { resourceGroupOf } from '../../move/modules/metadata.ts';
import { loadModule } from '../../move/modules/read.ts';
import {
  type Address,
  addressBytes,
  addressFromBytes,
  formatAddress,
} from '../../move/types/address.ts';
import { encodeResourceGroup } from '../../move/types/resource-group.ts';
import {
  type HashedStateKey,
  hashedPhysicalKey,
  hashedStateKey,
  moduleStateKey,
  parsePhysicalStateKey,
  physicalStateKey,
  resourceGroupStateKey,
  resourceStateKey,
  type StateKey,
} from '../../move/types/state-key.ts';
import { StateValue } from '../../move/types/state-value.ts';
import { formatStructTag, type StructTag } from '../../move/types/type-tag.ts';
import type { Batch } from '../../store/batch.ts';
import { FORK_STATE } from '../../store/columns/fork-columns.ts';
import { encodeU64Key } from '../../store/columns/order-key.ts';
import {
  decodeStateRow,
  encodeStateRow,
  type StateEntry,
} from '../../store/columns/state-column.ts';
import type {
  AccountKeyPage,
  AccountKeyQuery,
  BalanceQuery,
  BalanceRows,
} from '../../store/read/view.ts';
import { LedgerError } from '../ledger-error.ts';
import type { StateSource } from '../source.ts';
import type { ForkClient } from './fork-client.ts';
import {
  type AnswerCodec,
  type Fork,
  RecordedList,
  recordedOrFetched,
} from './recorded-answers.ts';
import {
  fetchAssets,
  fetchByKind,
  fetchModules,
  fetchRawValue,
  fetchResources,
  hiddenFailure,
  type ListedResource,
  type ListedValue,
  type ListingKind,
} from './state-answers.ts';
import { badAnswer } from './upstream-failure.ts';

const VALUE: AnswerCodec<StateValue | undefined> = {
  write: (writer, value) => writer.option(value, StateValue.write),
  read: (reader) => reader.option(StateValue.read),
};
const START = Buffer.alloc(0);

export class ForkState implements StateSource {
  readonly #fork: Fork;

  constructor(fork: Fork) {
    this.#fork = fork;
  }

  state(key: HashedStateKey, version: bigint): MaybePromise<StateEntry | undefined> {
    return andThen(this.#recorded(key.hash, version), (found) => {
      if (key.needsMetadata === true) return this.#withMetadata(key, version, found);
      if (found !== undefined) return existing(found);
      if (key.canInterpolate !== true) return this.#fetch(key, version);
      return andThen(this.#interpolated(key.hash, version), (interpolated) =>
        interpolated === undefined ? this.#fetch(key, version) : existing(interpolated),
      );
    });
  }

  stateMany(
    keys: readonly HashedStateKey[],
    version: bigint,
  ): MaybePromise<readonly (StateEntry | undefined)[]> {
    return together(keys.map((key) => () => this.state(key, version)));
  }

  /** The API returns the value at a version, not all writes to a key. */
  stateWrites(): never {
    const message = 'This fork cannot tell the history of a balance: read it version by version';
    throw new LedgerError('transactions_not_kept', message);
  }

  balance(): undefined {
    return undefined;
  }

  async balances(
    owner: Uint8Array,
    { from = START, limit, version }: BalanceQuery,
  ): Promise<BalanceRows> {
    const address = addressFromBytes(owner);
    const list = new RecordedList<Address>(this.#fork, {
      description: `the assets of ${formatAddress(address)} at version ${version}`,
      name: ['assets', owner, version],
      codec: {
        write: (writer, metadata) => writer.address(metadata),
        read: (reader) => reader.address(),
      },
      orderOf: (metadata) => Buffer.from(addressBytes(metadata)),
      fetchPage: (client, _, start, most) => fetchAssets(client, address, version, start, most),
    });
    const { items, next } = await list.page(Buffer.from(from), limit);
    // No ledger reaches the version of this row, so the amounts are not taken from here.
    const row = { version: U64_MAX, coin: 0n, fungible: 0n };
    const rows = items.map((asset) => {
      const holder = { owner: Buffer.from(owner), metadata: Buffer.from(addressBytes(asset)) };
      return [holder, row] as const;
    });
    return { rows, next };
  }

  async accountKeys(
    address: Address,
    { from = START, limit, version, kinds }: AccountKeyQuery,
  ): Promise<AccountKeyPage> {
    const kind = kinds?.includes('code') === true ? 'modules' : 'resources';
    const { items, next } = await this.#listing(address, kind, version).page(
      Buffer.from(from),
      limit,
    );
    return { keys: items.map(({ key }) => key), next };
  }

  #listing(address: Address, kind: ListingKind, version: bigint): RecordedList<ListedValue> {
    return new RecordedList<ListedValue>(this.#fork, {
      description: `${kind} of ${formatAddress(address)} at version ${version}`,
      name: [kind, addressBytes(address), version],
      codec: {
        write: (writer, { key }) => writer.bytes(key),
        read: (reader) => ({ key: reader.bytes() }),
      },
      orderOf: ({ key }) => key,
      fetchPage: (client, _, from) =>
        kind === 'modules'
          ? fetchModules(client, address, version, from)
          : this.#resources(client, address, version, from),
      put: async (batch, items) => {
        for (const item of items) await this.#putListed(batch, item, version);
      },
    });
  }

  /** The value recorded for the nearest earlier and later version, if both are equal. */
  #interpolated(hash: Buffer, version: bigint): MaybePromise<StateEntry | undefined> {
    const order = encodeU64Key(version);
    const { store } = this.#fork;
    return andThen(store.seekLast(FORK_STATE, hash, order), (below) => {
      if (below === undefined) return undefined;
      return andThen(store.range(FORK_STATE, hash, { from: order, limit: 1 }), ([above]) => {
        if (above === undefined) return undefined;
        const [before, after] = [below, above].map((row) => decodeStateRow(hash, row, FORK_STATE));
        return isSame(before!.bytes, after!.bytes) ? before : undefined;
      });
    });
  }

  /** The recorded entry. One without bytes records that there is no value. */
  #recorded(hash: Buffer, version: bigint): MaybePromise<StateEntry | undefined> {
    const order = encodeU64Key(version);
    return andThen(
      this.#fork.store.get(FORK_STATE, hash, order),
      (value) => value && decodeStateRow(hash, { order, value }, FORK_STATE),
    );
  }

  async #fetch(hashed: HashedStateKey, version: bigint): Promise<StateEntry | undefined> {
    const key = parsePhysicalStateKey(hashed.physical);
    const description = `${describeKey(key)} at version ${version}`;
    await this.#fork.source.record(
      description,
      (client) => this.#fetchValue(client, description, key, hashed, version),
      async (value, batch) => {
        const known = await this.#recorded(hashed.hash, version);
        if (known === undefined) putValue(batch, hashed, version, value);
        else if (!isSame(known.bytes, value?.bytes)) {
          throw badAnswer(description, 'another value than before');
        }
      },
    );
    const entry = await this.#recorded(hashed.hash, version);
    return entry && existing(entry);
  }

  async #fetchValue(
    client: ForkClient,
    description: string,
    key: StateKey,
    { physical, hash }: HashedStateKey,
    version: bigint,
  ): Promise<StateValue | undefined> {
    const value = await fetchRawValue(client, description, key, version);
    if (value !== 'hidden') return value;
    const path = key.kind === 'accessPath' ? key.parsed : undefined;
    if (key.kind === 'accessPath' && path?.kind === 'resourceGroup') {
      // The API returns single members only; the account's listing has all of them.
      await this.#listing(key.address, 'resources', version).page(Buffer.from(physical), 1);
      const bytes = (await this.#recorded(hash, version))?.bytes;
      return bytes && { bytes, metadata: undefined };
    }
    // If the type is in a resource group, the API would return the member of the group.
    const isMember =
      path?.kind === 'resource' && (await this.#groupOf(path.tag, version)) !== undefined;
    if (isMember) throw hiddenFailure(description);
    return await fetchByKind(client, description, key, version);
  }

  /** Most answers have no metadata, so a recorded value without it is requested again. */
  #withMetadata(
    { physical }: HashedStateKey,
    version: bigint,
    found: StateEntry | undefined,
  ): MaybePromise<StateEntry | undefined> {
    if (found !== undefined && (found.bytes === undefined || found.metadata !== undefined)) {
      return existing(found);
    }
    const key = parsePhysicalStateKey(physical);
    const description = `${describeKey(key)} with its metadata at version ${version}`;
    const query = {
      description,
      name: ['value with metadata', physical, version],
      codec: VALUE,
    } as const;
    const value = recordedOrFetched<StateValue | undefined>(this.#fork, query, async (client) => {
      const raw = await fetchRawValue(client, description, key, version);
      if (raw === 'hidden') throw hiddenFailure(description);
      if (found !== undefined && !isSame(found.bytes, raw?.bytes)) {
        throw badAnswer(description, 'another value than before');
      }
      return raw;
    });
    return andThen(value, (raw) => {
      return raw && { ...raw, bytes: Buffer.from(raw.bytes), version, deletedKey: undefined };
    });
  }

  /** Puts a value of a listing. It must equal the value that is already recorded for its key, if any. */
  async #putListed(batch: Batch, { key, bytes }: ListedValue, version: bigint): Promise<void> {
    const hashed = hashedPhysicalKey(key);
    const known = await this.#recorded(hashed.hash, version);
    if (known === undefined) {
      putValue(batch, hashed, version, { bytes: bytes!, metadata: undefined });
    } else if (!isSame(known.bytes, bytes)) {
      const what = describeKey(parsePhysicalStateKey(key));
      throw badAnswer(`${what} at version ${version}`, 'a listing has another value');
    }
  }

  /** Resources under their own keys, and groups assembled from their members. */
  async #resources(client: ForkClient, address: Address, version: bigint, from: Buffer) {
    const { resources, next } = await fetchResources(client, address, version, from);
    const containers = await this.#groupsOf(resources, version);
    const items: ListedValue[] = [];
    const groups = new Map<string, { tag: StructTag; data: Buffer }[]>();
    for (const [index, { tag, bytes }] of resources.entries()) {
      const container = containers[index];
      if (container === undefined) {
        items.push({ key: physicalStateKey(resourceStateKey(address, tag)), bytes });
        continue;
      }
      const key = physicalStateKey(resourceGroupStateKey(address, container));
      const name = key.toString('latin1');
      const members = groups.get(name) ?? [];
      members.push({ tag, data: bytes });
      groups.set(name, members);
    }
    for (const [name, members] of groups) {
      items.push({ key: Buffer.from(name, 'latin1'), bytes: encodeResourceGroup(members) });
    }
    items.sort((left, right) => Buffer.compare(left.key, right.key));
    return { items, next: next && pageStart(next, items.at(-1)?.key ?? from) };
  }

  async #groupsOf(
    listed: readonly ListedResource[],
    version: bigint,
  ): Promise<readonly (StructTag | undefined)[]> {
    const known = new Map<string, Promise<StructTag | undefined>>();
    return await Promise.all(
      listed.map(({ tag }) => {
        const name = `${tag.address}::${tag.module}::${tag.name}`;
        const group = known.get(name) ?? this.#groupOf(tag, version);
        known.set(name, group);
        return group;
      }),
    );
  }

  /** The resource group that a type's module declares for it (docs/spec/ledger.md §5.5). */
  async #groupOf(tag: StructTag, version: bigint): Promise<StructTag | undefined> {
    const key = hashedStateKey(moduleStateKey(tag.address, tag.module));
    const entry = await this.state(key, version);
    if (entry?.bytes === undefined) return undefined;
    try {
      return resourceGroupOf(loadModule(entry.bytes), tag.name);
    } catch (error) {
      if (error instanceof BinaryFormatError) return undefined;
      throw error;
    }
  }
}

/**
 * The key at which a page begins, from the cursor of the previous page. A cursor names a group as if it were a resource
 * (docs/spec/ledger.md §5.4). All keys between that name and the group's key are in the previous page.
 * @param last the last key of the previous page
 */
function pageStart(cursor: Buffer, last: Buffer): Buffer {
  if (Buffer.compare(cursor, last) > 0) return cursor;
  const key = parsePhysicalStateKey(cursor);
  const path = key.kind === 'accessPath' ? key.parsed : undefined;
  if (key.kind !== 'accessPath' || path?.kind !== 'resource') return cursor;
  return physicalStateKey(resourceGroupStateKey(key.address, path.tag));
}

function existing(entry: StateEntry): StateEntry | undefined {
  return entry.bytes && entry;
}

function putValue(
  batch: Batch,
  { hash, physical }: HashedStateKey,
  version: bigint,
  value: StateValue | undefined,
): void {
  const row = encodeStateRow(physical, value?.bytes, value?.metadata);
  batch.put(FORK_STATE, hash, encodeU64Key(version), row);
}

function isSame(left: Uint8Array | undefined, right: Uint8Array | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  return Buffer.compare(left, right) === 0;
}

/** A readable text of a state key; different keys have different texts. */
function describeKey(key: StateKey): string {
  if (key.kind === 'tableItem') {
    return `the item ${formatHex(key.key)} of table ${formatAddress(key.handle)}`;
  }
  if (key.kind === 'raw') return `the raw value ${formatHex(key.bytes)}`;
  if (key.kind === 'tradingNative') {
    const { exchange, account, market } = key;
    const [exchangeText, accountText, marketText] = [exchange, account, market].map(formatAddress);
    return `the position of ${accountText} in ${marketText} of ${exchangeText}`;
  }
  const owner = formatAddress(key.address);
  const { parsed } = key;
  if (parsed === undefined) return `the value ${formatHex(key.path)} of ${owner}`;
  if (parsed.kind !== 'code') {
    const kind = parsed.kind === 'resource' ? 'resource' : 'resource group';
    return `the ${kind} ${formatStructTag(parsed.tag)} of ${owner}`;
  }
  const { address, name } = parsed.module;
  return `the module ${formatAddress(address)}::${name}${key.address === address ? '' : ` of ${owner}`}`;
}
