/** Metadata entries: which one is used, what decodes, attributes and resource groups (docs/spec/move.md §2.3). */
import { describe, expect, it } from 'vitest';
import { encodeBcs } from '../../../src/move/bcs/bcs-writer.ts';
import type { CompiledModule, MetadataEntry } from '../../../src/move/modules/compiled.ts';
import { moduleMetadata, resourceGroupOf } from '../../../src/move/modules/metadata.ts';
import { readModule } from '../../../src/move/modules/read.ts';
import { formatStructTag } from '../../../src/move/types/type-tag.ts';
import { genesisModules, genesisPresent } from './genesis-modules.ts';
import { fullModule } from './module-samples.ts';

type Attribute = readonly [kind: number, ...args: string[]];
type Named = readonly (readonly [name: string, ...attributes: Attribute[]])[];

function v1(structs: Named, functions: Named, errors: readonly (readonly [bigint, string])[] = []) {
  return encodeBcs((writer) => {
    writer.vector(errors, (at, [code, text]) => at.u64(code).string(text).string(`${text} text`));
    for (const named of [structs, functions]) {
      writer.vector(named, (at, [name, ...attributes]) =>
        at
          .string(name)
          .vector(attributes, (item, [kind, ...args]) =>
            item.u8(kind).vector(args, (argument, text) => argument.string(text)),
          ),
      );
    }
  });
}

function entry(key: string, value: Uint8Array): MetadataEntry {
  return { key: Buffer.from(key), value };
}

function withMetadata(version: number, ...metadata: MetadataEntry[]): CompiledModule {
  return { ...fullModule(version), metadata };
}

const KEY_1 = 'aptos::metadata_v1';
const KEY_0 = 'aptos::metadata_v0';
const EVENT_ON_S = v1([['S', [4]]], [['f', [1]]], [[7n, 'E_SEVEN']]);
const NONE = { errors: new Map(), structAttributes: new Map(), functionAttributes: new Map() };
const SEVEN = new Map([[7n, { codeName: 'E_SEVEN', codeDescription: 'E_SEVEN text' }]]);

describe('which entry counts', () => {
  it('none without metadata, or with other keys only', () => {
    expect(moduleMetadata(withMetadata(10))).toEqual(NONE);
    const others = [entry('compilation_metadata', EVENT_ON_S), entry(`${KEY_1}x`, EVENT_ON_S)];
    expect(moduleMetadata(withMetadata(10, ...others))).toEqual(NONE);
  });

  it('the first v1 entry', () => {
    const second = entry(KEY_1, v1([], []));
    const module = withMetadata(10, entry('other', second.value), entry(KEY_1, EVENT_ON_S), second);
    expect(moduleMetadata(module)).toEqual({
      errors: SEVEN,
      structAttributes: new Map([['S', [{ kind: 4, args: [] }]]]),
      functionAttributes: new Map([['f', [{ kind: 1, args: [] }]]]),
    });
  });

  it('v0 only when there is no v1, not even a broken one', () => {
    const v0 = entry(KEY_0, EVENT_ON_S.subarray(0, EVENT_ON_S.length - 12));
    expect(moduleMetadata(withMetadata(10, v0))).toEqual({ ...NONE, errors: SEVEN });
    const broken = entry(KEY_1, Buffer.from([0]));
    expect(moduleMetadata(withMetadata(10, v0, broken))).toEqual(NONE);
    expect(moduleMetadata(withMetadata(10, broken, entry(KEY_1, EVENT_ON_S)))).toEqual(NONE);
  });

  it('attributes do not count in version 5, and do in all others', () => {
    for (const version of [6, 7, 8, 9, 10]) {
      const { structAttributes } = moduleMetadata(withMetadata(version, entry(KEY_1, EVENT_ON_S)));
      expect(structAttributes.size).toBe(1);
    }
    const old = withMetadata(5, entry(KEY_1, EVENT_ON_S));
    expect(moduleMetadata(old)).toEqual({ ...NONE, errors: SEVEN });
  });
});

describe('what decodes', () => {
  /** All values below contain something that is visible when they decode. */
  const decodes = (value: Uint8Array) => {
    const found = moduleMetadata(withMetadata(10, entry(KEY_1, value)));
    return found.errors.size + found.structAttributes.size + found.functionAttributes.size > 0;
  };

  it.each<[string, boolean, Uint8Array]>([
    ['an empty name', true, Buffer.from([0, 1, 0, 0, 0])],
    ['maps of different size', true, Buffer.from([0, 0, 1, 1, 0x61, 1, 1, 0])],
    ['unknown attribute kinds', true, v1([['S', [200, 'x']]], [])],
    [
      'names in order of length, then bytes',
      true,
      v1(
        [
          ['b', [4]],
          ['aa', [4]],
        ],
        [],
      ),
    ],
    [
      'names in alphabetic order',
      false,
      v1(
        [
          ['aa', [4]],
          ['b', [4]],
        ],
        [],
      ),
    ],
    [
      'a name twice',
      false,
      v1(
        [
          ['a', [4]],
          ['a', [4]],
        ],
        [],
      ),
    ],
    [
      'error codes in order of little-endian bytes',
      true,
      v1(
        [],
        [],
        [
          [256n, 'b'],
          [1n, 'a'],
        ],
      ),
    ],
    [
      'error codes in numeric order',
      false,
      v1(
        [],
        [],
        [
          [1n, 'a'],
          [256n, 'b'],
        ],
      ),
    ],
    ['surplus bytes', false, Buffer.from([0, 1, 0, 0, 0, 0])],
    ['missing bytes', false, Buffer.from([0, 1, 0, 0])],
    ['no UTF-8', false, Buffer.from([0, 1, 1, 0xff, 0, 0])],
    ['length not minimal', false, Buffer.from([0, 0x81, 0, 0, 0, 0])],
    ['length above what is there', false, Buffer.from([0, 0xff, 0xff, 0xff, 0xff, 7, 0])],
  ])('%s: %s', (_, expected, value) => {
    expect(decodes(value)).toBe(expected);
  });

  it('keeps names that plain objects cannot hold', () => {
    const value = v1([['__proto__', [4]]], [['toString', [1]]]);
    const found = moduleMetadata(withMetadata(10, entry(KEY_1, value)));
    expect(found.structAttributes.get('__proto__')).toEqual([{ kind: 4, args: [] }]);
    expect(found.functionAttributes.get('constructor')).toBeUndefined();
  });
});

describe('resource groups', () => {
  const groupOf = (version: number, ...attributes: Attribute[]) => {
    const module = withMetadata(version, entry(KEY_1, v1([['S', ...attributes]], [])));
    const group = resourceGroupOf(module, 'S');
    return group && formatStructTag(group);
  };

  it('gives the container, in version 5 too', () => {
    for (const version of [5, 6, 10]) {
      expect(groupOf(version, [3, '0x1::object::ObjectGroup'])).toBe('0x1::object::ObjectGroup');
    }
  });

  it('takes the first membership that parses', () => {
    const good: Attribute = [3, '0x0002::g::G<u8>'];
    expect(
      groupOf(10, [2, 'global'], [3], [3, 'u8'], [3, 'nonsense'], good, [3, '0x1::a::B']),
    ).toBe('0x2::g::G<u8>');
  });

  it('gives nothing for other structs and attributes', () => {
    expect(groupOf(10, [2, 'global'], [4])).toBeUndefined();
    expect(resourceGroupOf(withMetadata(10), 'S')).toBeUndefined();
    const member = entry(KEY_1, v1([['S', [3, '0x1::object::ObjectGroup']]], []));
    expect(resourceGroupOf(withMetadata(10, member), '__proto__')).toBeUndefined();
  });

  it.skipIf(!genesisPresent)('of a real chain (needs ../shared/genesis)', () => {
    const groups = new Map<string, string>();
    for (const bytes of genesisModules('devnet')) {
      const module = readModule(bytes);
      for (const { handle } of module.structDefinitions) {
        const name = module.identifiers[module.structHandles[handle]!.name]!;
        const group = resourceGroupOf(module, name);
        if (group !== undefined) groups.set(name, formatStructTag(group));
      }
    }
    expect(groups.get('ObjectCore')).toBe('0x1::object::ObjectGroup');
    expect(groups.get('FungibleStore')).toBe('0x1::object::ObjectGroup');
  });
});
