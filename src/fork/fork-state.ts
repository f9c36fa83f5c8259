/** The state that a fork has, and what it asks for: values by their keys, and the keys of accounts. */
import { andThen, type MaybePromise } from '../maybe-promise.ts';
import { formatHex } from '../move/bcs/hex.ts';
import { BinaryFormatError } from '../move/modules/format.ts';
import { resourceGroupOf } from '../move/modules/metadata.ts';
import { loadModule } from '../move/modules/read.ts';
import { type Address, formatAddress } from '../move/types/address.ts';
import { encodeResourceGroup } from '../move/types/resource-group.ts';
import {
  type HashedStateKey,
  hashedStateKey,
  moduleStateKey,
  type Path,
  parsePhysicalStateKey,
  resourceGroupStateKey,
  resourceStateKey,
  type StateKey,
} from '../move/types/state-key.ts';
import { formatStructTag, type StructTag } from '../move/types/type-tag.ts';
import type { Batch } from '../store/batch.ts';
import type { Row } from '../store/columns/columns.ts';
import {
  decodeForkState,
  encodeForkState,
  FORK_STATE,
  forkStateKey,
  type RecordedState,
  type RecordedValue,
} from '../store/columns/fork-columns.ts';
import type { StateEntry } from '../store/columns/state-column.ts';
import type { StoreReader } from '../store/store.ts';
import type { ForkClient } from './fork-client.ts';
import type { ForkSource } from './fork-recorder.ts';
import { type AnswerCodec, putAnswer, recordedAnswer } from './recorded-answers.ts';
import {
  askModules,
  askRawValue,
  askResources,
  askValueOfKind,
  type ListedResource,
} from './state-answers.ts';
import { badAnswer, UpstreamFailure } from './upstream-failure.ts';

/** What a listing of the interface lists: groups are among the resources. */
type Listed = 'resources' | 'modules';

/** Physical state keys, ascending. */
const KEYS: AnswerCodec<readonly Buffer[]> = {
  write: (writer, keys) => writer.vector(keys, (to, key) => to.bytes(key)),
  read: (reader) => reader.vector(1, (inner) => inner.bytes()),
};

export class ForkState {
  readonly #store: StoreReader;
  readonly #source: ForkSource;

  constructor(store: StoreReader, source: ForkSource) {
    this.#store = store;
    this.#source = source;
  }

  /** The value of a key after a version. Rejects with LedgerError as ForkSource does. */
  value(key: HashedStateKey, version: bigint): MaybePromise<StateEntry | undefined> {
    return andThen(this.#recorded(key.hash, version), (found) => {
      const isEnough = found?.isMetadataKnown === true || key.needsMetadata !== true;
      if (found !== undefined && isEnough) return found.entry;
      if (key.mayBeBetween !== true) return this.#ask(key, version);
      return andThen(this.#between(key.hash, version), (same) =>
        same === undefined ? this.#ask(key, version) : same.entry,
      );
    });
  }

  /** What is recorded for the versions next to this one, if it is the same before and after. */
  #between(hash: Uint8Array, version: bigint): MaybePromise<RecordedState | undefined> {
    const { partition, order } = forkStateKey(hash, version);
    const read = ({ order: at, value }: Row) => decodeForkState({ partition, order: at }, value);
    return andThen(this.#store.seekLast(FORK_STATE, partition, order), (below) => {
      if (below === undefined) return undefined;
      const above = this.#store.range(FORK_STATE, partition, { from: order, limit: 1 });
      return andThen(above, ([row]) => {
        const [before, after] = [read(below), row && read(row)];
        const isUnchanged = after && isSame(before.entry?.bytes, after.entry?.bytes);
        return isUnchanged === true ? before : undefined;
      });
    });
  }

  #recorded(hash: Uint8Array, version: bigint): MaybePromise<RecordedState | undefined> {
    const row = forkStateKey(hash, version);
    return andThen(
      this.#store.get(FORK_STATE, row.partition, row.order),
      (value) => value && decodeForkState(row, value),
    );
  }

  async #ask(hashed: HashedStateKey, version: bigint): Promise<StateEntry | undefined> {
    const key = parsePhysicalStateKey(hashed.physical);
    const what = shownKey(key);
    const part = hashed.needsMetadata === true ? ' with its metadata' : '';
    const question = `${what}${part} at version ${version}`;
    await this.#source.record(
      question,
      (client) => this.#askValue(client, question, key, hashed, version),
      async (value, batch) => {
        const known = await this.#recorded(hashed.hash, version);
        if (known !== undefined && !isSame(known.entry?.bytes, value?.bytes)) {
          throw badAnswer(question, 'another value than before');
        }
        if (known?.isMetadataKnown !== true) putValue(batch, hashed, version, value);
      },
    );
    return (await this.#recorded(hashed.hash, version))?.entry;
  }

  async #askValue(
    client: ForkClient,
    question: string,
    key: StateKey,
    { hash, needsMetadata }: HashedStateKey,
    version: bigint,
  ): Promise<RecordedValue | undefined> {
    const value = await askRawValue(client, question, key, version);
    if (value !== 'hidden') return value;
    const path = key.kind === 'accessPath' ? key.parsed : undefined;
    if (key.kind === 'accessPath' && path?.kind === 'resourceGroup' && needsMetadata !== true) {
      // The interface shows the members only; all of them are in the listing of the account.
      await this.#keys(key.address, 'resources', version);
      const entry = (await this.#recorded(hash, version))?.entry;
      return entry?.bytes && { bytes: entry.bytes, metadata: 'unknown' };
    }
    // Of a type that is in a group, the answer would be the member.
    const isMember =
      path?.kind === 'resource' && (await this.#groupOf(path.tag, version)) !== undefined;
    if (needsMetadata === true || isMember) {
      throw new UpstreamFailure('hidden', `only raw values tell ${question}, and it hides them`);
    }
    return await askValueOfKind(client, question, key, version);
  }

  /** The keys of an account with a value at a version, ascending by their physical form. */
  async accountKeys(
    address: Address,
    version: bigint,
    kinds: readonly Path['kind'][] | undefined,
  ): Promise<readonly Buffer[]> {
    const isWanted = (kind: Path['kind']) => kinds === undefined || kinds.includes(kind);
    const modules = isWanted('code') ? await this.#keys(address, 'modules', version) : [];
    const isOfResources = isWanted('resource') || isWanted('resourceGroup');
    const resources = isOfResources ? await this.#keys(address, 'resources', version) : [];
    if (modules.length === 0) return resources;
    return [...modules, ...resources].sort(Buffer.compare);
  }

  async #keys(address: Address, listed: Listed, version: bigint): Promise<readonly Buffer[]> {
    const question = `${listed} of ${formatAddress(address)} at version ${version}`;
    const found = await recordedAnswer(this.#store, question, KEYS);
    if (found !== undefined) return found.answer;
    const values = await this.#source.record(
      question,
      (client) =>
        listed === 'modules'
          ? this.#modules(client, address, version)
          : this.#resources(client, address, version),
      async (taken, batch) => {
        for (const [key, bytes] of taken) await this.#putListed(batch, key, version, bytes);
        putAnswer(batch, question, KEYS, keysOf(taken));
      },
    );
    return keysOf(values);
  }

  /** Puts a value of a listing, which must be what is recorded for its key already. */
  async #putListed(
    batch: Batch,
    key: HashedStateKey,
    version: bigint,
    bytes: Buffer,
  ): Promise<void> {
    const known = await this.#recorded(key.hash, version);
    if (known === undefined) {
      putValue(batch, key, version, { bytes, metadata: 'unknown' });
    } else if (known.entry?.bytes?.equals(bytes) !== true) {
      const what = shownKey(parsePhysicalStateKey(key.physical));
      throw badAnswer(`${what} at version ${version}`, 'a listing has another value');
    }
  }

  async #modules(
    client: ForkClient,
    address: Address,
    version: bigint,
  ): Promise<(readonly [HashedStateKey, Buffer])[]> {
    const modules = await askModules(client, address, version);
    return [...modules].map(([name, bytes]) => [
      hashedStateKey(moduleStateKey(address, name)),
      bytes,
    ]);
  }

  /** Resources under their own keys, and groups put together from their members. */
  async #resources(
    client: ForkClient,
    address: Address,
    version: bigint,
  ): Promise<(readonly [HashedStateKey, Buffer])[]> {
    const listed = await askResources(client, address, version);
    const containers = await this.#groupsOf(listed, version);
    const values: (readonly [HashedStateKey, Buffer])[] = [];
    const groups = new Map<
      string,
      { tag: StructTag; members: { tag: StructTag; data: Buffer }[] }
    >();
    for (const [index, { tag, bytes }] of listed.entries()) {
      const container = containers[index];
      if (container === undefined) {
        values.push([hashedStateKey(resourceStateKey(address, tag)), bytes]);
        continue;
      }
      const name = formatStructTag(container);
      const group = groups.get(name) ?? { tag: container, members: [] };
      groups.set(name, group);
      group.members.push({ tag, data: bytes });
    }
    for (const { tag, members } of groups.values()) {
      const key = hashedStateKey(resourceGroupStateKey(address, tag));
      values.push([key, encodeResourceGroup(members)]);
    }
    return values;
  }

  /** The group of each resource. */
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

  /** The group that a type's values are in, as its module says (docs/spec/ledger.md §5.5). */
  async #groupOf(tag: StructTag, version: bigint): Promise<StructTag | undefined> {
    const key = hashedStateKey(moduleStateKey(tag.address, tag.module));
    const entry = await this.value(key, version);
    if (entry?.bytes === undefined) return undefined;
    try {
      return resourceGroupOf(loadModule(entry.bytes), tag.name);
    } catch (error) {
      if (error instanceof BinaryFormatError) return undefined;
      throw error;
    }
  }
}

/** Ascending by their physical form. */
function keysOf(values: readonly (readonly [HashedStateKey, Buffer])[]): readonly Buffer[] {
  return values.map(([{ physical }]) => Buffer.from(physical)).sort(Buffer.compare);
}

function putValue(
  batch: Batch,
  key: HashedStateKey,
  version: bigint,
  value: RecordedValue | undefined,
): void {
  const { partition, order } = forkStateKey(key.hash, version);
  batch.put(FORK_STATE, partition, order, encodeForkState(key.physical, value));
}

function isSame(left: Uint8Array | undefined, right: Uint8Array | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  return Buffer.compare(left, right) === 0;
}

/** A state key for people; different keys have different texts. */
function shownKey(key: StateKey): string {
  if (key.kind === 'tableItem') {
    return `the item ${formatHex(key.key)} of table ${formatAddress(key.handle)}`;
  }
  if (key.kind === 'raw') return `the raw value ${formatHex(key.bytes)}`;
  if (key.kind === 'tradingNative') {
    const { exchange, account, market } = key;
    const [at, whose, where] = [exchange, account, market].map(formatAddress);
    return `the position of ${whose} in ${where} of ${at}`;
  }
  const of = formatAddress(key.address);
  const { parsed } = key;
  if (parsed === undefined) return `the value ${formatHex(key.path)} of ${of}`;
  if (parsed.kind !== 'code') {
    const kind = parsed.kind === 'resource' ? 'resource' : 'resource group';
    return `the ${kind} ${formatStructTag(parsed.tag)} of ${of}`;
  }
  const { address, name } = parsed.module;
  return `the module ${formatAddress(address)}::${name}${key.address === address ? '' : ` of ${of}`}`;
}
