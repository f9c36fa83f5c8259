/** ABIs of hand-built modules and scripts (docs/spec/move.md §2, §5). */
import { describe, expect, it } from 'vitest';
import { encodeBcs } from '../../../src/move/bcs/bcs-writer.ts';
import {
  AbiError,
  MAX_ABI_JSON_BYTES,
  moduleAbi,
  moduleAbiJson,
} from '../../../src/move/modules/abi.ts';
import type { ModuleAbi, StructAbi } from '../../../src/move/modules/abi-shapes.ts';
import type {
  CompiledModule,
  SignatureToken,
  StructDefinition,
} from '../../../src/move/modules/compiled.ts';
import { readModule } from '../../../src/move/modules/read.ts';
import { fullModule, nest, SMALL_MODULE, T0, times } from './module-samples.ts';
import { writeModule } from './write-module.ts';

/** The ABI of a module that was encoded and loaded again. */
function abiOf(module: CompiledModule): ModuleAbi {
  return moduleAbi(readModule(writeModule(module)));
}

/** Metadata v1 with attributes of one kind on one struct and one function. */
function attributes(struct: readonly [string, number], fun: readonly [string, number]) {
  const value = encodeBcs((writer) => {
    writer.uleb32(0);
    for (const [name, kind] of [struct, fun]) {
      writer.uleb32(1).string(name).uleb32(1).u8(kind).uleb32(0);
    }
  });
  return [{ key: Buffer.from('aptos::metadata_v1'), value }];
}

describe('modules', () => {
  it('the example of the specification, to the byte', () => {
    expect(moduleAbiJson(readModule(SMALL_MODULE))).toBe(
      '{"address":"0x1","name":"m","friends":[],"exposed_functions":[{"name":"f",' +
        '"visibility":"private","is_entry":true,"is_view":false,"generic_type_params":[],' +
        '"params":["&signer","u64"],"return":[]}],"structs":[{"name":"S","is_native":false,' +
        '"is_event":false,"is_enum":false,"abilities":["store","key"],' +
        '"generic_type_params":[{"constraints":[]}],' +
        '"fields":[{"name":"a","type":"vector<u8>"}],"variants":[]}]}',
    );
  });

  it('everything at once', () => {
    const { exposed_functions: functions, structs, ...rest } = abiOf(fullModule());
    const other = `0x${'ab'.repeat(32)}::other`;
    expect(rest).toEqual({ address: '0x1', name: 'm', friends: [other] });
    expect(functions).toEqual([
      {
        name: 'f',
        visibility: 'friend',
        is_entry: true,
        is_view: false,
        generic_type_params: [{ constraints: ['drop'] }],
        params: [
          ...['bool', 'u8', 'u16', 'u32', 'u64', 'u128', 'u256'],
          ...['i8', 'i16', 'i32', 'i64', 'i128', 'i256', 'address', 'signer'],
          `&${other}::E`,
          '&mut 0x1::m::S<vector<T0>>',
          'T0',
          `|T0,${other}::E|0x1::m::S<vector<T0>>`,
        ],
        return: ['T0'],
      },
    ]);
    expect(structs.map(({ name, is_native, is_enum }) => [name, is_native, is_enum])).toEqual([
      ['S', false, false],
      ['E', true, false],
      ['f', false, true],
    ]);
    expect(structs[0]).toMatchObject({
      abilities: ['copy', 'drop', 'store', 'key'],
      generic_type_params: [{ constraints: ['copy', 'drop'] }],
      fields: [
        { name: 'g$h', type: 'T0' },
        { name: '<SELF>', type: `${other}::E` },
      ],
      variants: [],
    });
    expect(structs[1]).toMatchObject({ abilities: ['store'], fields: [], variants: [] });
    expect(structs[2]).toMatchObject({
      fields: [],
      variants: [
        { name: 'S', fields: [] },
        { name: 'E', fields: [{ name: 'g$h', type: '0x1::m::S<vector<T0>>' }] },
      ],
    });
  });

  it("keys stand in the interface's order", () => {
    const [fun] = abiOf(fullModule()).exposed_functions;
    const abi = abiOf(fullModule());
    expect(Object.keys(abi)).toEqual([
      'address',
      'name',
      'friends',
      'exposed_functions',
      'structs',
    ]);
    expect(Object.keys(fun!).join()).toBe(
      'name,visibility,is_entry,is_view,generic_type_params,params,return',
    );
    expect(Object.keys(abi.structs[0]!).join()).toBe(
      'name,is_native,is_event,is_enum,abilities,generic_type_params,fields,variants',
    );
    expect(Object.keys(abi.structs[0]!.fields[0]!).join()).toBe('name,type');
    expect(Object.keys(abi.structs[2]!.variants[0]!).join()).toBe('name,fields');
  });

  it('shows functions that are entry, public, friend or view', () => {
    const [first] = fullModule().functionDefinitions;
    const shown = (visibility: 'private' | 'public' | 'friend', isEntry: boolean, kind: number) =>
      abiOf({
        ...fullModule(),
        metadata: attributes(['S', 0], ['f', kind]),
        functionDefinitions: [{ ...first!, visibility, isEntry }],
      }).exposed_functions.map(({ is_view }) => is_view);
    const UNKNOWN = 77;
    expect(shown('private', false, UNKNOWN)).toEqual([]);
    expect(shown('private', true, UNKNOWN)).toEqual([false]);
    expect(shown('public', false, UNKNOWN)).toEqual([false]);
    expect(shown('friend', false, UNKNOWN)).toEqual([false]);
    expect(shown('private', false, 0)).toEqual([true]);
    expect(shown('private', false, 1)).toEqual([true]);
    expect(shown('public', true, 1)).toEqual([true]);
    for (const kind of [2, 3, 4, 5]) expect(shown('private', false, kind)).toEqual([]);
  });

  it('marks events, but not in version 5', () => {
    const events = (version: number, kind: number) =>
      abiOf({ ...fullModule(version), metadata: attributes(['S', kind], ['f', 1]) }).structs.map(
        ({ is_event }) => is_event,
      );
    expect(events(10, 4)).toEqual([true, false, false]);
    expect(events(6, 4)).toEqual([true, false]);
    expect(events(5, 4)).toEqual([false, false]);
    for (const kind of [0, 1, 2, 3, 5]) expect(events(10, kind)).toEqual([false, false, false]);
  });

  it('shows the name of a definition that points at a handle of another module', () => {
    const [first] = fullModule().functionDefinitions;
    const functionDefinitions = [
      { ...first!, handle: 1, code: { locals: 0, code: [] } },
      { ...first!, handle: 1, code: { locals: 0, code: [] } },
    ];
    const names = abiOf({ ...fullModule(), functionDefinitions }).exposed_functions;
    expect(names.map(({ name }) => name)).toEqual(['g$h', 'g$h']);
  });

  it('takes names that plain objects cannot hold', () => {
    const identifiers = [
      '__proto__',
      'constructor',
      'toString',
      '__proto__',
      'valueOf',
      '_0',
      '_1',
    ];
    const json = moduleAbiJson({ ...fullModule(), identifiers });
    expect(JSON.parse(json)).toMatchObject({ name: '__proto__' });
  });
});

/** A module `{address}::{name}` with one enum. */
function enumModule(
  address: string,
  name: string,
  variants: (StructDefinition & { kind: 'enum' })['variants'],
): CompiledModule {
  const module = fullModule();
  return {
    ...module,
    addresses: [address.padStart(64, '0'), module.addresses[1]!],
    identifiers: [name, ...module.identifiers.slice(1)],
    structDefinitions: [{ kind: 'enum', handle: 3, variants }],
    structInstantiations: [],
    functionDefinitions: [],
    fieldHandles: [],
    fieldInstantiations: [],
    variantFieldHandles: [],
    variantFieldInstantiations: [],
    structVariantHandles: [],
    structVariantInstantiations: [],
  };
}

describe('0x1::option', () => {
  const NONE = { name: 2, fields: [] };
  const SOME = {
    name: 3,
    fields: [
      { name: 5, type: T0 },
      { name: 6, type: { kind: 'u8' } },
    ],
  } as const;
  const shape = ({ is_enum, fields, variants }: StructAbi) => [is_enum, fields, variants.length];
  const asStruct = [false, [{ name: 'vec', type: 'vector<T0>' }], 0];

  it('shows an enum of two variants as the old struct', () => {
    const abi = abiOf(enumModule('1', 'option', [NONE, SOME]));
    expect(abi.structs.map(shape)).toEqual([asStruct]);
  });

  it('but no other enum', () => {
    const others = [
      enumModule('1', 'options', [NONE, SOME]),
      enumModule('2', 'option', [NONE, SOME]),
      enumModule('1', 'option', [SOME]),
      enumModule('1', 'option', [NONE, SOME, SOME]),
    ];
    for (const module of others) expect(abiOf(module).structs[0]).toMatchObject({ is_enum: true });
  });

  it('refuses a second variant without fields', () => {
    const module = readModule(writeModule(enumModule('1', 'option', [SOME, NONE])));
    for (const show of [moduleAbi, moduleAbiJson]) {
      expect(() => show(module)).toThrow(expect.objectContaining({ code: 'option_without_value' }));
    }
  });
});

describe('size', () => {
  it('counts exactly the bytes that are printed', () => {
    for (const module of [readModule(SMALL_MODULE), fullModule(5), fullModule(10)]) {
      const size = Buffer.byteLength(moduleAbiJson(module));
      expect(moduleAbiJson(module, size + 1).length).toBe(size);
      expect(moduleAbiJson(module, size).length).toBe(size);
      expect(() => moduleAbiJson(module, size - 1)).toThrow(
        expect.objectContaining({ code: 'abi_too_large' }),
      );
    }
  });

  /** 255 struct names of 255 characters in each signature, shared by thousands of functions. */
  function bomb(structNameLength: number, signatureCount: number, functionCount: number) {
    const module = fullModule();
    const token: SignatureToken = {
      kind: 'struct',
      handle: 1,
      instantiated: false,
      typeArguments: [],
    };
    const [first] = module.functionDefinitions;
    const [, handle] = module.functionHandles;
    return {
      ...module,
      identifiers: ['m', 'o'.repeat(255), 'S', 'E'.repeat(structNameLength), 'f', 'g', 'h'],
      signatures: [...module.signatures, ...times(signatureCount, times(255, token))],
      functionHandles: [
        module.functionHandles[0]!,
        ...times(signatureCount, 0).map((_, at) => ({ ...handle!, parameters: 3 + at })),
      ],
      functionDefinitions: times(functionCount, 0).map((_, at) => ({
        ...first!,
        handle: 1 + (at % signatureCount),
        code: { locals: 0, code: [] },
        acquires: [],
      })),
    };
  }

  it.each([
    ['one signature shared by 9000 functions', bomb(255, 1, 9000)],
    ['120 signatures of their own', bomb(255, 120, 120)],
  ])('64 KB that would print too much: %s', (_, hostile) => {
    const bytes = writeModule(hostile);
    expect(bytes.length).toBeLessThan(65_536);
    expect(() => moduleAbiJson(readModule(bytes))).toThrow(AbiError);
  });

  it('stops while texts are built', () => {
    const { signatures, identifiers } = bomb(255, 120, 0);
    const wide = signatures[3]!.slice(0, 250);
    const nested = nest(200, { kind: 'u8' }, (inner) => ({
      kind: 'function',
      args: [...wide, inner],
      results: [],
      abilities: 0,
    }));
    const module = { ...fullModule(), identifiers, signatures: [[], [nested], [T0]] };
    expect(() => moduleAbi(readModule(writeModule(module)))).toThrow(
      expect.objectContaining({ code: 'abi_too_large' }),
    );
    expect(MAX_ABI_JSON_BYTES).toBe(16_777_216);
  });

  it('deep types print in linear time', () => {
    const deep = nest(254, { kind: 'u8' }, (element) => ({ kind: 'vector', element }));
    const signatures = [[], [deep], [T0]];
    const text = abiOf({ ...fullModule(), signatures }).exposed_functions[0]!.params[0]!;
    expect(text).toBe('vector<'.repeat(254) + 'u8' + '>'.repeat(254));
  });
});
