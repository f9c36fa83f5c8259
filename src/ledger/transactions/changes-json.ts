/** The writes of a transaction as JSON (docs/spec/transactions.md §2.10). */
import { andThen, eachInOrder, type MaybePromise } from '../../maybe-promise.ts';
import { type BcsReader, decodeBcs } from '../../move/bcs/bcs-reader.ts';
import { formatHex } from '../../move/bcs/hex.ts';
import { HASH_BYTES } from '../../move/crypto/hash.ts';
import { tryParse } from '../../move/errors.ts';
import type { JsonWriter } from '../../move/json/json-writer.ts';
import { WriteSetEntry, WriteSetTail } from '../../move/transactions/write-set.ts';
import { ADDRESS_BYTES, addressFromBytes, formatAddress } from '../../move/types/address.ts';
import { ModuleId } from '../../move/types/module-id.ts';
import { type MemberPlace, memberPlaces } from '../../move/types/resource-group.ts';
import { physicalStateKey, stateKeyHash } from '../../move/types/state-key.ts';
import { formatStructTag, readStructTag } from '../../move/types/type-tag.ts';
import { compareStructTagsAt } from '../../move/types/type-tag-order.ts';
import { LedgerError } from '../../state/ledger-error.ts';
import type { ModuleCache } from '../../state/module-view.ts';
import { hashAt, type WrittenKeys } from '../../store/columns/version-writes-column.ts';
import type { Decoding } from './decoding.ts';

/** Variants of state keys in BCS. Access paths are shown first, then table items; others are not shown. */
const ACCESS_PATH = 0;
const TABLE_ITEM = 1;
const RAW = 2;
/** One byte of kind, then three addresses. */
const NATIVE_KEY_BYTES = 1 + 3 * ADDRESS_BYTES;
/** Bytes of a value's metadata, by variant. */
const METADATA_BYTES = [16, 24];
const OWNER_AT = 1;

/** Offsets of a write to an access path or a table in the bytes of its transaction. */
interface Write {
  /** Its place in the write set. */
  readonly index: number;
  readonly variant: number;
  /** BCS of the state key. */
  readonly keyStart: number;
  /** The path, or the key of the table item, without its length; the state key ends at `pathEnd`. */
  readonly pathStart: number;
  readonly pathEnd: number;
  readonly valueStart: number;
  /** 0: a deletion. */
  readonly valueEnd: number;
}

export interface ChangesContext {
  readonly decoding: Decoding;
  readonly modules: ModuleCache;
  /** Stored hashes of all keys of the transaction's write set; computed if absent. */
  readonly keys?: WrittenKeys | undefined;
}

/** The writes of a write set that are shown, in the order in which they are shown. */
interface VisibleWrites {
  /** Number of all writes, shown or not. */
  readonly count: number;
  readonly visible: readonly Write[];
}

export function readWrites(reader: BcsReader): VisibleWrites {
  const form = reader.variant(2, 'WriteSet');
  const count = reader.length(WriteSetEntry.minBytes);
  const writes: Write[] = [];
  for (let index = 0; index < count; index += 1) {
    const write = readWrite(reader, index);
    if (write !== undefined) writes.push(write);
  }
  if (form === 1) WriteSetTail.read(reader);
  const { buffer } = reader;
  sortShortList(writes, (left, right) => inMemoryOrder(buffer, left, right));
  return { count, visible: writes };
}

/** @returns `undefined` for a key that belongs to neither an account nor a table */
function readWrite(reader: BcsReader, index: number): Write | undefined {
  const keyStart = reader.offset;
  const variant = reader.variant(4, 'StateKey');
  const isVisible = variant === ACCESS_PATH || variant === TABLE_ITEM;
  if (isVisible) reader.skip(ADDRESS_BYTES);
  const pathBytes = variant > RAW ? NATIVE_KEY_BYTES : reader.length(1);
  const pathStart = reader.skip(pathBytes);
  const op = reader.variant(6, 'WriteOp');
  let valueStart = 0;
  let valueEnd = 0;
  if (op % 3 !== 2) {
    const valueBytes = reader.length(1);
    valueStart = reader.skip(valueBytes);
    valueEnd = valueStart + valueBytes;
  }
  if (op >= 3) reader.skip(METADATA_BYTES[reader.variant(2, 'StateValueMetadata')]!);
  if (!isVisible) return undefined;
  const pathEnd = pathStart + pathBytes;
  return { index, variant, keyStart, pathStart, pathEnd, valueStart, valueEnd };
}

/** The order of keys in the reference's memory, which is not that of BCS: paths are compared without their lengths. */
function inMemoryOrder(buffer: Buffer, left: Write, right: Write): number {
  const leftBytes = left.pathEnd - left.pathStart;
  const rightBytes = right.pathEnd - right.pathStart;
  return (
    left.variant - right.variant ||
    compareBytes(buffer, left.keyStart + OWNER_AT, right.keyStart + OWNER_AT, ADDRESS_BYTES) ||
    compareBytes(buffer, left.pathStart, right.pathStart, Math.min(leftBytes, rightBytes)) ||
    leftBytes - rightBytes
  );
}

/** Longest list that is sorted without `sort`. */
const MAX_INSERTION_SORT = 16;

/** Sorts in place. For a short list, `sort` would make more garbage than the list itself. */
function sortShortList<T>(items: T[], compare: (left: T, right: T) => number): void {
  if (items.length > MAX_INSERTION_SORT) {
    items.sort(compare);
    return;
  }
  for (let count = 1; count < items.length; count += 1) {
    const item = items[count]!;
    let at = count;
    for (; at > 0 && compare(items[at - 1]!, item) > 0; at -= 1) items[at] = items[at - 1]!;
    items[at] = item;
  }
}

/** Most keys differ early, where a call of Buffer.compare would take longer. */
function compareBytes(buffer: Buffer, left: number, right: number, count: number): number {
  for (let at = 0; at < count; at += 1) {
    const order = buffer[left + at]! - buffer[right + at]!;
    if (order !== 0) return order;
  }
  return 0;
}

/** @param item the transaction that the writes were read from */
export function writeChanges(
  out: JsonWriter,
  item: Buffer,
  { visible, count }: VisibleWrites,
  context: ChangesContext,
): MaybePromise<void> {
  const { keys, decoding } = context;
  const { pace } = decoding;
  const own =
    keys === undefined || keys.count === count ? context : { ...context, keys: undefined };
  out.part(OPEN);
  const start = out.length;
  let countedTo = start;
  const hold = (): void => {
    pace.holdPart(out.length - countedTo);
    countedTo = out.length;
  };
  const written = eachInOrder(visible, (change) => {
    if (!pace.mustYield(workOf(item, change))) return writeChange(out, item, change, own);
    hold();
    return andThen(pace.nextTurn(), () => writeChange(out, item, change, own));
  });
  return andThen(written, () => {
    hold();
    // Removes the comma after the last change. A group without members shows nothing, so there may be none.
    if (out.length > start) out.cut(out.length - 1);
    out.part(CLOSE);
  });
}

// Each change ends with a comma.
const OPEN = Buffer.from('[');
const CLOSE = Buffer.from(']');
const ADDRESS = Buffer.from('{"address":');
const KEY_HASH = Buffer.from(',"state_key_hash":');
const DATA = Buffer.from(',"data":{"type":');
const WRITE_RESOURCE = Buffer.from('},"type":"write_resource"},');
const DELETE_RESOURCE = Buffer.from(',"type":"delete_resource"},');
const TABLE_KEY_HASH = Buffer.from('{"state_key_hash":');
const HANDLE = Buffer.from(',"handle":"0x');
const KEY = Buffer.from('","key":');
const VALUE = Buffer.from(',"value":');
const WRITE_TABLE_ITEM = Buffer.from(',"data":null,"type":"write_table_item"},');
const DELETE_TABLE_ITEM = Buffer.from(',"data":null,"type":"delete_table_item"},');

/** Work per byte of a module, for loading it and printing its interface. */
const MODULE_WORK = 8;

function workOf(item: Buffer, { variant, pathStart, valueStart, valueEnd }: Write): number {
  const isModule = variant === ACCESS_PATH && item[pathStart] === CODE;
  return (valueEnd - valueStart) * (isModule ? MODULE_WORK : 1);
}

const CODE = 0;
const RESOURCE = 1;
const RESOURCE_GROUP = 2;

function writeChange(
  out: JsonWriter,
  item: Buffer,
  write: Write,
  context: ChangesContext,
): MaybePromise<void> {
  if (write.variant === TABLE_ITEM) {
    writeTableItem(out, item, write, context);
    return undefined;
  }
  switch (item[write.pathStart]) {
    case CODE:
      writeCode(out, item, write, context);
      return undefined;
    case RESOURCE:
    case RESOURCE_GROUP:
      return writeState(out, item, write, context);
    default:
      writeUnreadablePath(out, item, write, context);
      return undefined;
  }
}

/** Writes the members that every change of an account begins with. */
function writeHead(out: JsonWriter, item: Buffer, write: Write, { keys }: ChangesContext): void {
  out.part(ADDRESS);
  out.quotedAddress(item, write.keyStart + OWNER_AT);
  out.part(KEY_HASH);
  writeKeyHash(out, item, write, keys);
}

function writeKeyHash(
  out: JsonWriter,
  item: Buffer,
  write: Write,
  keys: WrittenKeys | undefined,
): void {
  if (keys === undefined) {
    out.hex(keyHash(item, write), 0, HASH_BYTES);
    return;
  }
  const start = hashAt(keys, write.index);
  out.hex(keys.row, start, start + HASH_BYTES);
}

function keyHash(item: Buffer, { variant, keyStart, pathStart, pathEnd }: Write): Buffer {
  // The physical form of an access path is its BCS.
  if (variant !== TABLE_ITEM) return stateKeyHash(item.subarray(keyStart, pathEnd));
  const handle = addressFromBytes(item, keyStart + OWNER_AT);
  const key = item.subarray(pathStart, pathEnd);
  return stateKeyHash(physicalStateKey({ kind: 'tableItem', handle, key }));
}

function writeCode(out: JsonWriter, item: Buffer, write: Write, context: ChangesContext): void {
  const { decoding, modules } = context;
  const { pathStart, pathEnd, valueStart, valueEnd } = write;
  const id = tryParse(() => ModuleId.decode(item.subarray(pathStart + 1, pathEnd)));
  if (id === undefined) {
    writeUnreadablePath(out, item, write, context);
    return;
  }
  writeHead(out, item, write, context);
  if (valueEnd === 0) {
    const text = JSON.stringify(`${formatAddress(id.address)}::${id.name}`);
    out.text(`,"module":${text},"type":"delete_module"},`);
    return;
  }
  const bytes = item.subarray(valueStart, valueEnd);
  const module = moduleJson(modules, keyHash(item, write), { version: decoding.version, bytes });
  out.text(`,"data":${module},"type":"write_module"},`);
}

/** Writes the change of a resource or a resource group. */
function writeState(
  out: JsonWriter,
  item: Buffer,
  write: Write,
  context: ChangesContext,
): MaybePromise<void> {
  const { pathStart, pathEnd, valueStart: dataStart, valueEnd: dataEnd } = write;
  if (dataEnd === 0) {
    writeDeleted(out, item, write, context);
    return undefined;
  }
  const whole = { tagStart: pathStart + 1, tagEnd: pathEnd, dataStart, dataEnd };
  if (item[pathStart] === RESOURCE) return writeResource(out, item, write, whole, context);
  const members = membersOf(item, dataStart, dataEnd);
  if (members === undefined) return writeResource(out, item, write, whole, context);
  return eachInOrder(members, (member) => writeResource(out, item, write, member, context));
}

function writeResource(
  out: JsonWriter,
  item: Buffer,
  write: Write,
  place: MemberPlace,
  context: ChangesContext,
): MaybePromise<void> {
  writeHead(out, item, write, context);
  out.part(DATA);
  return context.decoding.writeTypedStruct(out, item, place, WRITE_RESOURCE);
}

function writeDeleted(out: JsonWriter, item: Buffer, write: Write, context: ChangesContext): void {
  const path = item.subarray(write.pathStart + 1, write.pathEnd);
  const tag = tryParse(() => decodeBcs(path, (reader) => readStructTag(reader)));
  if (tag === undefined) {
    writeUnreadablePath(out, item, write, context);
    return;
  }
  writeHead(out, item, write, context);
  out.text(`,"resource":${JSON.stringify(formatStructTag(tag))}`);
  out.part(DELETE_RESOURCE);
}

/** The members of a group in the order of their types; `undefined` for bytes that are not a group. */
function membersOf(item: Buffer, start: number, end: number): MemberPlace[] | undefined {
  return tryParse(() => {
    const members = memberPlaces(item, start, end);
    sortShortList(members, (left, right) =>
      compareStructTagsAt(item, left.tagStart, right.tagStart),
    );
    return members;
  });
}

/** Writes a path that does not decode, in place of its type. No chain has such paths. */
function writeUnreadablePath(
  out: JsonWriter,
  item: Buffer,
  write: Write,
  context: ChangesContext,
): void {
  const { pathStart, pathEnd, valueStart, valueEnd } = write;
  writeHead(out, item, write, context);
  if (valueEnd === 0) {
    out.units(',"resource":');
    out.hex(item, pathStart, pathEnd);
    out.part(DELETE_RESOURCE);
    return;
  }
  out.part(DATA);
  out.hex(item, pathStart, pathEnd);
  out.units(',"data":');
  out.hex(item, valueStart, valueEnd);
  out.part(WRITE_RESOURCE);
}

/** A module as JSON; `abi` is null if the interface is too large to print. */
function moduleJson(
  modules: ModuleCache,
  hash: Buffer,
  entry: { readonly version: bigint; readonly bytes: Buffer },
): string {
  try {
    return modules.moduleOf(hash, entry)!.json();
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error;
    return `{"bytecode":"${formatHex(entry.bytes)}","abi":null}`;
  }
}

function writeTableItem(
  out: JsonWriter,
  item: Buffer,
  write: Write,
  { keys }: ChangesContext,
): void {
  const { keyStart, pathStart, pathEnd, valueStart, valueEnd } = write;
  out.part(TABLE_KEY_HASH);
  writeKeyHash(out, item, write, keys);
  out.part(HANDLE);
  out.digits(item, keyStart + OWNER_AT, keyStart + OWNER_AT + ADDRESS_BYTES);
  out.part(KEY);
  out.hex(item, pathStart, pathEnd);
  if (valueEnd === 0) {
    out.part(DELETE_TABLE_ITEM);
    return;
  }
  out.part(VALUE);
  out.hex(item, valueStart, valueEnd);
  out.part(WRITE_TABLE_ITEM);
}
