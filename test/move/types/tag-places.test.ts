/** Type tags and group members that are located without decoding agree with decoded ones. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BcsReader } from '../../../src/move/bcs/bcs-reader.ts';
import { encodeBcs } from '../../../src/move/bcs/bcs-writer.ts';
import {
  encodeResourceGroup,
  encodeStructTag,
  iterateGroup,
  memberPlaces,
} from '../../../src/move/types/resource-group.ts';
import {
  readTypeTag,
  type StructTag,
  skipTypeTag,
  writeTypeTag,
} from '../../../src/move/types/type-tag.ts';
import { compareStructTags, compareStructTagsAt } from '../../../src/move/types/type-tag-order.ts';
import { propertySeed } from '../../random.ts';
import { address, typeTag } from '../values/scalar-arbitraries.ts';

/** Names that often share a prefix. */
const name = fc.oneof(
  fc.constantFrom('a', 'aa', 'ab', 'b', 'm'.repeat(130)),
  fc.string({ maxLength: 8 }),
);
const structTag: fc.Arbitrary<StructTag> = fc.record({
  address: fc.oneof(fc.constant('0'.repeat(64)), address),
  module: name,
  name,
  typeArguments: fc.array(typeTag, { maxLength: 2 }),
});

describe('places', () => {
  it('a skipped tag ends where a read one does', () => {
    fc.assert(
      fc.property(typeTag, (tag) => {
        const bytes = encodeBcs((writer) => writeTypeTag(writer, tag));
        const [reader, skipper] = [new BcsReader(bytes), new BcsReader(bytes)];
        readTypeTag(reader);
        skipTypeTag(skipper);
        expect(skipper.offset).toBe(reader.offset);
      }),
      propertySeed(),
    );
  });

  it('tags are in the same order as bytes', () => {
    fc.assert(
      fc.property(structTag, structTag, (left, right) => {
        const first = encodeStructTag(left);
        const buffer = Buffer.concat([first, encodeStructTag(right)]);
        const order = compareStructTagsAt(buffer, 0, first.length);
        expect(Math.sign(order)).toBe(Math.sign(compareStructTags(left, right)));
      }),
      { ...propertySeed(), numRuns: 1_000 },
    );
  });

  it('members of a group are where they are read', () => {
    const members = fc.uniqueArray(fc.record({ tag: structTag, data: fc.uint8Array() }), {
      selector: ({ tag }) => encodeStructTag(tag).toString('hex'),
      maxLength: 6,
    });
    fc.assert(
      fc.property(members, fc.nat(5), (group, before) => {
        const value = encodeResourceGroup(group);
        const buffer = Buffer.concat([Buffer.alloc(before), value, Buffer.alloc(3)]);
        const places = memberPlaces(buffer, before, before + value.length);
        const found = places.map(({ tagStart, tagEnd, dataStart, dataEnd }) => [
          buffer.subarray(tagStart, tagEnd).toString('hex'),
          buffer.subarray(dataStart, dataEnd).toString('hex'),
        ]);
        const read = [...iterateGroup(value)].map(({ tagBytes, data }) => [
          tagBytes.toString('hex'),
          data.toString('hex'),
        ]);
        expect(found).toEqual(read);
      }),
      propertySeed(),
    );
  });

  it('groups that are not sorted, or go on, are refused', () => {
    const tag = (text: string): StructTag => ({
      address: '0'.repeat(64),
      module: 'm',
      name: text,
      typeArguments: [],
    });
    const value = encodeResourceGroup([
      { tag: tag('a'), data: Buffer.of(1) },
      { tag: tag('b'), data: Buffer.of(2) },
    ]);
    const half = (value.length - 1) / 2;
    const swapped = Buffer.concat([
      value.subarray(0, 1),
      value.subarray(1 + half),
      value.subarray(1, 1 + half),
    ]);
    const places = (bytes: Buffer) => () => memberPlaces(bytes, 0, bytes.length);
    expect(places(value)().length).toBe(2);
    expect(places(swapped)).toThrow(expect.objectContaining({ code: 'map_not_sorted' }));
    const longer = Buffer.concat([value, Buffer.of(0)]);
    expect(places(longer)).toThrow(expect.objectContaining({ code: 'remaining_input' }));
    expect(places(value.subarray(0, -1))).toThrow(
      expect.objectContaining({ code: 'unexpected_end' }),
    );
  });
});
