/** Reads of an account: the account itself, its resources and modules, the streams of its event handles. */
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import {
  ADDRESS_ZERO,
  type Address,
  addressBytes,
  formatAddress,
} from '../../move/types/address.ts';
import { ACCOUNT_TAG } from '../../move/types/framework-tag.ts';
import type { ModuleId } from '../../move/types/module-id.ts';
import { decodeResourceGroup, encodeStructTag } from '../../move/types/resource-group.ts';
import type { Path } from '../../move/types/state-key.ts';
import { resourceStateKey } from '../../move/types/state-key.ts';
import type { StructTag } from '../../move/types/type-tag.ts';
import { compareStructTags } from '../../move/types/type-tag-order.ts';
import {
  type Account,
  accountCodec,
  isFeatureEnabled,
} from '../../move/values/framework-resource.ts';
import { AccountKeyHasher } from '../../state/account-keys.ts';
import { DEFAULT_ACCOUNT_FLAG, featuresAt } from '../../state/features.ts';
import { decodeStored, LedgerError } from '../../state/ledger-error.ts';
import type { ModuleView } from '../../state/module-view.ts';
import type { PruningGuard } from '../../state/pruning-guard.ts';
import { readResource, resourceJson } from '../../state/resource.ts';
import type { LedgerSource } from '../../state/source.ts';
import type { StreamId } from '../../store/columns/event-column.ts';
import { YieldBudget } from '../../yield-budget.ts';
import { eventStreamIn } from '../events/event-handle.ts';
import { type ListedItem, type ListedPage, type ListingRequest, listAccount } from './listing.ts';

/** Items rendered before other requests get their turn. */
const ITEMS_PER_TURN = 64;

interface ResourceAnswer {
  /** The stored bytes; for a member of a group, those of the member. */
  readonly bytes: Uint8Array;
  /** `{"type":"…","data":{…}}` as JSON text, rendered by the types of the version read. */
  json(): MaybePromise<string>;
}

export interface Listing {
  /** JSON text of the array, in the order of the state keys. */
  json(): Promise<string>;
  /** BCS of a map: struct tag → bytes, or `{address}::{name}` as a string → bytes. */
  bcs(): Buffer;
  /** Hex of the physical state key that the next page begins with, without `0x`; `undefined` on the last page. */
  readonly cursor: string | undefined;
}

interface AccountSources {
  readonly source: LedgerSource;
  readonly guard: PruningGuard;
  modulesAt(version: bigint): ModuleView;
}

export class Accounts {
  readonly #sources: AccountSources;

  constructor(sources: AccountSources) {
    this.#sources = sources;
  }

  /** The stored account, or the default one if the chain allows it. Throws `account_not_found`, or rejects with it. */
  account(address: Address, version: bigint): MaybePromise<AccountAnswer> {
    const { guard } = this.#sources;
    return andThen(
      storedAccount(guard, address, version),
      (stored) => stored ?? accountByDefault(guard, address, version),
    );
  }

  /** Throws `resource_not_found`, or rejects with it. */
  resource(address: Address, tag: StructTag, version: bigint): MaybePromise<ResourceAnswer> {
    const { guard, modulesAt } = this.#sources;
    const modules = modulesAt(version);
    return andThen(readResource(guard, modules, address, tag), (bytes) => {
      const failure = 'Failed to deserialize resource data retrieved from DB';
      return { bytes, json: () => resourceJson(tag, bytes, modules, failure) };
    });
  }

  /** A page of resources, with the members of groups; empty for an account without resources. */
  async resources(request: ListingRequest): Promise<Listing> {
    const page = await this.#list(request, ['resource', 'resourceGroup']);
    const resources = resourcesOf(page.items);
    const modules = this.#sources.modulesAt(request.version);
    const failure = 'Failed to build move resource response from data in DB';
    return {
      cursor: page.cursor,
      bcs: () => byteMap(resources.map(({ tag, bytes }) => [encodeStructTag(tag), bytes])),
      json: () =>
        jsonArray(
          resources,
          ({ tag, bytes }) => resourceJson(tag, bytes, modules, failure),
          request.pace,
        ),
    };
  }

  async modules(request: ListingRequest): Promise<Listing> {
    const page = await this.#list(request, ['code']);
    const found = page.items.flatMap(({ path, bytes }) =>
      path.kind === 'code' ? [{ id: path.module, bytes }] : [],
    );
    const modules = this.#sources.modulesAt(request.version);
    return {
      cursor: page.cursor,
      bcs: () => byteMap(found.map(({ id, bytes }) => [moduleKey(id), bytes])),
      json: () =>
        jsonArray(
          found,
          async ({ id }) => {
            const module = await modules.module(request.address, id.name);
            if (module === undefined)
              throw new Error(`module ${id.name} vanished while it was listed`);
            return module.json();
          },
          request.pace,
        ),
    };
  }

  /**
   * The stream whose handle is in a field of a resource at the latest version. Throws `resource_not_found`,
   * `struct_field_not_found`, `invalid_input`.
   */
  async eventStream(address: Address, holder: StructTag, fieldName: string): Promise<StreamId> {
    const { guard, modulesAt, source } = this.#sources;
    const { version } = source.head;
    const modules = modulesAt(version);
    const bytes = await readResource(guard, modules, address, holder);
    const found = { address, tag: holder, bytes, version };
    return eventStreamIn(found, fieldName, modules);
  }

  /** A listing reads several times: without this check, rows pruned in between would be silently missing. */
  async #list(request: ListingRequest, kinds: readonly Path['kind'][]): Promise<ListedPage> {
    const { guard, source } = this.#sources;
    const page = await listAccount(source.state, request, kinds);
    await guard.assertRetained(request.version, request.address);
    return page;
  }
}

/** The resources of a page in its order, each group as its members in the order of their types. */
function resourcesOf(items: readonly ListedItem[]): { tag: StructTag; bytes: Buffer }[] {
  return items.flatMap(({ path, bytes }) => {
    if (path.kind === 'resource') return [{ tag: path.tag, bytes }];
    if (path.kind !== 'resourceGroup') return [];
    return decodeStored('Failed to get resources from storage: ', () => decodeResourceGroup(bytes))
      .map(({ tag, data }) => ({ tag, bytes: data }))
      .sort((left, right) => compareStructTags(left.tag, right.tag));
  });
}

function moduleKey({ address, name }: ModuleId): Buffer {
  return encodeBcs((writer) => writer.string(`${formatAddress(address)}::${name}`));
}

/** BCS of a map in the order of its keys' bytes; for equal keys the last value is used. */
function byteMap(entries: readonly (readonly [key: Buffer, value: Buffer])[]): Buffer {
  const byKey = new Map(entries.map((entry) => [entry[0].toString('latin1'), entry]));
  const sorted = [...byKey.values()].sort(([left], [right]) => Buffer.compare(left, right));
  return encodeBcs((writer) =>
    writer.vector(sorted, (to, [key, value]) => to.fixed(key).bytes(value)),
  );
}

async function jsonArray<T>(
  items: readonly T[],
  render: (item: T) => MaybePromise<string>,
  pace = new YieldBudget(),
): Promise<string> {
  const texts: string[] = [];
  for (const item of items) {
    const text = await render(item);
    texts.push(text);
    pace.hold(text.length);
    if (texts.length % ITEMS_PER_TURN === 0) await pace.nextTurn();
  }
  return `[${texts.join(',')}]`;
}

/** For an account that was never created: the first two creation numbers belong to its two streams. */
const DEFAULT_GUID_CREATION_NUMBER = 2n;

interface AccountAnswer {
  readonly sequenceNumber: bigint;
  readonly authenticationKey: Uint8Array;
  /** BCS of `0x1::account::Account`: as stored, or of the default account. */
  readonly bytes: Uint8Array;
}

const ACCOUNT_KEYS = new AccountKeyHasher(resourceStateKey(ADDRESS_ZERO, ACCOUNT_TAG));

/**
 * The account in its resource; `undefined` if it has none.
 * @throws LedgerError `internal_error` for a resource that does not decode; or rejects with it
 */
export function storedAccount(
  guard: PruningGuard,
  address: Address,
  version: bigint,
): MaybePromise<AccountAnswer | undefined> {
  return andThen(guard.state(address, ACCOUNT_KEYS.key(address), version), (entry) => {
    const bytes = entry?.bytes;
    if (bytes === undefined) return undefined;
    const failure = 'Internal error deserializing response from DB: ';
    return answerOf(
      decodeStored(failure, () => accountCodec.decode(bytes)),
      bytes,
    );
  });
}

function accountByDefault(
  guard: PruningGuard,
  address: Address,
  version: bigint,
): MaybePromise<AccountAnswer> {
  return andThen(featuresAt(guard, version), (features) => {
    if (features === undefined || !isFeatureEnabled(features, DEFAULT_ACCOUNT_FLAG)) {
      throw new LedgerError(
        'account_not_found',
        `Account not found by Address(${formatAddress(address)}) and Ledger version(${version})`,
      );
    }
    const account = defaultAccount(address);
    return answerOf(account, accountCodec.encode(account));
  });
}

function answerOf(account: Account, bytes: Uint8Array): AccountAnswer {
  const { sequenceNumber, authenticationKey } = account;
  return { sequenceNumber, authenticationKey, bytes };
}

function defaultAccount(address: Address): Account {
  const handle = (creationNumber: bigint) => ({
    counter: 0n,
    key: { creationNumber, address },
  });
  return {
    authenticationKey: addressBytes(address),
    sequenceNumber: 0n,
    guidCreationNumber: DEFAULT_GUID_CREATION_NUMBER,
    coinRegisterEvents: handle(0n),
    keyRotationEvents: handle(1n),
    rotationCapabilityOffer: undefined,
    signerCapabilityOffer: undefined,
  };
}
