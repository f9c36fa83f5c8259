/**
 * State as the upstream answers it. The raw value of any key comes with its metadata; where the upstream hides that
 * operation, values come from the operations of their kinds (docs/spec/http.md §1.2, docs/spec/transactions.md §6).
 */
import { type BcsReader, decodeBcs } from '../move/bcs/bcs-reader.ts';
import { encodeBcs } from '../move/bcs/bcs-writer.ts';
import { formatHex } from '../move/bcs/hex.ts';
import { type CompiledModule, moduleIdOf } from '../move/modules/compiled.ts';
import { BinaryFormatError, MAGIC } from '../move/modules/format.ts';
import { loadModule } from '../move/modules/read.ts';
import { type Address, formatAddress } from '../move/types/address.ts';
import type { ModuleId } from '../move/types/module-id.ts';
import { decodeResourceGroup } from '../move/types/resource-group.ts';
import { type StateKey, writeStateKey } from '../move/types/state-key.ts';
import { readStateValue } from '../move/types/state-value.ts';
import { formatStructTag, readStructTag, type StructTag } from '../move/types/type-tag.ts';
import type { RecordedValue } from '../store/columns/fork-columns.ts';
import type { ForkClient, Question, Reply } from './fork-client.ts';
import { decoded, pathOf, requireResult } from './history-answers.ts';
import { badAnswer, UpstreamFailure } from './upstream-failure.ts';

/** Most resources, or modules, of an account. */
const MAX_LISTED = 100_000;
const KEYS_PER_PAGE = 9_999;
/** The bytes of an entry of a listing at least: a tag or name, and no data. */
const MIN_RESOURCE_BYTES = 36;
const MIN_MODULE_BYTES = 2;

/** Statuses of an operation that is not there, or not for everybody. */
const HIDING: readonly number[] = [403, 404, 405];

/** The raw value of a key; `hidden` where the upstream does not answer such questions. */
export async function askRawValue(
  client: ForkClient,
  what: string,
  key: StateKey,
  version: bigint,
): Promise<RecordedValue | undefined | 'hidden'> {
  if (client.isRawHidden) return 'hidden';
  const reply = await client.ask({
    path: '/experimental/state_values/raw',
    query: atVersion(version),
    body: { key: formatHex(encodeBcs((writer) => writeStateKey(writer, key))) },
  });
  if (reply.kind === 'refusal') {
    if (reply.code === 'state_value_not_found') return undefined;
    if (HIDING.includes(reply.status) && !isOfState(reply.code)) {
      client.noteRawHidden();
      return 'hidden';
    }
  }
  const { bytes } = requireResult(what, reply);
  const value = decoded(what, () => decodeBcs(bytes, readStateValue));
  checkValue(what, key, value.bytes);
  return value;
}

/** Refusals that an operation on state gives because of the version. */
function isOfState(code: string): boolean {
  return code === 'version_not_found' || code === 'version_pruned';
}

/** The value of a module, a plain resource or a table's item, by the operation of its kind. */
export async function askValueOfKind(
  client: ForkClient,
  what: string,
  key: StateKey,
  version: bigint,
): Promise<RecordedValue | undefined> {
  const { question, absent } = questionOfKind(what, key, version);
  const reply = await client.ask(question);
  if (reply.kind === 'refusal' && reply.code === absent) return undefined;
  const { bytes } = requireResult(what, reply);
  checkValue(what, key, bytes);
  return { bytes, metadata: 'unknown' };
}

function questionOfKind(what: string, key: StateKey, version: bigint) {
  const query = atVersion(version);
  if (key.kind === 'tableItem') {
    const path = pathOf('tables', formatAddress(key.handle), 'raw_item');
    const question: Question = { path, query, body: { key: formatHex(key.key) } };
    return { question, absent: 'table_item_not_found' };
  }
  const path = key.kind === 'accessPath' ? key.parsed : undefined;
  if (key.kind === 'accessPath' && path !== undefined && path.kind !== 'resourceGroup') {
    const isModule = path.kind === 'code';
    const name = isModule ? path.module.name : formatStructTag(path.tag);
    const kind = isModule ? 'module' : 'resource';
    const question = { path: pathOf('accounts', formatAddress(key.address), kind, name), query };
    return { question, absent: `${kind}_not_found` };
  }
  const detail = `only raw state values tell ${what}, and it hides them`;
  throw new UpstreamFailure('hidden', detail);
}

/** Checks what a value must be because of its key. @throws UpstreamFailure `bad_answer` */
function checkValue(what: string, key: StateKey, bytes: Buffer): void {
  const path = key.kind === 'accessPath' ? key.parsed : undefined;
  if (path?.kind === 'resourceGroup') decoded(what, () => decodeResourceGroup(bytes));
  if (path?.kind === 'code') checkModule(what, path.module, bytes);
}

/** A module that loads must have its name; one that does not may be of a newer format. */
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

/** A listed resource: a plain one, or a member of a group. */
export interface ListedResource {
  readonly tag: StructTag;
  readonly bytes: Buffer;
}

/** All resources of an account. */
export async function askResources(
  client: ForkClient,
  address: Address,
  version: bigint,
): Promise<readonly ListedResource[]> {
  return await askListing(client, 'resources', address, version, (reader) =>
    reader.map(MIN_RESOURCE_BYTES, readStructTag, (inner) => inner.bytes()),
  ).then((entries) => entries.map(([tag, bytes]) => ({ tag, bytes })));
}

/** All modules of an account, by name. */
export async function askModules(
  client: ForkClient,
  address: Address,
  version: bigint,
): Promise<ReadonlyMap<string, Buffer>> {
  const what = `modules of ${formatAddress(address)}`;
  const prefix = `${formatAddress(address)}::`;
  const entries = await askListing(client, 'modules', address, version, (reader) =>
    reader.map(
      MIN_MODULE_BYTES,
      (inner) => inner.string(),
      (inner) => inner.bytes(),
    ),
  );
  const modules = new Map<string, Buffer>();
  for (const [id, bytes] of entries) {
    if (!id.startsWith(prefix)) throw badAnswer(what, `${JSON.stringify(id)} is among them`);
    const name = id.slice(prefix.length);
    checkModule(what, { address, name }, bytes);
    modules.set(name, bytes);
  }
  return modules;
}

async function askListing<T>(
  client: ForkClient,
  items: 'resources' | 'modules',
  address: Address,
  version: bigint,
  read: (reader: BcsReader) => readonly T[],
): Promise<readonly T[]> {
  const shown = formatAddress(address);
  const what = `${items} of ${shown}`;
  const found: T[] = [];
  let start: string | undefined;
  do {
    const limit = String(KEYS_PER_PAGE);
    const query = { ...atVersion(version), limit, ...(start !== undefined && { start }) };
    const reply: Reply = await client.ask({ path: pathOf('accounts', shown, items), query });
    if (reply.kind === 'refusal' && reply.code === 'account_not_found') return found;
    const { bytes, cursor } = requireResult(what, reply);
    for (const item of decoded(what, () => decodeBcs(bytes, read))) found.push(item);
    if (found.length > MAX_LISTED) {
      throw new UpstreamFailure('too_large', `${what}: more than ${MAX_LISTED}`);
    }
    if (cursor !== undefined && cursor === start) throw badAnswer(what, 'a page without an end');
    start = cursor;
  } while (start !== undefined);
  return found;
}

function atVersion(version: bigint): { readonly ledger_version: string } {
  return { ledger_version: String(version) };
}
