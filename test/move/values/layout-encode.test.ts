import { describe, expect, it } from 'vitest';
import { BinaryFormatError } from '../../../src/move/modules/format.ts';
import { parseTypeTag } from '../../../src/move/types/type-parser.ts';
import { formatStructTag, type TypeTag } from '../../../src/move/types/type-tag.ts';
import { type Layout, LayoutError } from '../../../src/move/values/layout.ts';
import {
  resolveArgumentLayout,
  resolveInnerArgumentLayout,
} from '../../../src/move/values/layout-resolver.ts';
import { MAX_LAYOUT_NODES } from '../../../src/move/values/layout-rules.ts';
import { debugLayout, MAX_LAYOUT_DEBUG_CHARS } from '../../../src/move/values/value-debug.ts';
import {
  moduleLookup,
  NEW_FRAMEWORK,
  OLD_FRAMEWORK,
  type Source,
  type SourceType,
} from './layout-modules.ts';

const ONE = '0'.repeat(63) + '1';
const TWO = '0'.repeat(63) + '2';

async function resolve(source: Source, text: string): Promise<Layout> {
  return resolveInnerArgumentLayout(parseTypeTag(text), moduleLookup(source));
}

async function refusal(layout: Promise<unknown>): Promise<LayoutError> {
  const error = await layout.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof LayoutError) return error;
  throw new Error('not refused with a LayoutError', { cause: error });
}

describe('encode layouts: refusals (docs/spec/encode.md §A4, docs/spec/move.md §4.3)', () => {
  const source: Source = {
    ...OLD_FRAMEWORK,
    '0x2::m::Plain': { fields: [['a', 'u64']] },
    '0x2::m::Box': { parameters: 1, fields: [['a', { parameter: 0 }]] },
    '0x2::m::Native': { native: true },
    '0x2::m::Reference': { fields: [['a', { reference: 'u64' }]] },
    '0x2::m::Signer': { fields: [['a', { vector: 'signer' }]] },
    '0x2::m::Lost': { fields: [['a', { is: '0x3::gone::S' }]] },
    '0x2::m::Fun': { fields: [['f', { args: ['u64'], results: [] }]] },
    '0x2::m::Loop': { fields: [['a', { is: '0x2::m::Loop' }]] },
  };
  it.each([
    ['0x3::gone::S', 'module_not_found', 'Could not find module'],
    ['0x2::m::Lost', 'module_not_found', 'Could not find module'],
    ['0x2::m::Box<0x3::gone::S>', 'module_not_found', 'Could not find module'],
    ['0x2::m::Nope', 'struct_not_found', `Could not find struct named Nope in module ${TWO}::m`],
    ['0x2::m::Plain<u8>', 'type_argument_count', 'Wrong number of type arguments for struct'],
    ['0x2::m::Box', 'type_argument_count', 'Wrong number of type arguments for struct'],
    ['0x2::m::Native', 'native_struct', "Can't extract fields for native struct"],
    ['0x2::m::Reference', 'reference', 'Type layouts cannot contain references'],
    ['signer', 'signer', 'Type layouts cannot contain signer'],
    ['vector<signer>', 'signer', 'Type layouts cannot contain signer'],
    ['0x2::m::Signer', 'signer', 'Type layouts cannot contain signer'],
    ['0x2::m::Box<signer>', 'signer', 'Type layouts cannot contain signer'],
    ['0x2::m::Fun', 'function_type', 'function types NYI for MoveTypeLayout'],
    ['0x2::m::Loop', 'too_large', 'type layout exceeds the maximum of 512 nodes'],
  ])('%s: %s', async (text, code, message) => {
    const error = await refusal(resolve(source, text));
    expect([error.code, error.message]).toEqual([code, message]);
  });

  it('takes a function type as it is, and refuses it as a type argument', async () => {
    const fun: TypeTag = { kind: 'function', args: [], results: [], abilities: 0 };
    const lookup = moduleLookup(source);
    expect(await resolveInnerArgumentLayout(fun, lookup)).toEqual({ kind: 'function' });
    const struct = { address: TWO, module: 'm', name: 'Box', typeArguments: [fun] };
    const error = await refusal(resolveInnerArgumentLayout({ kind: 'struct', struct }, lookup));
    expect(error.message).toBe('Function layout cannot be constructed from type tag');
  });

  it('counts a module that does not load as missing, and passes on other failures', async () => {
    const tag = parseTypeTag('0x2::m::S');
    const broken = await refusal(
      resolveInnerArgumentLayout(tag, () => {
        throw new BinaryFormatError('bad_magic', 'no module', 0);
      }),
    );
    expect(broken.message).toBe('Could not find module');
    const failing = resolveInnerArgumentLayout(tag, () => Promise.reject(new TypeError('disk')));
    await expect(failing).rejects.toThrow(TypeError);
  });
});

describe('encode layouts: Option', () => {
  it('is the same struct for both definitions', async () => {
    const text = '0x1::option::Option<0x1::option::Option<u64>>';
    const layout = await resolve(NEW_FRAMEWORK, text);
    expect(layout).toEqual(await resolve(OLD_FRAMEWORK, text));
    expect(layout.kind === 'struct' && formatStructTag(layout.tag!)).toBe(text);
  });

  it.each([
    ['three variants', ['None', 'Some', 'More'], 1, 'Option must have exactly two variants'],
    ['one variant', ['Some'], 1, 'Option must have exactly two variants'],
    ['another name', ['Some', 'None'], 1, 'Variant name must be `Some`'],
    ['no field', ['None', 'Some'], 0, 'Variant `Some` must have exactly one field'],
    ['two fields', ['None', 'Some'], 2, 'Variant `Some` must have exactly one field'],
  ])('refuses another shape: %s', async (_, names, fieldCount, message) => {
    const fields = Array.from({ length: fieldCount }, (_, index) => [`f${index}`, 'u8'] as const);
    const variants = names.map((name) => [name, fields] as const);
    // The module decides, not the enum's name.
    const error = await refusal(
      resolve({ '0x1::option::Other': { variants } }, '0x1::option::Other'),
    );
    expect([error.code, error.message]).toEqual(['bad_option', message]);
  });
});

describe('encode layouts: Object', () => {
  const object = parseTypeTag('0x1::object::Object<0x9::nope::X>');

  it('is an address as a whole argument, T not looked up', async () => {
    expect(await resolveArgumentLayout(object, () => undefined)).toEqual({ kind: 'address' });
  });

  it('is a struct elsewhere, and for other parameters the rule changes nothing', async () => {
    const source: Source = {
      '0x1::object::Object': { parameters: 1, fields: [['inner', 'address']] },
      '0x2::m::S': { fields: [['a', 'u64']] },
    };
    const lookup = moduleLookup(source);
    const inside = parseTypeTag('vector<0x1::object::Object<0x2::m::S>>');
    const layout = await resolveArgumentLayout(inside, lookup);
    expect(layout).toEqual(await resolveInnerArgumentLayout(inside, lookup));
    expect(layout.kind === 'vector' && layout.element.kind).toBe('struct');
    const nested: TypeTag = { kind: 'vector', element: object };
    expect((await refusal(Promise.resolve(resolveArgumentLayout(nested, lookup)))).code).toBe(
      'module_not_found',
    );
  });
});

describe('encode layouts: node budget (docs/spec/encode.md §A4)', () => {
  it.each([
    [MAX_LAYOUT_NODES - 1, true],
    [MAX_LAYOUT_NODES, true],
    [MAX_LAYOUT_NODES + 1, false],
  ])('%i nodes', async (nodes, passes) => {
    // The tag, a vector in each field, its item: 1 + 2 per field, and one plain field if the rest is odd.
    const wide = Array.from({ length: Math.floor((nodes - 1) / 2) }, (_, index) => {
      return [`f${index}`, { vector: 'u8' }] as const;
    });
    const rest = (nodes - 1) % 2 === 0 ? [] : [['rest', 'u8'] as const];
    const outcome = resolve({ '0x2::m::S': { fields: [...wide, ...rest] } }, '0x2::m::S');
    if (passes) expect((await outcome).kind).toBe('struct');
    else expect((await refusal(outcome)).code).toBe('too_large');
  });

  it('counts type arguments when built, and one for each use', async () => {
    // Tag 1, argument with its field 2; then one token per field, whatever its type.
    const fields = Array.from(
      { length: 510 },
      (_, index) => [`f${index}`, { parameter: 0 }] as const,
    );
    const source: Source = {
      '0x2::m::Leaf': { fields: [['a', 'u8']] },
      '0x2::m::Fits': { parameters: 1, fields },
      '0x2::m::Over': { parameters: 1, fields: [...fields, ['more', { parameter: 0 }]] },
    };
    expect((await resolve(source, '0x2::m::Fits<0x2::m::Leaf>')).kind).toBe('struct');
    const error = await refusal(resolve(source, '0x2::m::Over<0x2::m::Leaf>'));
    expect(error.code).toBe('too_large');
  });
});

describe('debug print of layouts (docs/spec/encode.md §A4)', () => {
  it.each([
    ['u64', 'U64'],
    ['address', 'Address'],
    ['bool', 'Bool'],
    ['vector<vector<u8>>', 'Vector(Vector(U8))'],
    [
      '0x1::string::String',
      `Struct(WithTypes { type_: StructTag { address: ${ONE}, module: Identifier("string"), name: Identifier("String"), type_args: [] }, fields: [MoveFieldLayout { name: Identifier("bytes"), layout: Vector(U8) }] })`,
    ],
    [
      '0x1::option::Option<vector<0x1::string::String>>',
      `Struct(WithTypes { type_: StructTag { address: ${ONE}, module: Identifier("option"), name: Identifier("Option"), type_args: [Vector(Struct(StructTag { address: ${ONE}, module: Identifier("string"), name: Identifier("String"), type_args: [] }))] }, fields: [MoveFieldLayout { name: Identifier("vec"), layout: Vector(Vector(Struct(WithTypes { type_: StructTag { address: ${ONE}, module: Identifier("string"), name: Identifier("String"), type_args: [] }, fields: [MoveFieldLayout { name: Identifier("bytes"), layout: Vector(U8) }] }))) }] })`,
    ],
    [
      '0x1::cmp::Ordering',
      `Struct(WithVariants { type_: StructTag { address: ${ONE}, module: Identifier("cmp"), name: Identifier("Ordering"), type_args: [] }, variants: [MoveVariantLayout { name: Identifier("Less"), fields: [] }, MoveVariantLayout { name: Identifier("By"), fields: [MoveFieldLayout { name: Identifier("_0"), layout: I256 }] }] })`,
    ],
  ])('%s', async (text, printed) => {
    const source: Source = {
      ...NEW_FRAMEWORK,
      '0x1::cmp::Ordering': {
        variants: [
          ['Less', []],
          ['By', [['_0', 'i256']]],
        ],
      },
    };
    expect(debugLayout(await resolve(source, text))).toBe(printed);
  });

  it('prints function types', () => {
    expect(debugLayout({ kind: 'function' })).toBe('Function');
  });

  it('is cut off where type arguments unfold without end', async () => {
    // Each level has the previous one twice as type arguments: 2^80 leaves in the tag.
    const source: Record<string, Source[string]> = {
      '0x2::m::Pair': { parameters: 2, fields: [['a', { parameter: 0 }]] },
      '0x2::m::D80': { parameters: 1, fields: [['a', { parameter: 0 }]] },
    };
    for (let level = 0; level < 80; level += 1) {
      const twice: SourceType = {
        is: '0x2::m::Pair',
        of: [{ parameter: 0 }, { parameter: 0 }],
      };
      const type: SourceType = { is: `0x2::m::D${level + 1}`, of: [twice] };
      source[`0x2::m::D${level}`] = { parameters: 1, fields: [['a', type]] };
    }
    const layout = await resolve(source, '0x2::m::D0<u8>');
    expect(debugLayout(layout)).toHaveLength(MAX_LAYOUT_DEBUG_CHARS + 1);
  });

  it.each([-1, 0, 1])('MAX_LAYOUT_DEBUG_CHARS %i', (more) => {
    const length = MAX_LAYOUT_DEBUG_CHARS + more;
    const tag = { address: TWO, module: 'm', name: '', typeArguments: [] };
    const layout = (name: string): Layout => {
      return { kind: 'struct', tag: { ...tag, name }, fields: [] };
    };
    const printed = debugLayout(layout('x'.repeat(length - debugLayout(layout('')).length)));
    expect(printed).toHaveLength(length);
    expect(printed.endsWith('…')).toBe(more > 0);
  });
});
