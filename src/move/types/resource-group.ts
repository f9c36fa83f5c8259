/** Resource groups: several resources of an account in one state value (docs/spec/ledger.md §5.5). */
import { type BcsError, BcsReader } from '../bcs/bcs-reader.ts';
import { encodeBcs } from '../bcs/bcs-writer.ts';
import { readStructTag, type StructTag, skipStructTag, writeStructTag } from './type-tag.ts';

export interface GroupMember {
  readonly tag: StructTag;
  /** The BCS of `tag`: what members are ordered and found by. */
  readonly tagBytes: Buffer;
  /** The BCS of the member's own value. */
  readonly data: Buffer;
}

/** Minimum bytes of a member: an address, empty names, no type arguments, no data. */
const MIN_MEMBER_BYTES = 36;

/**
 * The members of a group's value one after the other, in their order on the wire; views on `bytes`.
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

/** Where a member stands in the bytes of its group. */
export interface MemberPlace {
  readonly tagStart: number;
  readonly tagEnd: number;
  readonly dataStart: number;
  readonly dataEnd: number;
}

/**
 * The places of a group's members, in their order on the wire; the group is a part of `buffer`.
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
 * The value of a group with these members, in whatever order they come.
 * @throws RangeError for one given twice.
 */
export function encodeResourceGroup(
  members: Iterable<{ readonly tag: StructTag; readonly data: Uint8Array }>,
): Buffer {
  const sorted = Array.from(members, ({ tag, data }) => ({ tagBytes: encodeStructTag(tag), data }));
  sorted.sort((left, right) => Buffer.compare(left.tagBytes, right.tagBytes));
  return encodeBcs((writer) => {
    writer.length32(sorted.length);
    for (const [index, { tagBytes, data }] of sorted.entries()) {
      if (sorted[index - 1]?.tagBytes.equals(tagBytes)) {
        throw new RangeError('a member of a resource group is given twice');
      }
      writer.fixed(tagBytes).bytes(data);
    }
  });
}

/** The data of one member; `undefined` when the group does not hold it. */
export function findGroupMember(
  members: readonly GroupMember[],
  tag: StructTag,
): Buffer | undefined {
  const wanted = encodeStructTag(tag);
  return members.find(({ tagBytes }) => tagBytes.equals(wanted))?.data;
}

/** The BCS of a struct tag: what members are found by. */
export function encodeStructTag(tag: StructTag): Buffer {
  return encodeBcs((writer) => writeStructTag(writer, tag));
}
