/** Resource groups: several resources of an account in one state value (docs/spec/ledger.md §5.5). */
import { type BcsError, BcsReader } from '../bcs/bcs-reader.ts';
import { type BcsWriter, encodeBcs } from '../bcs/bcs-writer.ts';
import { byteTools } from '../bcs/bytes.ts';
import { readStructTag, type StructTag, skipStructTag, writeStructTag } from './type-tag.ts';

export interface GroupMember {
  readonly tag: StructTag;
  /** The BCS of `tag`, by which members are sorted and found. */
  readonly tagBytes: Buffer;
  /** The BCS of the member's own value. */
  readonly data: Buffer;
}

/** Minimum bytes of a member: an address, empty names, no type arguments, no data. */
const MIN_MEMBER_BYTES = 36;

/**
 * Iterates over the members of a group's value in their order on the wire; views on `bytes`.
 * @throws BcsError when a member is reached that does not decode or is out of order, or bytes are left over.
 */
export function* iterateGroup(bytes: Uint8Array): Generator<GroupMember> {
  const reader = new BcsReader(bytes);
  const count = reader.length(MIN_MEMBER_BYTES);
  let previous: Buffer | undefined;
  for (let index = 0; index < count; index += 1) {
    const start = reader.offset;
    const tag = readStructTag(reader);
    const tagBytes = reader.buffer.subarray(start, reader.offset);
    if (previous !== undefined && Buffer.compare(previous, tagBytes) >= 0) {
      throw unsorted(reader, start);
    }
    previous = tagBytes;
    yield { tag, tagBytes, data: reader.bytes() };
  }
  reader.finish();
}

/** Offsets of a member in the bytes of its group. */
export interface MemberPlace {
  readonly tagStart: number;
  readonly tagEnd: number;
  readonly dataStart: number;
  readonly dataEnd: number;
}

/**
 * The offsets of a group's members, in their order on the wire; the group is a part of `buffer`.
 * @throws BcsError exactly when `iterateGroup` does, except that names are not read
 */
export function memberPlaces(buffer: Buffer, start: number, end: number): MemberPlace[] {
  const reader = new BcsReader(buffer, start, end);
  const count = reader.length(MIN_MEMBER_BYTES);
  const places: MemberPlace[] = [];
  for (let index = 0; index < count; index += 1) {
    const tagStart = reader.offset;
    skipStructTag(reader);
    const tagEnd = reader.offset;
    const before = places[index - 1];
    if (
      before !== undefined &&
      buffer.compare(buffer, tagStart, tagEnd, before.tagStart, before.tagEnd) >= 0
    ) {
      throw unsorted(reader, tagStart);
    }
    const dataBytes = reader.length(1);
    const dataStart = reader.skip(dataBytes);
    places.push({ tagStart, tagEnd, dataStart, dataEnd: dataStart + dataBytes });
  }
  reader.finish();
  return places;
}

function unsorted(reader: BcsReader, start: number): BcsError {
  return reader.error('map_not_sorted', 'map keys are not in strictly increasing order', start);
}

/** All members of a group's value. @throws BcsError */
export function decodeResourceGroup(bytes: Uint8Array): GroupMember[] {
  return [...iterateGroup(bytes)];
}

/**
 * The value of a group with these members, given in any order.
 * @throws RangeError for one given twice.
 */
export function encodeResourceGroup(
  members: Iterable<{ readonly tag: StructTag; readonly data: Uint8Array }>,
): Buffer {
  const encoded = Array.from(members, ({ tag, data }) => ({
    tagBytes: encodeStructTag(tag),
    data,
  }));
  return encodeBcs((writer) => writeResourceGroup(writer, encoded));
}

interface EncodedMember {
  readonly tagBytes: Buffer;
  readonly data: Uint8Array;
}

/** Appends the value of a group whose tags are already encoded. @throws RangeError for one given twice. */
export function writeResourceGroup(writer: BcsWriter, members: readonly EncodedMember[]): void {
  const sorted = [...members].sort((left, right) => Buffer.compare(left.tagBytes, right.tagBytes));
  const hasDuplicates = sorted.some((member, index) =>
    sorted[index + 1]?.tagBytes.equals(member.tagBytes),
  );
  if (hasDuplicates) throw new RangeError('a member of a resource group is given twice');
  writeSorted(writer, sorted);
}

function writeSorted(writer: BcsWriter, members: readonly EncodedMember[]): void {
  writer.length32(members.length);
  for (const { tagBytes, data } of members) writer.fixed(tagBytes).bytes(data);
}

/** A member with its new value; without data it is removed. */
export interface MemberChange {
  readonly tagBytes: Buffer;
  readonly data: Uint8Array | undefined;
}

/**
 * The value of a group after some changes; `undefined` if it has no members left.
 * @param group absent if it did not exist before
 * @throws BcsError for bytes that are not a group
 */
export function changeResourceGroup(
  group: Uint8Array | undefined,
  changes: Iterable<MemberChange>,
): Buffer | undefined {
  const members = new Map<string, EncodedMember>();
  let isSorted = true;
  const before = group && byteTools.asBuffer(group);
  for (const place of before === undefined ? [] : memberPlaces(before, 0, before.length)) {
    const tagBytes = before!.subarray(place.tagStart, place.tagEnd);
    const data = before!.subarray(place.dataStart, place.dataEnd);
    members.set(tagBytes.toString('latin1'), { tagBytes, data });
  }
  for (const { tagBytes, data } of changes) {
    const key = tagBytes.toString('latin1');
    isSorted &&= data === undefined || members.has(key);
    if (data === undefined) members.delete(key);
    else members.set(key, { tagBytes, data });
  }
  if (members.size === 0) return undefined;
  const write = isSorted ? writeSorted : writeResourceGroup;
  return encodeBcs((writer) => write(writer, [...members.values()]));
}

/**
 * The data of one member, a view; `undefined` when the group does not hold it. Other tags are not decoded.
 * @param tagBytes the BCS of its tag
 * @throws BcsError as `memberPlaces` does
 */
export function groupMember(group: Buffer, tagBytes: Uint8Array): Buffer | undefined {
  const found = memberPlaces(group, 0, group.length).find(
    ({ tagStart, tagEnd }) =>
      tagEnd - tagStart === tagBytes.length &&
      group.compare(tagBytes, 0, tagBytes.length, tagStart, tagEnd) === 0,
  );
  return found && group.subarray(found.dataStart, found.dataEnd);
}

/** The data of one member; `undefined` when the group does not hold it. */
export function findGroupMember(
  members: readonly GroupMember[],
  tag: StructTag,
): Buffer | undefined {
  const encodedTag = encodeStructTag(tag);
  return members.find(({ tagBytes }) => tagBytes.equals(encodedTag))?.data;
}

/** The BCS of a struct tag, by which members are found. */
export function encodeStructTag(tag: StructTag): Buffer {
  return encodeBcs((writer) => writeStructTag(writer, tag));
}
