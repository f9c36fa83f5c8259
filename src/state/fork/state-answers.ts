/**
 * State in the upstream's answers. The operation for raw values works for any key and returns metadata. If the upstream
 * hides it, values come from the operations for their kinds (docs/spec/http.md §1.2, docs/spec/transactions.md §6).
 */

import { type BcsReader, decodeBcs } from '../../move/bcs/bcs-reader.ts';
import { formatHex } from '../../move/bcs/hex.ts';
import { tryParse } from '../../move/errors.ts';
import { type CompiledModule, moduleIdOf } from '../../move/modules/compiled.ts';
import { BinaryFormatError, MAGIC } from '../../move/modules/format.ts';
import { loadModule } from '../../move/modules/read.ts';
import {
  type Address,
  addressBytes,
  addressFromBytes,
  formatAddress,
  parseAddress,
} from '../../move/types/address.ts';
import type { ModuleId } from '../../move/types/module-id.ts';
import { decodeResourceGroup } from '../../move/types/resource-group.ts';
import {
  moduleStateKey,
  parsePhysicalStateKey,
  physicalStateKey,
  StateKey,
} from '../../move/types/state-key.ts';
import { StateValue } from '../../move/types/state-value.ts';
import { formatStructTag, readStructTag, type StructTag } from '../../move/types/type-tag.ts';
import { LedgerError } from '../ledger-error.ts';
import type { ForkClient, UpstreamRequest } from './fork-client.ts';
import { decodeAnswer, fetchIfPresent, pathOf, requireResult } from './history-answers.ts';
import type { ListPage } from './recorded-answers.ts';
import { badAnswer, UpstreamFailure } from './upstream-failure.ts';

const KEYS_PER_REQUEST = 1_000;
/** Minimum sizes of listing entries in bytes: a tag or name, and no data. */
const MIN_RESOURCE_BYTES = 36;
const MIN_MODULE_BYTES = 2;
/** Minimum size of a balance in bytes: metadata, no coin, amount, no unit. */
const MIN_BALANCE_BYTES = 32 + 1 + 8 + 1;

/** Statuses of an operation that is missing or restricted. */
const HIDDEN_STATUSES: readonly number[] = [403, 404, 405];
/** Error codes that concern the version. */
const VERSION_ERRORS: readonly string[] = ['version_not_found', 'version_pruned'];

export async function fetchRawValue(
  client: ForkClient,
  what: string,
  key: StateKey,
  version: bigint,
): Promise<StateValue | undefined | 'hidden'> {
  if (client.isRawHidden) return 'hidden';
  const reply = await client.request({
    path: '/experimental/state_values/raw',
    query: atVersion(version),
    body: { key: formatHex(StateKey.encode(key)) },
  });
  if (reply.kind === 'refusal') {
    if (reply.code === 'state_value_not_found') return undefined;
    if (HIDDEN_STATUSES.includes(reply.status) && !VERSION_ERRORS.includes(reply.code)) {
      client.recordRawHidden();
      return 'hidden';
    }
  }
  const { bytes } = requireResult(what, reply);
  const value = decodeAnswer(what, () => StateValue.decode(bytes));
  checkValue(what, key, value.bytes);
  return value;
}

/** The value of a module, a plain resource or a table item, from the operation for its kind. */
export async function fetchByKind(
  client: ForkClient,
  what: string,
  key: StateKey,
  version: bigint,
): Promise<StateValue | undefined> {
  const { request, absent } = requestByKind(what, key, version);
  const reply = await client.request(request);
  if (reply.kind === 'refusal' && reply.code === absent) return undefined;
  const { bytes } = requireResult(what, reply);
  checkValue(what, key, bytes);
  return { bytes, metadata: undefined };
}

function requestByKind(what: string, key: StateKey, version: bigint) {
  const query = atVersion(version);
  if (key.kind === 'tableItem') {
    const path = pathOf('tables', formatAddress(key.handle), 'raw_item');
    const request: UpstreamRequest = { path, query, body: { key: formatHex(key.key) } };
    return { request, absent: 'table_item_not_found' };
  }
  const path = key.kind === 'accessPath' ? key.parsed : undefined;
  if (key.kind === 'accessPath' && path !== undefined && path.kind !== 'resourceGroup') {
    const isModule = path.kind === 'code';
    const name = isModule ? path.module.name : formatStructTag(path.tag);
    const kind = isModule ? 'module' : 'resource';
    const request = { path: pathOf('accounts', formatAddress(key.address), kind, name), query };
    return { request, absent: `${kind}_not_found` };
  }
  throw hiddenFailure(what);
}

export function hiddenFailure(what: string): UpstreamFailure {
  return new UpstreamFailure('hidden', `only raw values tell ${what}, and it hides them`);
}

/** Checks that a value has the form that its key requires. @throws UpstreamFailure `bad_answer` */
function checkValue(what: string, key: StateKey, bytes: Buffer): void {
  const path = key.kind === 'accessPath' ? key.parsed : undefined;
  if (path?.kind === 'resourceGroup') decodeAnswer(what, () => decodeResourceGroup(bytes));
  if (path?.kind === 'code') checkModule(what, path.module, bytes);
}

/** A module that loads must have the expected id; one that does not load may have a newer format. */
function checkModule(what: string, { address, name }: ModuleId, bytes: Buffer): void {
  let module: CompiledModule;
  try {
    module = loadModule(bytes);
  } catch (error) {
    if (!(error instanceof BinaryFormatError)) throw error;
    if (bytes.subarray(0, MAGIC.length).equals(MAGIC)) return;
    throw badAnswer(what, error.message, { cause: error });
  }
  const self = moduleIdOf(module);
  if (self.address === address && self.name === name) return;
  throw badAnswer(what, 'the module has another name');
}

export type ListingKind = 'resources' | 'modules';

export interface ListedValue {
  readonly key: Buffer;
  /** Absent in a recorded listing: the value has a row of its own. */
  readonly bytes?: Buffer;
}

/** A listed resource: a plain one, or a member of a group. */
export interface ListedResource {
  readonly tag: StructTag;
  readonly bytes: Buffer;
}

/** Requests a page of an account's resources. @param from the state key at which it starts; empty for the first page */
export async function fetchResources(
  client: ForkClient,
  address: Address,
  version: bigint,
  from: Buffer,
) {
  const { entries, next } = await fetchListing(
    client,
    'resources',
    { address, version, from },
    (reader) => reader.map(MIN_RESOURCE_BYTES, readStructTag, (inner) => inner.bytes()),
  );
  const resources = entries.map(([tag, bytes]): ListedResource => ({ tag, bytes }));
  return { resources, next };
}

export async function fetchModules(
  client: ForkClient,
  address: Address,
  version: bigint,
  from: Buffer,
): Promise<ListPage<ListedValue>> {
  const what = `modules of ${formatAddress(address)}`;
  const prefix = `${formatAddress(address)}::`;
  const { entries, next } = await fetchListing(
    client,
    'modules',
    { address, version, from },
    (reader) =>
      reader.map(
        MIN_MODULE_BYTES,
        (inner) => inner.string(),
        (inner) => inner.bytes(),
      ),
  );
  const items = entries.map(([id, bytes]) => {
    if (!id.startsWith(prefix)) throw badAnswer(what, `${JSON.stringify(id)} is among them`);
    const name = id.slice(prefix.length);
    checkModule(what, { address, name }, bytes);
    return { key: physicalStateKey(moduleStateKey(address, name)), bytes };
  });
  return { items: items.sort((left, right) => Buffer.compare(left.key, right.key)), next };
}

async function fetchListing<T>(
  client: ForkClient,
  kind: ListingKind,
  { address, version, from }: { address: Address; version: bigint; from: Buffer },
  read: (reader: BcsReader) => readonly T[],
): Promise<{ readonly entries: readonly T[]; readonly next: Buffer | undefined }> {
  const account = formatAddress(address);
  const what = `${kind} of ${account}`;
  const start = from.length === 0 ? {} : { start: from.toString('hex') };
  const query = { ...atVersion(version), limit: String(KEYS_PER_REQUEST), ...start };
  const request = { path: pathOf('accounts', account, kind), query, absent: 'account_not_found' };
  const found = await fetchIfPresent(client, what, request, read);
  if (found === undefined) return { entries: [], next: undefined };
  const { answer: entries, cursor } = found;
  const next = cursor === undefined ? undefined : Buffer.from(cursor, 'hex');
  const key = next && tryParse(() => parsePhysicalStateKey(next));
  const isOfAccount = key?.kind === 'accessPath' && key.address === address;
  if (next !== undefined && !isOfAccount) throw badAnswer(what, 'a bad cursor');
  return { entries, next };
}

export async function fetchAssets(
  client: ForkClient,
  address: Address,
  version: bigint,
  from: Buffer,
  limit: number,
): Promise<ListPage<Address>> {
  const account = formatAddress(address);
  const what = `the balances of ${account}`;
  const start = from.length === 0 ? {} : { start: formatAddress(addressFromBytes(from)) };
  const query = { ...atVersion(version), limit: String(limit), ...start };
  const reply = await client.request({ path: pathOf('accounts', account, 'balances'), query });
  const isUnknown = reply.kind === 'refusal' && reply.code === 'web_framework_error';
  if (isUnknown && reply.status === 404) {
    const message = 'This fork cannot list balances: its upstream has no such operation';
    throw new LedgerError('transactions_not_kept', message);
  }
  const { bytes, cursor } = requireResult(what, reply);
  const items = decodeAnswer(what, () =>
    decodeBcs(bytes, (reader) => reader.vector(MIN_BALANCE_BYTES, readBalanceAsset)),
  );
  const next = cursor === undefined ? undefined : tryParse(() => parseAddress(cursor));
  if (cursor !== undefined && next === undefined) throw badAnswer(what, 'a bad cursor');
  return { items, next: next === undefined ? undefined : Buffer.from(addressBytes(next)) };
}

/** Reads an item of the list of balances (docs/extensions.md); only the asset is used. */
function readBalanceAsset(reader: BcsReader): Address {
  const metadata = reader.address();
  reader.option((inner) => readStructTag(inner));
  reader.u64();
  reader.option((inner) => [inner.string(), inner.string(), inner.u8()]);
  return metadata;
}

function atVersion(version: bigint): { readonly ledger_version: string } {
  return { ledger_version: String(version) };
}
