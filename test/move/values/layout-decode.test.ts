import { describe, expect, it } from 'vitest';
import { BinaryFormatError } from '../../../src/move/modules/format.ts';
import { parseTypeTag } from '../../../src/move/types/type-parser.ts';
import type { TypeTag } from '../../../src/move/types/type-tag.ts';
import { type Layout, LayoutError, MAX_LAYOUT_DEPTH } from '../../../src/move/values/layout.ts';
import { MAX_LAYOUT_TOKENS, resolveLayout } from '../../../src/move/values/layout-resolver.ts';
import { LAYOUT_BUDGET_BYTES } from '../../../src/move/values/layout-rules.ts';
import {
  moduleLookup,
  OLD_FRAMEWORK,
  type Source,
  type SourceFields,
  type SourceType,
} from './layout-modules.ts';

const TWO = '0'.repeat(63) + '2';

async function resolve(source: Source, text: string): Promise<Layout> {
  return resolveLayout(parseTypeTag(text), moduleLookup(source));
}

async function refusal(layout: Promise<unknown>): Promise<LayoutError> {
  const error = await layout.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof LayoutError) return error;
  throw new Error('not refused with a LayoutError', { cause: error });
}

describe('decode layouts: refusals (docs/spec/encode.md §B2, docs/spec/move.md §4.3)', () => {
  const source: Source = {
    ...OLD_FRAMEWORK,
    '0x2::m::Plain': { fields: [['a', 'u64']] },
    '0x2::m::Box': { parameters: 1, fields: [['a', { parameter: 0 }]] },
    '0x2::m::Pair': {
      parameters: 2,
      fields: [
        ['a', { parameter: 0 }],
        ['b', { parameter: 1 }],
      ],
    },
    '0x2::m::Phantom': { parameters: 1, fields: [['a', 'u64']] },
    '0x2::m::Native': { native: true },
    '0x2::m::Reference': { fields: [['a', { reference: 'u64' }]] },
    '0x2::m::Lost': { fields: [['a', { is: '0x3::gone::S' }]] },
    '0x2::m::Fun': { fields: [['f', { args: [{ is: '0x3::gone::S' }], results: [] }]] },
    '0x2::m::Loop': { fields: [['a', { is: '0x2::m::Loop' }]] },
    '0x2::m::LoopA': { fields: [['a', { vector: { is: '0x2::m::LoopB' } }]] },
    '0x2::m::LoopB': { fields: [['a', { is: '0x2::m::LoopA' }]] },
    '0x2::m::Grow': {
      parameters: 1,
      fields: [['a', { is: '0x2::m::Grow', of: [{ vector: { parameter: 0 } }] }]],
    },
  };
  const gone = `Module ModuleId { address: ${'0'.repeat(63)}3, name: Identifier("gone") } can't be found`;
  const mismatch = 'status ABORT_TYPE_MISMATCH_ERROR of type Verification';
  const invariant = 'status UNKNOWN_INVARIANT_VIOLATION_ERROR of type Invariant violation';
  it.each([
    ['0x3::gone::S', 'module_not_found', gone],
    ['vector<0x3::gone::S>', 'module_not_found', gone],
    ['0x2::m::Lost', 'module_not_found', gone],
    ['0x2::m::Fun', 'module_not_found', gone],
    ['0x2::m::Phantom<0x3::gone::S>', 'module_not_found', gone],
    ['0x2::m::Plain<0x3::gone::S>', 'module_not_found', gone],
    [
      '0x2::m::Nope',
      'struct_not_found',
      `Struct IdentStr("Nope") not found in ModuleId { address: ${TWO}, name: Identifier("m") }`,
    ],
    ['0x2::m::Native', 'native_struct', 'Unexpected Native Struct'],
    ['0x2::m::Reference', 'reference', 'Unexpected Reference'],
    ['0x2::m::Box', 'type_argument_count', mismatch],
    ['0x2::m::Phantom', 'type_argument_count', invariant],
    ['0x2::m::Loop', 'too_large', 'Query exceeds size limit'],
    ['0x2::m::LoopA', 'too_large', 'Query exceeds size limit'],
    ['0x2::m::Grow<u8>', 'too_deep', 'type nests more than 512 levels deep'],
  ])('%s: %s', async (text, code, message) => {
    const error = await refusal(resolve(source, text));
    expect([error.code, error.message]).toEqual([code, message]);
  });

  it('refuses one type argument of two', async () => {
    expect((await refusal(resolve(source, '0x2::m::Pair<u8>'))).code).toBe('type_argument_count');
  });

  it('says which module does not load, and passes on what is no fault of the module', async () => {
    const tag = parseTypeTag('0x2::m::S');
    const broken = await refusal(
      resolveLayout(tag, () => {
        throw new BinaryFormatError('bad_magic', 'no module', 0);
      }),
    );
    expect(broken.code).toBe('module_not_loadable');
    expect(broken.message).toContain(`ModuleId { address: ${TWO}, name: Identifier("m") }`);
    const failing = resolveLayout(tag, () => Promise.reject(new TypeError('disk')));
    await expect(failing).rejects.toThrow(TypeError);
  });
});

describe('decode layouts: shapes', () => {
  it('ignores type arguments beyond the declared ones', async () => {
    const source: Source = { '0x2::m::S': { fields: [['a', 'u64']] } };
    expect(await resolve(source, '0x2::m::S<u8, bool>')).toEqual(
      await resolve(source, '0x2::m::S'),
    );
  });

  it('lays a type out once, however often it occurs', async () => {
    const layout = await resolve(
      {
        ...OLD_FRAMEWORK,
        '0x2::m::S': {
          fields: [
            ['a', { is: '0x1::option::Option', of: [{ is: '0x1::string::String' }] }],
            ['b', { is: '0x1::option::Option', of: [{ is: '0x1::string::String' }] }],
          ],
        },
      },
      '0x2::m::S',
    );
    if (layout.kind !== 'struct') throw new Error(layout.kind);
    expect(layout.fields[0]!.layout).toBe(layout.fields[1]!.layout);
  });

  it('sorts names by bytes, positional ones before __variant__', async () => {
    const fields: SourceFields = ['b', '_10', '_2', 'B', 'a$'].map((name) => [name, 'u8']);
    const layout = await resolve({ '0x2::m::E': { variants: [['V', fields]] } }, '0x2::m::E');
    if (layout.kind !== 'enum') throw new Error(layout.kind);
    expect(layout.variants[0]!.template!.pieces.join('#')).toBe(
      '{"B":#,"_10":#,"_2":#,"__variant__":"V","a$":#,"b":#}',
    );
  });

  it('asks a lookup that answers later, and each module once', async () => {
    const lookup = moduleLookup(OLD_FRAMEWORK);
    const asked: string[] = [];
    const tag = parseTypeTag('0x1::option::Option<0x1::option::Option<0x1::string::String>>');
    const later = await resolveLayout(tag, async (id) => {
      asked.push(id.name);
      return lookup(id);
    });
    expect(later).toEqual(await resolveLayout(tag, lookup));
    expect(asked).toEqual(['option', 'string']);
  });
});

describe('decode layouts: limits', () => {
  /** S0 is flat; each next struct contains the previous one `copies` times. */
  function tower(height: number, copies: number): Source {
    const source: Record<string, Source[string]> = { '0x2::m::S0': { fields: [] } };
    for (let level = 1; level <= height; level += 1) {
      const type: SourceType = { is: `0x2::m::S${level - 1}` };
      const fields = Array.from({ length: copies }, (_, index) => [`f${index}`, type] as const);
      source[`0x2::m::S${level}`] = { fields };
    }
    return source;
  }

  it.each([
    [-1, true],
    [0, true],
    [1, false],
  ])('MAX_LAYOUT_DEPTH %i', async (more, passes) => {
    const height = MAX_LAYOUT_DEPTH + more;
    const source = tower(height, 1);
    // A struct without fields is one level high.
    const outcome = resolve(source, `0x2::m::S${height - 1}`);
    if (passes) expect((await outcome).kind).toBe('struct');
    else expect((await refusal(outcome)).code).toBe('too_deep');
  });

  it.each([
    [211, true],
    [212, false],
  ])('counts the depth of arguments where they are used: %i boxes', async (boxes, passes) => {
    let type: SourceType = { is: '0x2::m::S299' };
    for (let level = 0; level < boxes; level += 1) type = { is: '0x3::m::Box', of: [type] };
    const source: Source = {
      ...tower(300, 1),
      '0x3::m::Box': { parameters: 1, fields: [['a', { parameter: 0 }]] },
      '0x4::m::Deep': { fields: [['a', type]] },
    };
    const outcome = resolve(source, '0x4::m::Deep');
    if (passes) expect((await outcome).kind).toBe('struct');
    else expect((await refusal(outcome)).code).toBe('too_deep');
  });

  it.each([
    [-1, true],
    [0, true],
    [1, false],
  ])('MAX_LAYOUT_TOKENS %i', async (more, passes) => {
    // The tag counts one, and each field counts one.
    const count = MAX_LAYOUT_TOKENS + more - 1;
    const fields = Array.from({ length: count }, (_, index) => [`f${index}`, 'u8'] as const);
    const source: Source = { '0x3::m::All': { fields } };
    const outcome = resolve(source, '0x3::m::All');
    if (passes) expect((await outcome).kind).toBe('struct');
    else expect((await refusal(outcome)).code).toBe('too_large');
  });

  it('refuses a type that unfolds to 2^60 structs, at once', async () => {
    expect((await refusal(resolve(tower(60, 2), '0x2::m::S60'))).code).toBe('too_large');
  });

  it('counts type arguments wherever they are used', async () => {
    let type: SourceType = { is: '0x2::m::S0' };
    for (let level = 0; level < 40; level += 1) type = { is: '0x3::m::Twice', of: [type] };
    const twice: SourceFields = [
      ['a', { parameter: 0 }],
      ['b', { parameter: 0 }],
    ];
    const source: Source = {
      ...tower(0, 0),
      '0x3::m::Twice': { parameters: 1, fields: twice },
      '0x4::m::All': { fields: [['a', type]] },
    };
    expect((await refusal(resolve(source, '0x4::m::All'))).code).toBe('too_large');
  });

  it.each([
    [-1, true],
    [0, true],
    [1, false],
  ])('LAYOUT_BUDGET_BYTES %i', async (more, passes) => {
    // Twenty doublings use most of the limit; one struct with a long name uses the rest.
    const levels = 20;
    const base = tower(levels, 2);
    let cost = 32 + 'm'.length + 'S0'.length;
    for (let level = 1; level <= levels; level += 1) {
      cost = 2 * cost + 32 + 'm'.length + `S${level}`.length + 'f0f1'.length;
    }
    const all = 32 + 'm'.length + 'All'.length;
    const rest = LAYOUT_BUDGET_BYTES + more - cost - all - 'af'.length;
    expect(rest).toBeGreaterThan(0);
    const name = 'x'.repeat(rest - 32 - 'm'.length - 'a'.length);
    const source: Source = {
      ...base,
      [`0x3::m::${name}`]: { fields: [['a', 'u8']] },
      '0x4::m::All': {
        fields: [
          ['a', { is: `0x2::m::S${levels}` }],
          ['f', { is: `0x3::m::${name}` }],
        ],
      },
    };
    const outcome = resolve(source, '0x4::m::All');
    if (passes) expect((await outcome).kind).toBe('struct');
    else expect((await refusal(outcome)).code).toBe('too_large');
  });

  it('bounds type tags that were not read by the parser', async () => {
    let tag: TypeTag = { kind: 'u16' };
    for (let level = 0; level < MAX_LAYOUT_DEPTH + 1; level += 1) {
      tag = { kind: 'vector', element: tag };
    }
    expect((await refusal(resolveLayout(tag, () => undefined))).code).toBe('too_deep');
  });
});
