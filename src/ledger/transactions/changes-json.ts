/** What a transaction wrote, as JSON (docs/spec/transactions.md §2.10). */
import { andThen, type MaybePromise, mapInOrder } from '../../maybe-promise.ts';
import { type BcsReader, decodeBcs } from '../../move/bcs/bcs-reader.ts';
import { formatHex } from '../../move/bcs/hex.ts';
import { unlessRefused } from '../../move/errors.ts';
import { MIN_WRITE_BYTES, readWriteSetTail } from '../../move/transactions/write-set.ts';
import { ADDRESS_BYTES, addressFromBytes, formatAddress } from '../../move/types/address.ts';
import { readModuleId } from '../../move/types/module-id.ts';
import { decodeResourceGroup } from '../../move/types/resource-group.ts';
import { physicalStateKey, stateKeyHash } from '../../move/types/state-key.ts';
import { formatStructTag, readStructTag } from '../../move/types/type-tag.ts';
import { compareStructTags } from '../../move/types/type-tag-order.ts';
import { LedgerError } from '../ledger-error.ts';
import type { ModuleCache } from '../modules/module-view.ts';
import type { Decoding } from './decoding.ts';
import { quoted, quotedHex } from './json-units.ts';

/** State keys that are shown, by their variants in BCS and in this order. */
const ACCESS_PATH = 0;
const TABLE_ITEM = 1;
const RAW = 2;
/** One byte of kind, then three addresses. */
const NATIVE_KEY_BYTES = 1 + 3 * ADDRESS_BYTES;
/** Of a value's metadata, by variant. */
const METADATA_BYTES = [16, 24];
const OWNER_AT = 1;
const AFTER_OWNER = OWNER_AT + ADDRESS_BYTES;

/** A write to an access path or a table; views on the transaction. */
interface Write {
  readonly variant: number;
  /** BCS of the state key. */
  readonly key: Buffer;
  /** Path or key of the table item, without its length. */
  readonly path: Buffer;
  /** Absent: a deletion. */
  readonly value: Buffer | undefined;
}

export interface ChangesContext {
  readonly decoding: Decoding;
  readonly modules: ModuleCache;
}

/** Reads the writes of a write set that are shown, in the order in which they are shown. */
export function readWrites(reader: BcsReader): Write[] {
  const form = reader.variant(2, 'WriteSet');
  const count = reader.length(MIN_WRITE_BYTES);
  const writes: Write[] = [];
  for (let index = 0; index < count; index += 1) {
    const write = readWrite(reader);
    if (write !== undefined) writes.push(write);
  }
  if (form === 1) readWriteSetTail(reader);
  return writes.sort(inMemoryOrder);
}

/** @returns `undefined` for a key that is neither of an account nor of a table */
function readWrite(reader: BcsReader): Write | undefined {
  const start = reader.offset;
  const variant = reader.variant(4, 'StateKey');
  let path: Buffer | undefined;
  if (variant === ACCESS_PATH || variant === TABLE_ITEM) {
    reader.skip(ADDRESS_BYTES);
    path = reader.bytes();
  } else {
    reader.skip(variant === RAW ? reader.length(1) : NATIVE_KEY_BYTES);
  }
  const key = reader.buffer.subarray(start, reader.offset);
  const op = reader.variant(6, 'WriteOp');
  const value = op % 3 === 2 ? undefined : reader.bytes();
  if (op >= 3) reader.skip(METADATA_BYTES[reader.variant(2, 'StateValueMetadata')]!);
  return path && { variant, key, path, value };
}

/** The order of keys in the reference's memory, which is not that of BCS: paths are compared without their lengths. */
function inMemoryOrder(left: Write, right: Write): number {
  return (
    left.variant - right.variant ||
    compareBytes(left.key, right.key, OWNER_AT, AFTER_OWNER) ||
    compareBytes(left.path, right.path, 0, Math.min(left.path.length, right.path.length)) ||
    left.path.length - right.path.length
  );
}

/** Most keys differ early, where a call of Buffer.compare would take longer. */
function compareBytes(left: Buffer, right: Buffer, start: number, end: number): number {
  for (let at = start; at < end; at += 1) {
    const order = left[at]! - right[at]!;
    if (order !== 0) return order;
  }
  return 0;
}

export function changesJson(
  writes: readonly Write[],
  context: ChangesContext,
): MaybePromise<string> {
  const { pace } = context.decoding;
  const changes = mapInOrder(writes, (write) =>
    andThen(pace.after(workOf(write)), () => changeJson(write, context)),
  );
  // A group without members shows nothing.
  return andThen(changes, (texts) => `[${texts.filter((text) => text !== '').join(',')}]`);
}

/** Loading a module and printing its interface is that much work per byte. */
const MODULE_WORK = 8;

function workOf({ variant, path, value }: Write): number {
  const valueBytes = value === undefined ? 0 : value.length;
  return variant === ACCESS_PATH && path[0] === CODE ? valueBytes * MODULE_WORK : valueBytes;
}

/** Kinds of paths. */
const CODE = 0;
const RESOURCE = 1;
const RESOURCE_GROUP = 2;

function changeJson(write: Write, context: ChangesContext): MaybePromise<string> {
  const { variant, key, path, value } = write;
  if (variant === TABLE_ITEM) return tableItemJson(write);
  // The physical form of an access path is its BCS.
  const hash = stateKeyHash(key);
  const head = `{"address":"${formatAddress(addressFromBytes(key, OWNER_AT))}","state_key_hash":${quotedHex(hash)},`;
  const inner = path.subarray(1);
  if (path[0] === CODE) {
    const id = unlessRefused(() => decodeBcs(inner, readModuleId));
    if (id !== undefined) {
      if (value !== undefined) {
        const entry = { version: context.decoding.version, bytes: value };
        return `${head}"data":${moduleJson(context.modules, hash, entry)},"type":"write_module"}`;
      }
      const text = `${formatAddress(id.address)}::${id.name}`;
      return `${head}"module":${quoted(text)},"type":"delete_module"}`;
    }
  } else if (path[0] === RESOURCE || path[0] === RESOURCE_GROUP) {
    if (value === undefined) {
      const tag = unlessRefused(() => decodeBcs(inner, (reader) => readStructTag(reader)));
      const text = tag === undefined ? formatHex(path) : formatStructTag(tag);
      return `${head}"resource":${quoted(text)},"type":"delete_resource"}`;
    }
    const members = path[0] === RESOURCE_GROUP ? membersOf(value) : undefined;
    if (members === undefined) return resourceJson(head, inner, value, context);
    const shown = mapInOrder(members, ({ tagBytes, data }) =>
      resourceJson(head, tagBytes, data, context),
    );
    return andThen(shown, (texts) => texts.join(','));
  }
  return unreadablePathJson(head, path, value);
}

function resourceJson(
  head: string,
  structBytes: Buffer,
  value: Buffer,
  { decoding }: ChangesContext,
): MaybePromise<string> {
  return andThen(
    decoding.typedStruct(structBytes, value),
    ({ type, data }) => `${head}"data":{"type":${type},"data":${data}},"type":"write_resource"}`,
  );
}

/** The members of a group in the order of their types; `undefined` for bytes that are not a group. */
function membersOf(value: Buffer): readonly { tagBytes: Buffer; data: Buffer }[] | undefined {
  return unlessRefused(() =>
    decodeResourceGroup(value).sort((left, right) => compareStructTags(left.tag, right.tag)),
  );
}

/** A path that names nothing, which no chain has: shown where its type would stand. */
function unreadablePathJson(head: string, path: Buffer, value: Buffer | undefined): string {
  const type = quotedHex(path);
  return value === undefined
    ? `${head}"resource":${type},"type":"delete_resource"}`
    : `${head}"data":{"type":${type},"data":${quotedHex(value)}},"type":"write_resource"}`;
}

/** Without its interface where that is too large to print. */
function moduleJson(
  modules: ModuleCache,
  hash: Buffer,
  entry: { readonly version: bigint; readonly bytes: Buffer },
): string {
  try {
    return modules.moduleOf(hash, entry)!.json();
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error;
    return `{"bytecode":${quotedHex(entry.bytes)},"abi":null}`;
  }
}

function tableItemJson({ key, path, value }: Write): string {
  const handle = addressFromBytes(key, OWNER_AT);
  const hash = stateKeyHash(physicalStateKey({ kind: 'tableItem', handle, key: path }));
  const item = `{"state_key_hash":${quotedHex(hash)},"handle":"0x${handle}","key":${quotedHex(path)},`;
  return value === undefined
    ? `${item}"data":null,"type":"delete_table_item"}`
    : `${item}"value":${quotedHex(value)},"data":null,"type":"write_table_item"}`;
}
