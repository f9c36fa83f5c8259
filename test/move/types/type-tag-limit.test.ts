/** The limit of a type's number of parts when it is read. */
import { expect, test } from 'vitest';
import { BcsError, BcsReader } from '../../../src/move/bcs/bcs-reader.ts';
import { BcsWriter } from '../../../src/move/bcs/bcs-writer.ts';
import { MAX_TYPE_TAGS, readStructTag, TypeTag } from '../../../src/move/types/type-tag.ts';

/** `0x0::m::S<u8, …>`, without the variant of a type. */
function structOf(argumentCount: number): BcsWriter {
  const writer = new BcsWriter().address('0'.repeat(64)).string('m').string('S');
  writer.length32(argumentCount);
  for (let index = 0; index < argumentCount; index += 1) writer.u8(1);
  return writer;
}

test.each([
  [MAX_TYPE_TAGS - 1, true],
  [MAX_TYPE_TAGS, true],
  [MAX_TYPE_TAGS + 1, false],
])('a type of %i parts: %s', (parts, isRead) => {
  const bytes = Buffer.concat([Buffer.of(7), structOf(parts - 1).view()]);
  if (isRead) {
    expect(TypeTag.decode(bytes)).toMatchObject({ kind: 'struct' });
  } else {
    expect(() => TypeTag.decode(bytes)).toThrow(
      expect.objectContaining({ code: 'length_too_large', offset: bytes.length - 1 }),
    );
  }
});

test('a bare struct tag may have as many arguments', () => {
  const read = (count: number) => readStructTag(new BcsReader(structOf(count).view()));
  expect(read(MAX_TYPE_TAGS).typeArguments).toHaveLength(MAX_TYPE_TAGS);
  expect(() => read(MAX_TYPE_TAGS + 1)).toThrow(BcsError);
});
