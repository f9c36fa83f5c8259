/** The questions about accounts, over a stored ledger. */

import type { MaybePromise } from '../maybe-promise.ts';
import type { ModuleLookup } from '../move/modules/lookup.ts';
import { ADDRESS_ONE, type Address, formatAddress } from '../move/types/address.ts';
import type { Path } from '../move/types/state-key.ts';
import { formatStructTag, type StructTag } from '../move/types/type-tag.ts';
import type { StoreView } from '../store/view.ts';
import { accountAt } from './account.ts';
import {
  jsonArray,
  type ListedModule,
  modulesBcs,
  modulesOf,
  resourcesBcs,
  resourcesOf,
} from './account-content.ts';
import type {
  AccountAnswer,
  AccountQuestions,
  EventStreamId,
  Listing,
  ListingRequest,
  ModuleAnswer,
  ResourceAnswer,
} from './api-contract.ts';
import { eventStreamIn } from './event-handle.ts';
import type { LayoutCache } from './layout-cache.ts';
import { LedgerError } from './ledger-error.ts';
import { type ListedPage, listAccount } from './listing.ts';
import type { PruningGuard } from './pruning-guard.ts';
import { readResource, resourceJson } from './resource-reader.ts';
import type { StateReader } from './state-reader.ts';

/** What the questions are answered from. */
export interface AccountSources {
  readonly store: StoreView;
  readonly guard: PruningGuard;
  readonly latestVersion: bigint;
  readonly layouts: LayoutCache;
  moduleAt(address: Address, name: string, version: bigint): MaybePromise<ModuleAnswer | undefined>;
  /** Modules as of a version; the same lookup at every call for the latest one. */
  lookupAt(version: bigint): ModuleLookup;
}

export class StoredAccounts implements AccountQuestions {
  readonly #sources: AccountSources;

  constructor(sources: AccountSources) {
    this.#sources = sources;
  }

  account(address: Address, version: bigint): Promise<AccountAnswer> {
    const readers = { own: this.#stateOf(address), chain: this.#stateOf(ADDRESS_ONE) };
    return accountAt(readers, address, version);
  }

  async resource(address: Address, tag: StructTag, version: bigint): Promise<ResourceAnswer> {
    const lookup = this.#sources.lookupAt(version);
    const bytes = await this.#resourceBytes(address, tag, version, lookup);
    return {
      bytes,
      json: () =>
        resourceJson(
          tag,
          bytes,
          lookup,
          this.#sources.layouts,
          'Failed to deserialize resource data retrieved from DB',
        ),
    };
  }

  async resources(request: ListingRequest): Promise<Listing> {
    const { layouts, lookupAt } = this.#sources;
    const page = await this.#list(request, ['resource', 'resourceGroup']);
    const resources = resourcesOf(page.items);
    const lookup = lookupAt(request.version);
    const failure = 'Failed to build move resource response from data in DB';
    return {
      cursor: page.cursor,
      bcs: () => resourcesBcs(resources),
      json: () =>
        jsonArray(resources, ({ tag, bytes }) =>
          resourceJson(tag, bytes, lookup, layouts, failure),
        ),
    };
  }

  async modules(request: ListingRequest): Promise<Listing> {
    const page = await this.#list(request, ['code']);
    const modules = modulesOf(page.items);
    return {
      cursor: page.cursor,
      bcs: () => modulesBcs(modules),
      json: () => jsonArray(modules, (module) => this.#moduleJson(request, module)),
    };
  }

  async eventStream(
    address: Address,
    holder: StructTag,
    fieldName: string,
  ): Promise<EventStreamId> {
    const { latestVersion, layouts, lookupAt } = this.#sources;
    const lookup = lookupAt(latestVersion);
    const bytes = await this.#resourceBytes(address, holder, latestVersion, lookup);
    const found = { address, tag: holder, bytes, version: latestVersion };
    return eventStreamIn(found, fieldName, lookup, layouts);
  }

  #stateOf(account: Address): StateReader {
    const { guard, store } = this.#sources;
    return guard.reader((hash, at) => store.state(hash, at), account);
  }

  /** A listing takes several looks: what was pruned between them would be left out without a word. */
  async #list(request: ListingRequest, kinds: readonly Path['kind'][]): Promise<ListedPage> {
    const { guard, store } = this.#sources;
    const page = await listAccount(store, request, kinds);
    await guard.assertKept(request.version, request.address);
    return page;
  }

  async #resourceBytes(
    address: Address,
    tag: StructTag,
    version: bigint,
    lookup: ModuleLookup,
  ): Promise<Buffer> {
    const bytes = await readResource(this.#stateOf(address), lookup, address, tag, version);
    if (bytes !== undefined) return bytes;
    throw new LedgerError(
      'resource_not_found',
      `Resource not found by Address(${formatAddress(address)}), ` +
        `Struct tag(${formatStructTag(tag)}) and Ledger version(${version})`,
    );
  }

  /** From the cache of modules, where its text is kept. */
  async #moduleJson({ address, version }: ListingRequest, { id }: ListedModule): Promise<string> {
    const module = await this.#sources.moduleAt(address, id.name, version);
    if (module === undefined) throw new Error(`module ${id.name} went missing while it was listed`);
    return module.json();
  }
}
