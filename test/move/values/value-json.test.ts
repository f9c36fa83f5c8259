import { describe, expect, it } from 'vitest';
import { BcsError } from '../../../src/move/bcs/bcs-reader.ts';
import { encodeBcs } from '../../../src/move/bcs/bcs-writer.ts';
import { parseTypeTag } from '../../../src/move/types/type-parser.ts';
import type { TypeTag } from '../../../src/move/types/type-tag.ts';
import { type Layout, type LayoutField, objectTemplate } from '../../../src/move/values/layout.ts';
import { BCS_MAX_CONTAINER_DEPTH } from '../../../src/move/values/layout-captured.ts';
import { resolveLayout } from '../../../src/move/values/layout-resolver.ts';
import {
  MAX_VALUE_DEPTH,
  renderValue,
  VALUE_BUDGET_BYTES,
} from '../../../src/move/values/value-json.ts';
import { moduleLookup, NEW_FRAMEWORK, OLD_FRAMEWORK, type Source } from './layout-modules.ts';

const source: Source = {
  ...NEW_FRAMEWORK,
  '0x2::m::S': {
    fields: [
      ['b', 'u8'],
      ['a', 'bool'],
      ['__proto__', 'u8'],
    ],
  },
  '0x2::m::Empty': { fields: [] },
  '0x2::m::Dummy': { fields: [['dummy_field', 'bool']] },
  '0x2::m::E': {
    variants: [
      ['Less', []],
      [
        'V1',
        [
          ['z', 'u8'],
          ['_0', 'u16'],
        ],
      ],
    ],
  },
  '0x2::m::Tuple': { fields: Array.from({ length: 11 }, (_, index) => [`_${index}`, 'u8']) },
  '0x2::m::Box': { parameters: 1, fields: [['a', { parameter: 0 }]] },
};

function bytesOf(hex: string): Buffer {
  return Buffer.from(hex.replace(/ /g, ''), 'hex');
}

async function render(type: string | TypeTag, hex: string, from = source): Promise<string> {
  const tag = typeof type === 'string' ? parseTypeTag(type) : type;
  return renderValue(await resolveLayout(tag, moduleLookup(from)), bytesOf(hex));
}

function refusal(layout: Layout, bytes: Uint8Array): BcsError {
  try {
    renderValue(layout, bytes);
  } catch (error) {
    if (error instanceof BcsError) return error;
    throw error;
  }
  throw new Error('not refused');
}

const FUNCTION: Layout = { kind: 'function' };
const max = (bits: bigint) => 2n ** bits - 1n;

describe('JSON of values: scalars (docs/spec/encode.md §B1)', () => {
  it.each([
    ['bool', '00', 'false'],
    ['bool', '01', 'true'],
    ['u8', 'ff', '255'],
    ['u16', 'ffff', '65535'],
    ['u32', 'ffffffff', '4294967295'],
    ['u64', '0000000000000000', '"0"'],
    ['u64', 'ffffffff00000000', '"4294967295"'],
    ['u64', '0000000001000000', '"4294967296"'],
    ['u64', 'ffffffffffff1f00', '"9007199254740991"'],
    ['u64', '0000000000002000', '"9007199254740992"'],
    ['u64', '0100000000002000', '"9007199254740993"'],
    ['u64', 'ff'.repeat(8), `"${max(64n)}"`],
    ['u128', 'ff'.repeat(16), `"${max(128n)}"`],
    ['u256', 'ff'.repeat(32), `"${max(256n)}"`],
    ['address', '00'.repeat(32), '"0x0"'],
    ['address', '00'.repeat(31) + '0a', '"0xa"'],
    ['address', 'A0'.repeat(32), `"0x${'a0'.repeat(32)}"`],
    ['vector<u8>', '020102', '"0x0102"'],
    ['vector<u8>', '00', '"0x"'],
    ['vector<vector<u8>>', '020101020203', '["0x01","0x0203"]'],
    ['vector<u64>', '00', '[]'],
    ['vector<bool>', '020100', '[true,false]'],
  ])('%s %s', async (type, hex, json) => {
    expect(await render(type, hex)).toBe(json);
  });

  it.each([
    ['i8', 'ff', '-1'],
    ['i16', '0080', '-32768'],
    ['i32', 'ffffff7f', '2147483647'],
    ['i64', 'ff'.repeat(8), '"-1"'],
    ['i128', '00'.repeat(15) + '80', `"${-(2n ** 127n)}"`],
    ['i256', '00'.repeat(31) + '80', `"${-(2n ** 255n)}"`],
  ] as const)('%s %s', async (kind, hex, json) => {
    expect(await render({ kind }, hex)).toBe(json);
  });
});

describe('JSON of values: structs, enums, texts (docs/spec/encode.md §B1)', () => {
  it.each([
    ['0x2::m::S', '010007', '{"__proto__":7,"a":false,"b":1}'],
    ['0x2::m::Dummy', '00', '{"dummy_field":false}'],
    ['0x2::m::Empty', '', '{}'],
    ['0x2::m::E', '00', '{"__variant__":"Less"}'],
    ['0x2::m::E', '01050600', '{"_0":6,"__variant__":"V1","z":5}'],
    [
      '0x2::m::Tuple',
      '000102030405060708090a',
      '{"_0":0,"_1":1,"_10":10,"_2":2,"_3":3,"_4":4,"_5":5,"_6":6,"_7":7,"_8":8,"_9":9}',
    ],
    ['0x2::m::Box<0x2::m::Box<u8>>', '09', '{"a":{"a":9}}'],
    ['0x1::string::String', '00', '""'],
    [
      '0x1::string::String',
      '0d222f5c7f08090a0c0d1fe280a8',
      '"\\"/\\\\\x7f\\b\\t\\n\\f\\r\\u001f\u2028"',
    ],
    ['0x1::string::String', '04f09f9880', '"😀"'],
    ['0x1::string::String', '03efbbbf', '"\ufeff"'],
    ['0x1::string::String', '03ff0041', '"Unparsable utf-8 0xff0041"'],
    ['0x1::string::String', '03eda080', '"Unparsable utf-8 0xeda080"'],
    ['vector<0x1::string::String>', '02016101ff', '["a","Unparsable utf-8 0xff"]'],
  ])('%s %s', async (type, hex, json) => {
    expect(await render(type, hex)).toBe(json);
  });

  it('takes Option by the definition found (trap 13)', async () => {
    const type = '0x1::option::Option<u8>';
    expect(await render(type, '0105', OLD_FRAMEWORK)).toBe('{"vec":"0x05"}');
    expect(await render(type, '00', OLD_FRAMEWORK)).toBe('{"vec":"0x"}');
    expect(await render(type, '0105', NEW_FRAMEWORK)).toBe('{"vec":[5]}');
    expect(await render(type, '00', NEW_FRAMEWORK)).toBe('{"vec":[]}');
    const u64 = '0x1::option::Option<u64>';
    const two = `02 05${'00'.repeat(7)} 06${'00'.repeat(7)}`;
    expect(await render(u64, two, OLD_FRAMEWORK)).toBe('{"vec":["5","6"]}');
    await expect(render(u64, two, NEW_FRAMEWORK)).rejects.toMatchObject({
      detail: 'invalid length 0, expected Variant',
    });
  });

  it('treats as Option and String only what has their names', async () => {
    const other: Source = {
      '0x1::option::Other': { variants: [['None', []]] },
      '0x2::option::Option': { variants: [['None', []]] },
      '0x2::string::String': { fields: [['bytes', { vector: 'u8' }]] },
    };
    expect(await render('0x1::option::Other', '00', other)).toBe('{"__variant__":"None"}');
    expect(await render('0x2::option::Option', '00', other)).toBe('{"__variant__":"None"}');
    expect(await render('0x2::string::String', '0161', other)).toBe('{"bytes":"0x61"}');
  });

  it('lets a field win over __variant__, and the last of two fields of one name', () => {
    const u8: Layout = { kind: 'u8' };
    const fields = ['__variant__', 'a', 'a'].map((name) => ({ name, layout: u8 }));
    const template = objectTemplate(fields, { name: '__variant__', json: '"V"' }, 0);
    const layout: Layout = { kind: 'struct', fields, template, tagBytes: 0 };
    expect(renderValue(layout, bytesOf('010203'))).toBe('{"__variant__":1,"a":3}');
  });
});

describe('JSON of values: refusals (docs/spec/encode.md §B2)', () => {
  it.each([
    ['u64', '00', 'unexpected_end', 'unexpected end of input'],
    ['u8', '', 'unexpected_end', 'unexpected end of input'],
    ['address', '00'.repeat(31), 'unexpected_end', 'unexpected end of input'],
    ['u8', '0000', 'remaining_input', 'remaining input'],
    ['bool', '02', 'bad_bool', 'expected boolean'],
    ['vector<u8>', '8000', 'uleb_not_minimal', 'ULEB128 encoding was not minimal in size'],
    ['vector<u8>', '8080808008', 'length_too_large', 'exceeded max sequence length: 2147483648'],
    ['vector<u64>', 'ffffffff0f', 'length_too_large', 'exceeded max sequence length: 4294967295'],
    [
      'vector<u8>',
      'ffffffff1f',
      'uleb_too_large',
      'ULEB128-encoded integer did not fit in the target size',
    ],
    ['vector<u8>', 'ffffffff07', 'unexpected_end', 'unexpected end of input'],
    ['vector<u64>', 'ffffffff07', 'unexpected_end', 'unexpected end of input'],
    // The first invalid item decides, not the length.
    ['vector<bool>', 'ffffffff0702', 'bad_bool', 'expected boolean'],
    ['0x2::m::E', '02', 'bad_variant', 'invalid length 0, expected Variant'],
    ['0x2::m::E', 'ffff03', 'bad_variant', 'invalid length 0, expected Variant'],
    ['0x2::m::E', '808004', 'bad_variant', 'invalid value: integer `65536`, expected u16'],
    ['0x2::m::Box<signer>', '00'.repeat(32), 'signer', 'cannot deserialize signer'],
  ])('%s %s: %s', async (type, hex, code, detail) => {
    await expect(render(type, hex)).rejects.toMatchObject({ code, detail });
  });

  it('says where', () => {
    const error = refusal(
      { kind: 'vector', element: { kind: 'bool' }, tagBytes: 0 },
      bytesOf('03010007'),
    );
    expect([error.offset, error.message]).toEqual([3, 'expected boolean at byte 3']);
  });
});

/** Parts of a function value: version, module, function, types, mask, then layouts and values. */
function closure(
  mask: bigint,
  captured: string,
  parts?: number,
  version = 1,
  types = '00',
): string {
  let count = 5;
  for (let rest = mask; rest > 0n; rest >>= 1n) count += rest & 1n ? 2 : 0;
  const head = encodeBcs((writer) => {
    writer
      .length32(parts ?? count)
      .u16(version)
      .address('0'.repeat(63) + '1');
    writer.string('coin').string('value').fixed(bytesOf(types)).u64(mask);
  });
  return head.toString('hex') + captured.replace(/ /g, '');
}

describe('JSON of values: closures (docs/spec/move.md §4.5)', () => {
  const name = '"__fun_name__":"0x1::coin::value"';
  it.each([
    ['nothing captured', closure(0n, ''), `{${name},"__mask__":"0"}`],
    [
      'types',
      closure(0n, '', undefined, 1, '02 01 06 07' + '00'.repeat(31) + '02 016d 0153 00'),
      `{${name},"__mask__":"0","__ty_args__":["u8","vector<0x2::m::S>"]}`,
    ],
    [
      'integers',
      closure(0b101n, `02 12 08${'00'.repeat(6)} 0d ff`),
      `{"__captured__":["2066",-1],${name},"__mask__":"101"}`,
    ],
    [
      'the highest bit',
      closure(1n << 63n, '00 01'),
      `{"__captured__":[true],${name},"__mask__":"1${'0'.repeat(63)}"}`,
    ],
    [
      'vector<u8> and vector<vector<u16>>',
      closure(3n, '05 01 02 0102 05 05 08 02 01 0500 00'),
      `{"__captured__":["0x0102",[[5],[]]],${name},"__mask__":"11"}`,
    ],
    [
      'a struct by position',
      closure(1n, '06 00 02 00 05 01 01 0161'),
      `{"__captured__":[{"_0":true,"_1":"0x61"}],${name},"__mask__":"1"}`,
    ],
    [
      'an enum by its tag',
      closure(1n, '06 01 02 00 02 01 01 01 07 09'),
      `{"__captured__":[{"_0":7,"_1":9,"__variant_tag__":1}],${name},"__mask__":"1"}`,
    ],
    [
      'an enum without fields',
      closure(1n, '06 01 01 00 00'),
      `{"__captured__":[{"__variant_tag__":0}],${name},"__mask__":"1"}`,
    ],
    [
      'structs in a vector, which crash the reference',
      closure(1n, '05 06 00 01 01 02 07 08'),
      `{"__captured__":[[{"_0":7},{"_0":8}]],${name},"__mask__":"1"}`,
    ],
    [
      'a closure',
      closure(1n, '0c' + closure(0n, '')),
      `{"__captured__":[{${name},"__mask__":"0"}],${name},"__mask__":"1"}`,
    ],
  ])('%s', (_, hex, json) => {
    expect(renderValue(FUNCTION, bytesOf(hex))).toBe(json);
  });

  it.each([
    ['another version', closure(0n, '', 5, 2), 'unexpected function data version 2'],
    ['no parts', '00', 'expected more elements'],
    ['four parts', closure(0n, '', 4), 'expected more elements'],
    ['no layout', closure(1n, '', 5), 'expected more elements'],
    ['no value', closure(1n, '01 07', 6), 'invalid length 0, expected Closure'],
    ['no second value', closure(3n, '01 07 01', 8), 'invalid length 1, expected Closure'],
    ['a part too many', closure(0n, '', 6), 'invalid length 0, expected Closure'],
    ['too many captured', closure(1n, '01 07 01 08', 9), 'invalid length 1, expected Closure'],
    ['captured bytes missing', closure(1n, '01'), 'unexpected end of input'],
    [
      'an unknown layout',
      closure(1n, '13'),
      'invalid value: integer `19`, expected variant index 0 <= i < 19',
    ],
    [
      'an unknown struct layout',
      closure(1n, '06 05'),
      'invalid value: integer `5`, expected variant index 0 <= i < 5',
    ],
    ['a struct layout with names', closure(1n, '06 02 00'), 'Unsupported layout for Move value'],
    ['a native layout', closure(1n, '0b 00 02'), 'Unsupported layout for Move value'],
    ['a signer', closure(1n, '07' + '00'.repeat(32)), 'cannot deserialize signer'],
    [
      '128 variants',
      closure(1n, `06 01 8001${'00'.repeat(128)} 00`),
      'variant count is restricted to 127',
    ],
  ])('refuses %s', (_, hex, detail) => {
    expect(refusal(FUNCTION, bytesOf(hex)).detail).toBe(detail);
  });

  it('takes 127 variants', () => {
    const hex = closure(1n, `06 01 7f${'00'.repeat(127)} 7e`);
    expect(renderValue(FUNCTION, bytesOf(hex))).toContain('{"__variant_tag__":126}');
  });

  it('keeps odd names as they are, as JSON', () => {
    const bytes = encodeBcs((writer) => {
      writer.length32(5).u16(1).address('0'.repeat(64)).string('"').string('\n').u8(0).u64(0n);
    });
    expect(renderValue(FUNCTION, bytes)).toBe('{"__fun_name__":"0x0::\\"::\\n","__mask__":"0"}');
  });

  it('has types in an event field', async () => {
    const from: Source = { '0x2::m::F': { fields: [['f', { args: ['u64'], results: [] }]] } };
    expect(await render('0x2::m::F', closure(0n, ''), from)).toBe(`{"f":{${name},"__mask__":"0"}}`);
  });
});

describe('JSON of values: limits', () => {
  /** Nested enums, each with one variant of one field. */
  function nestedEnums(count: number): Layout {
    let layout: Layout = { kind: 'bool' };
    for (let level = 0; level < count; level += 1) {
      const fields: LayoutField[] = [{ name: 'a', layout }];
      const template = objectTemplate(fields, { name: '__variant__', json: '"V"' }, 0);
      layout = { kind: 'enum', variants: [{ name: 'V', fields, template }], tagBytes: 0 };
    }
    return layout;
  }

  it.each([
    [BCS_MAX_CONTAINER_DEPTH - 1, true],
    [BCS_MAX_CONTAINER_DEPTH, true],
    [BCS_MAX_CONTAINER_DEPTH + 1, false],
  ])('%i nested enums', (count, passes) => {
    const layout = nestedEnums(count);
    const bytes = Buffer.alloc(count + 1);
    if (passes) expect(renderValue(layout, bytes)).toContain('false');
    else {
      expect(refusal(layout, bytes).detail).toBe(
        'exceeded max container depth while entering: enum',
      );
    }
  });

  it.each([
    [BCS_MAX_CONTAINER_DEPTH - 1, true],
    [BCS_MAX_CONTAINER_DEPTH, false],
    [BCS_MAX_CONTAINER_DEPTH + 1, false],
  ])('captured layouts: %i vectors around a leaf', (count, passes) => {
    const hex = closure(1n, `${'05'.repeat(count)} 08 00`);
    if (passes) expect(renderValue(FUNCTION, bytesOf(hex))).toContain('[]');
    else {
      expect(refusal(FUNCTION, bytesOf(hex)).detail).toBe(
        'exceeded max container depth while entering: MoveTypeLayout',
      );
    }
  });

  it.each([
    [MAX_VALUE_DEPTH - 1, true],
    [MAX_VALUE_DEPTH, true],
    [MAX_VALUE_DEPTH + 1, false],
  ])('%i closures inside each other', (count, passes) => {
    const around = bytesOf(closure(1n, '0c'));
    const bytes = Buffer.concat([
      ...Array.from({ length: count - 1 }, () => around),
      bytesOf(closure(0n, '')),
    ]);
    if (passes) expect(renderValue(FUNCTION, bytes)).toContain('"__mask__":"0"');
    else expect(refusal(FUNCTION, bytes).code).toBe('too_deep');
  });

  it.each([
    [-1, true],
    [0, true],
    [1, false],
  ])('VALUE_BUDGET_BYTES %i', (more, passes) => {
    // A thousand structs share the budget equally; the vector's own tag takes the rest.
    const each = VALUE_BUDGET_BYTES / 1_000 - 1;
    const template = objectTemplate([], undefined, 10);
    const element: Layout = { kind: 'struct', fields: [], template, tagBytes: each - 10 };
    const layout: Layout = { kind: 'vector', tagBytes: 1_000 + more, element };
    const bytes = bytesOf('e807');
    if (passes) expect(renderValue(layout, bytes)).toHaveLength(3_001);
    else expect(refusal(layout, bytes).detail).toBe('Query exceeds size limit');
  });

  it.each([
    ['named structs', '0x2::m::Empty'],
    ['named structs in structs', '0x2::m::Box<0x2::m::Empty>'],
  ])(
    'refuses 2^31-1 %s without bytes within seconds',
    async (_, type) => {
      const layout = await resolveLayout(parseTypeTag(`vector<${type}>`), moduleLookup(source));
      expect(refusal(layout, bytesOf('ffffffff07')).code).toBe('size_limit');
    },
    20_000,
  );

  it('refuses 2^31-1 captured structs without bytes within seconds', () => {
    const hex = closure(1n, '05 06 00 00 ffffffff07');
    expect(refusal(FUNCTION, bytesOf(hex)).code).toBe('size_limit');
  }, 20_000);
});
