/** What a transaction wrote, as JSON (docs/spec/transactions.md §2.10). */
import { andThen, type MaybePromise, mapInOrder } from '../../maybe-promise.ts';
import { type BcsReader, decodeBcs } from '../../move/bcs/bcs-reader.ts';
import { tryParse } from '../../move/errors.ts';
import { WriteSetEntry, WriteSetTail } from '../../move/transactions/write-set.ts';
import { ADDRESS_BYTES, addressFromBytes, formatAddress } from '../../move/types/address.ts';
import { ModuleId } from '../../move/types/module-id.ts';
import { type MemberPlace, memberPlaces } from '../../move/types/resource-group.ts';
import { physicalStateKey, stateKeyHash } from '../../move/types/state-key.ts';
import { formatStructTag, readStructTag } from '../../move/types/type-tag.ts';
import { compareStructTagsAt } from '../../move/types/type-tag-order.ts';
import { LedgerError } from '../../state/ledger-error.ts';
import type { ModuleCache } from '../../state/module-view.ts';
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

/** Where a write to an access path or a table stands in the bytes of its transaction. */
interface Write {
  readonly variant: number;
  /** BCS of the state key. */
  readonly keyStart: number;
  /** The path or key of the table item, without its length; the state key ends where it does. */
  readonly pathStart: number;
  readonly pathEnd: number;
  readonly valueStart: number;
  /** 0: a deletion. */
  readonly valueEnd: number;
}

export interface ChangesContext {
  readonly decoding: Decoding;
  readonly modules: ModuleCache;
}

/** Reads the writes of a write set that are shown, in the order in which they are shown. */
export function readWrites(reader: BcsReader): Write[] {
  const form = reader.variant(2, 'WriteSet');
  const count = reader.length(WriteSetEntry.minBytes);
  const writes: Write[] = [];
  for (let index = 0; index < count; index += 1) {
    const write = readWrite(reader);
    if (write !== undefined) writes.push(write);
  }
  if (form === 1) WriteSetTail.read(reader);
  const { buffer } = reader;
  return writes.sort((left, right) => inMemoryOrder(buffer, left, right));
}

/** @returns `undefined` for a key that is neither of an account nor of a table */
function readWrite(reader: BcsReader): Write | undefined {
  const keyStart = reader.offset;
  const variant = reader.variant(4, 'StateKey');
  const isShown = variant === ACCESS_PATH || variant === TABLE_ITEM;
  if (isShown) reader.skip(ADDRESS_BYTES);
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
  if (!isShown) return undefined;
  return { variant, keyStart, pathStart, pathEnd: pathStart + pathBytes, valueStart, valueEnd };
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

/** Most keys differ early, where a call of Buffer.compare would take longer. */
function compareBytes(buffer: Buffer, left: number, right: number, count: number): number {
  for (let at = 0; at < count; at += 1) {
    const order = buffer[left + at]! - buffer[right + at]!;
    if (order !== 0) return order;
  }
  return 0;
}

/** @param item the transaction that the writes were read from */
export function changesJson(
  item: Buffer,
  writes: readonly Write[],
  context: ChangesContext,
): MaybePromise<string> {
  if (writes.length === 0) return '[]';
  const { pace } = context.decoding;
  const hold = (text: string): string => {
    pace.holdPart(text.length);
    return text;
  };
  const show = (write: Write) => andThen(changeJson(item, write, context), hold);
  const changes = mapInOrder(writes, (write) =>
    pace.inTurn(workOf(item, write), () => show(write)),
  );
  // A group without members shows nothing.
  return andThen(changes, (texts) => `[${texts.filter((text) => text !== '').join(',')}]`);
}

/** Loading a module and printing its interface is that much work per byte. */
const MODULE_WORK = 8;

function workOf(item: Buffer, { variant, pathStart, valueStart, valueEnd }: Write): number {
  const isModule = variant === ACCESS_PATH && item[pathStart] === CODE;
  return (valueEnd - valueStart) * (isModule ? MODULE_WORK : 1);
}

const CODE = 0;
const RESOURCE = 1;
const RESOURCE_GROUP = 2;

function changeJson(item: Buffer, write: Write, context: ChangesContext): MaybePromise<string> {
  if (write.variant === TABLE_ITEM) return tableItemJson(item, write);
  const { keyStart, pathStart, pathEnd } = write;
  // The physical form of an access path is its BCS.
  const hash = stateKeyHash(item.subarray(keyStart, pathEnd));
  const address = formatAddress(addressFromBytes(item, keyStart + OWNER_AT));
  const head = `{"address":"${address}","state_key_hash":${quotedHex(hash)},`;
  switch (item[pathStart]) {
    case CODE:
      return codeJson(head, hash, item, write, context);
    case RESOURCE:
    case RESOURCE_GROUP:
      return stateJson(head, item, write, context);
    default:
      return unreadablePathJson(head, item, write);
  }
}

function codeJson(
  head: string,
  hash: Buffer,
  item: Buffer,
  write: Write,
  { decoding, modules }: ChangesContext,
): string {
  const { pathStart, pathEnd } = write;
  const id = tryParse(() => ModuleId.decode(item.subarray(pathStart + 1, pathEnd)));
  if (id === undefined) return unreadablePathJson(head, item, write);
  const bytes = writtenBytes(item, write);
  if (bytes === undefined) {
    const text = `${formatAddress(id.address)}::${id.name}`;
    return `${head}"module":${quoted(text)},"type":"delete_module"}`;
  }
  const module = moduleJson(modules, hash, { version: decoding.version, bytes });
  return `${head}"data":${module},"type":"write_module"}`;
}

/** Of a resource or a resource group. */
function stateJson(
  head: string,
  item: Buffer,
  write: Write,
  { decoding }: ChangesContext,
): MaybePromise<string> {
  const { pathStart, pathEnd, valueStart: dataStart, valueEnd: dataEnd } = write;
  const [tagStart, tagEnd] = [pathStart + 1, pathEnd];
  if (dataEnd === 0) {
    const path = item.subarray(tagStart, tagEnd);
    const tag = tryParse(() => decodeBcs(path, (reader) => readStructTag(reader)));
    if (tag === undefined) return unreadablePathJson(head, item, write);
    return `${head}"resource":${quoted(formatStructTag(tag))},"type":"delete_resource"}`;
  }
  const show = (place: MemberPlace): MaybePromise<string> =>
    andThen(
      decoding.typedStruct(item, place),
      ({ type, data }) => `${head}"data":{"type":${type},"data":${data}},"type":"write_resource"}`,
    );
  const whole = { tagStart, tagEnd, dataStart, dataEnd };
  if (item[pathStart] === RESOURCE) return show(whole);
  const members = membersOf(item, dataStart, dataEnd);
  if (members === undefined) return show(whole);
  return andThen(mapInOrder(members, show), (texts) => texts.join(','));
}

/** The members of a group in the order of their types; `undefined` for bytes that are not a group. */
function membersOf(item: Buffer, start: number, end: number): MemberPlace[] | undefined {
  return tryParse(() =>
    memberPlaces(item, start, end).sort((left, right) =>
      compareStructTagsAt(item, left.tagStart, right.tagStart),
    ),
  );
}

/** The value that a write leaves; `undefined` for a deletion. */
function writtenBytes(item: Buffer, { valueStart, valueEnd }: Write): Buffer | undefined {
  return valueEnd === 0 ? undefined : item.subarray(valueStart, valueEnd);
}

/** A path that names nothing, which no chain has: shown where its type would stand. */
function unreadablePathJson(head: string, item: Buffer, write: Write): string {
  const type = quotedHex(item.subarray(write.pathStart, write.pathEnd));
  const value = writtenBytes(item, write);
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

function tableItemJson(item: Buffer, write: Write): string {
  const handle = addressFromBytes(item, write.keyStart + OWNER_AT);
  const key = item.subarray(write.pathStart, write.pathEnd);
  const hash = stateKeyHash(physicalStateKey({ kind: 'tableItem', handle, key }));
  const head = `{"state_key_hash":${quotedHex(hash)},"handle":"0x${handle}","key":${quotedHex(key)},`;
  const value = writtenBytes(item, write);
  return value === undefined
    ? `${head}"data":null,"type":"delete_table_item"}`
    : `${head}"value":${quotedHex(value)},"data":null,"type":"write_table_item"}`;
}
