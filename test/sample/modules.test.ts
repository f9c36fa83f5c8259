/** The declaration language, the modules assembled from it, and the framework that is written in it. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  APPLICATION_ADDRESSES,
  CLOCK_MAX_HANDS,
  clockModuleText,
} from '../../bench/bulk-ledger/framework/application-modules.ts';
import { assembleText, genesisModules } from '../../bench/bulk-ledger/framework/framework.ts';
import { readGenesis } from '../../src/ingest/genesis/genesis.ts';
import { moduleAbi } from '../../src/move/modules/abi.ts';
import type { ModuleAbi } from '../../src/move/modules/abi-shapes.ts';
import type { CompiledModule } from '../../src/move/modules/compiled.ts';
import { moduleMetadata, resourceGroupOf } from '../../src/move/modules/metadata.ts';
import { readModule } from '../../src/move/modules/read.ts';
import { formatStructTag } from '../../src/move/types/type-tag.ts';
import { parseModules } from '../../src/sample/assembler/declare-parse.ts';
import { CAFE_HEX } from '../../src/sample/publishers.ts';
import { writeModule } from '../move/modules/write-module.ts';

function assemble(text: string): CompiledModule {
  return readModule(assembleText(text, APPLICATION_ADDRESSES)[0]!.bytes);
}

function id(module: CompiledModule): string {
  const { address, name } = module.moduleHandles[module.selfHandle]!;
  return `${module.addresses[address]}::${module.identifiers[name]}`;
}

const EXAMPLE = `
  // Everything that the language has.
  module cafe::example {
    use 0x1::simple_map::SimpleMap;
    friend cafe::market;
    error 7 ETOO_LATE "The time is over";

    struct Plain has copy, drop { value: u64, next: Option<address> }
    struct Pair<A: copy + drop, phantom B> has store { one: A, more: vector<A> }
    struct Nothing {}
    struct Repeated has drop { first: bool, ..Plain, last: u8 }
    enum Side { Left, Right { by: u8 }, Both(i64, Plain) }
    #[event]
    struct Happened has drop, store { what: String }
    #[resource_group(scope = address)]
    struct Group {}
    #[resource_group_member(group = cafe::example::Group)]
    struct Member has key { map: SimpleMap<String, cafe::example::Pair<u8, Option<bool>>> }

    #[view]
    public fun look<T: key>(at: &Object<T>): (u64, vector<T>);
    #[randomness]
    entry fun roll(caller: signer);
    public(friend) fun call(f: |u64, &mut Plain| (bool, u8) has copy + drop, g: ||);
    native fun raw(list: vector<vector<u16>>): u256;
    public entry fun none();
  }
`;

describe('a declared module', () => {
  const abi = moduleAbi(assemble(EXAMPLE));

  it('has the structs that were declared', () => {
    const structs = new Map(abi.structs.map((struct) => [struct.name, struct]));
    expect(structs.get('Plain')).toEqual({
      name: 'Plain',
      is_native: false,
      is_event: false,
      is_enum: false,
      abilities: ['copy', 'drop'],
      generic_type_params: [],
      fields: [
        { name: 'value', type: 'u64' },
        { name: 'next', type: '0x1::option::Option<address>' },
      ],
      variants: [],
    });
    expect(structs.get('Pair')).toMatchObject({
      abilities: ['store'],
      generic_type_params: [{ constraints: ['copy', 'drop'] }, { constraints: [] }],
      fields: [
        { name: 'one', type: 'T0' },
        { name: 'more', type: 'vector<T0>' },
      ],
    });
    expect(structs.get('Nothing')!.fields).toEqual([{ name: 'dummy_field', type: 'bool' }]);
    expect(structs.get('Repeated')!.fields).toEqual([
      { name: 'first', type: 'bool' },
      ...structs.get('Plain')!.fields,
      { name: 'last', type: 'u8' },
    ]);
    expect(structs.get('Side')).toMatchObject({
      is_enum: true,
      abilities: [],
      fields: [],
      variants: [
        { name: 'Left', fields: [] },
        { name: 'Right', fields: [{ name: 'by', type: 'u8' }] },
        {
          name: 'Both',
          fields: [
            { name: '_0', type: 'i64' },
            { name: '_1', type: `${CAFE_HEX}::example::Plain` },
          ],
        },
      ],
    });
    expect(structs.get('Happened')!.is_event).toBe(true);
    expect(structs.get('Member')!.fields[0]!.type).toBe(
      '0x1::simple_map::SimpleMap<0x1::string::String, ' +
        `${CAFE_HEX}::example::Pair<u8, 0x1::option::Option<bool>>>`,
    );
  });

  it('has the functions that were declared', () => {
    expect(abi.friends).toEqual([`${CAFE_HEX}::market`]);
    expect(abi.exposed_functions.map((f) => [f.name, f.visibility, f.is_entry, f.is_view])).toEqual(
      [
        ['look', 'public', false, true],
        ['roll', 'private', true, false],
        ['call', 'friend', false, false],
        ['none', 'public', true, false],
      ],
    );
    const [look, roll, call] = abi.exposed_functions;
    expect(look).toMatchObject({
      generic_type_params: [{ constraints: ['key'] }],
      params: ['&0x1::object::Object<T0>'],
      return: ['u64', 'vector<T0>'],
    });
    expect(roll!.params).toEqual(['signer']);
    expect(call!.params).toEqual([`|u64,&mut ${CAFE_HEX}::example::Plain|bool,u8`, '||']);
  });

  it('has the attributes and errors that were declared', () => {
    const module = assemble(EXAMPLE);
    const { errors, structAttributes, functionAttributes } = moduleMetadata(module);
    expect(errors.get(7n)).toEqual({ codeName: 'ETOO_LATE', codeDescription: 'The time is over' });
    expect(structAttributes.get('Group')).toEqual([{ kind: 2, args: ['address'] }]);
    expect(functionAttributes.get('roll')).toEqual([{ kind: 5, args: [] }]);
    expect(formatStructTag(resourceGroupOf(module, 'Member')!)).toBe(`${CAFE_HEX}::example::Group`);
    expect(resourceGroupOf(module, 'Plain')).toBeUndefined();
  });

  it('that is public has functions to pack and unpack it', () => {
    const { exposed_functions: functions } = moduleAbi(
      assemble(`module cafe::open {
        public struct Both<T> { left: T, right: u8 }
        public enum Kind { One(u8), Two(u8, bool), Three }
      }`),
    );
    expect(functions.map((f) => f.name)).toEqual([
      'pack$Both',
      'unpack$Both',
      'borrow$Both$0',
      'borrow_mut$Both$0',
      'borrow$Both$1',
      'borrow_mut$Both$1',
      'pack$Kind$One',
      'unpack$Kind$One',
      'test_variant$Kind$One',
      'pack$Kind$Two',
      'unpack$Kind$Two',
      'test_variant$Kind$Two',
      'pack$Kind$Three',
      'unpack$Kind$Three',
      'test_variant$Kind$Three',
      'borrow$Kind$0$0',
      'borrow_mut$Kind$0$0',
      'borrow$Kind$1$0',
      'borrow_mut$Kind$1$0',
    ]);
    expect(functions[0]).toMatchObject({
      params: ['T0', 'u8'],
      return: [`${CAFE_HEX}::open::Both<T0>`],
    });
  });

  it.each([
    ['module cafe::m { struct S { a: u64 ', 1],
    ['module cafe::m {\n  struct S { a: }\n}', 2],
    ['module cafe::m {\n\n  fun f() }', 3],
    ['module cafe::m { fun f(a: vector<>); }', 1],
    ['module cafe::m { #[wrong] fun f(); }', 1],
    ['module nowhere::m { }', 1],
    ['module cafe::m { fun f(); ? }', 1],
    ['module cafe::m { struct S has fly { a: u8 } }', 1],
    ['module cafe::m { native struct S { a: u8 } }', 1],
    ['module cafe::m {\n  struct S { ..T }\n  struct T { a: u8 }\n}', 2],
  ])('that does not read is refused with its line: %j', (text, line) => {
    const parse = (): unknown => parseModules(text, APPLICATION_ADDRESSES);
    expect(parse).toThrow(RangeError);
    expect(parse).toThrow(`on line ${line}`);
  });

  it('whose names are not declared is refused', () => {
    expect(() => assemble('module cafe::m { struct S { a: Missing } }')).toThrow(RangeError);
  });

  it.each([
    [5, 'fun f(a: u64);'],
    [6, 'fun f(a: u256);'],
    [7, 'enum E { A }'],
    [8, 'fun f(a: |u8|);'],
    [9, 'fun f(a: i256);'],
  ])('has its bytecode version: %i', (version, member) => {
    const text = `#[bytecode_version(${version})] module cafe::m { ${member} }`;
    expect(assemble(text).version).toBe(version);
  });
});

describe('the modules of a sample ledger', () => {
  it('load and write back as they are', () => {
    const names = new Set<string>();
    for (const { address, name, bytes } of genesisModules()) {
      const module = readModule(bytes);
      expect(writeModule(module).equals(bytes)).toBe(true);
      expect(id(module)).toBe(`${address}::${name}`);
      expect(moduleAbi(module).name).toBe(name);
      names.add(id(module));
    }
    expect(names.size).toBe(genesisModules().length);
    expect(names.size).toBeGreaterThan(60);
  });

  it('declare every friend that they name', () => {
    const known = new Set(genesisModules().map(({ bytes }) => id(readModule(bytes))));
    for (const { bytes } of genesisModules()) {
      const module = readModule(bytes);
      for (const { address, name } of module.friends) {
        expect(known).toContain(`${module.addresses[address]}::${module.identifiers[name]}`);
      }
    }
  });

  it('grow by upgrades until they start over', () => {
    const functions = (upgrade: number): number =>
      moduleAbi(assemble(clockModuleText(upgrade))).exposed_functions.length;
    expect(functions(0)).toBe(1);
    expect(functions(1)).toBe(2);
    expect(functions(CLOCK_MAX_HANDS - 1)).toBe(CLOCK_MAX_HANDS);
    expect(functions(CLOCK_MAX_HANDS)).toBe(1);
  });
});

const devnet = new URL('../../../shared/genesis/devnet.blob', import.meta.url);

describe.skipIf(!existsSync(devnet))(
  'the sample framework beside the reference’s (skipped without ../shared/genesis)',
  () => {
    it('gives everything that both have the same layout, signature and marks', () => {
      const reference = new Map<string, ModuleAbi>();
      for (const { key, op } of readGenesis(readFileSync(devnet)).writes()) {
        if (key.kind !== 'accessPath' || key.parsed?.kind !== 'code') continue;
        if (op.kind === 'deletion') continue;
        const abi = moduleAbi(readModule(op.bytes));
        reference.set(`${abi.address}::${abi.name}`, abi);
      }
      let compared = 0;
      for (const { bytes } of genesisModules()) {
        const ours = moduleAbi(readModule(bytes));
        const theirs = reference.get(`${ours.address}::${ours.name}`);
        if (theirs === undefined) continue;
        const structs = namedAs(ours.structs, theirs.structs);
        expect(structs, ours.name).toEqual(ours.structs);
        // Private functions that are neither entry nor view are not in an ABI, so only the others can be compared.
        const functions = namedAs(ours.exposed_functions, theirs.exposed_functions);
        expect(functions, ours.name).toEqual(ours.exposed_functions);
        compared += structs.length + functions.length;
      }
      expect(compared).toBeGreaterThan(300);
    });
  },
);

/** The items of `all` with the names of `items`, in their order. */
function namedAs<T extends { readonly name: string }>(items: readonly T[], all: readonly T[]): T[] {
  return items.flatMap(({ name }) => all.filter((item) => item.name === name));
}
