/** The loader on raw bytes, assembled without the writer: header, directory, versions, tokens, opcodes. */
import { describe, expect, it } from 'vitest';
import type { CompiledModule } from '../../../src/move/modules/compiled.ts';
import { BinaryFormatError } from '../../../src/move/modules/format.ts';
import { readModule, readScript } from '../../../src/move/modules/read.ts';
import {
  assemble,
  functionHandleEnd,
  name,
  rawFunction,
  rawModule,
  SMALL_MODULE,
  SMALL_SCRIPT,
  times,
} from './module-samples.ts';
import { writeModule } from './write-module.ts';

/** Why bytes do not load, or `loads`. */
function verdict(read: () => unknown): string {
  try {
    read();
    return 'loads';
  } catch (error) {
    if (!(error instanceof BinaryFormatError)) throw error;
    return error.code;
  }
}

const VERSIONS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

describe('the examples of the specification', () => {
  it('module', () => {
    const module = readModule(SMALL_MODULE);
    expect(module.version).toBe(10);
    expect(module.versionWord).toBe(0x0a00000a);
    expect(module.identifiers).toEqual(['m', 'f', 'S', 'a']);
    expect(module.structHandles).toEqual([
      { module: 0, name: 2, abilities: 12, typeParameters: [{ constraints: 0, isPhantom: true }] },
    ]);
    expect(module.functionDefinitions).toEqual([
      {
        handle: 0,
        visibility: 'private',
        isEntry: true,
        isNative: false,
        acquires: [],
        code: { locals: 0, code: [{ opcode: 2 }] },
      },
    ]);
  });

  it('script', () => {
    const script = readScript(SMALL_SCRIPT);
    expect(script.typeParameters).toEqual([0]);
    expect(script.signatures[script.parameters]).toEqual([{ kind: 'signer' }, { kind: 'u64' }]);
    expect(script.accessSpecifiers).toBeUndefined();
  });

  it('a module is no script and a script no module', () => {
    expect(verdict(() => readScript(SMALL_MODULE))).not.toBe('loads');
    expect(verdict(() => readModule(SMALL_SCRIPT))).not.toBe('loads');
  });

  it('every prefix is refused, bytes behind the tail are not looked at', () => {
    for (let end = 0; end < SMALL_MODULE.length; end += 1) {
      expect(verdict(() => readModule(SMALL_MODULE.subarray(0, end)))).not.toBe('loads');
    }
    for (let end = 0; end < SMALL_SCRIPT.length; end += 1) {
      expect(verdict(() => readScript(SMALL_SCRIPT.subarray(0, end)))).not.toBe('loads');
    }
    const surplus = Buffer.concat([SMALL_MODULE, Buffer.from('ff00ff', 'hex')]);
    expect(readModule(surplus)).toEqual(readModule(SMALL_MODULE));
  });

  it('reads from the middle of a larger buffer', () => {
    const padded = Buffer.concat([Buffer.alloc(3, 0xff), SMALL_MODULE]);
    expect(readModule(new Uint8Array(padded).subarray(3))).toEqual(readModule(SMALL_MODULE));
  });
});

describe('header', () => {
  it.each(VERSIONS)('version %i loads, with any of the two flag bits', (version) => {
    const bytes = rawModule(version, []);
    for (const flags of [0, 0x02000000, 0x08000000, 0x0a000000]) {
      bytes.writeUInt32LE(version + flags, 4);
      expect(readModule(bytes)).toMatchObject({ version, versionWord: version + flags });
    }
  });

  it.each([0, 11, 0x0a00000b, 0x0100000a, 0x8a00000a, 0xffffffff])('word %i is refused', (word) => {
    const bytes = rawModule(10, []);
    bytes.writeUInt32LE(word, 4);
    expect(verdict(() => readModule(bytes))).toBe('bad_version');
  });

  it('obeys the highest version of the loader', () => {
    for (const maxVersion of [5, 6, 7, 8, 9, 10]) {
      const limits = { maxVersion, maxIdentifierBytes: 255 };
      for (const version of VERSIONS) {
        const expected = version <= maxVersion ? 'loads' : 'bad_version';
        expect(verdict(() => readModule(rawModule(version, []), limits))).toBe(expected);
      }
    }
  });

  it('wants the magic', () => {
    const bytes = rawModule(10, []);
    bytes[3] = 0x0c;
    expect(verdict(() => readModule(bytes))).toBe('bad_magic');
    expect(verdict(() => readModule(Buffer.alloc(0)))).toBe('bad_magic');
  });
});

/** Raw bytes with the given directory. */
function withDirectory(directory: readonly number[], contents: readonly number[]): Buffer {
  return Buffer.concat([
    Buffer.from('a11ceb0b0a00000a', 'hex'),
    Buffer.from(directory),
    Buffer.from(contents),
  ]);
}

describe('table directory', () => {
  const identifiers = name('m');
  const addresses = times(32, 0);
  const contents = [...identifiers, ...addresses, 0, 0, 0];

  it('takes entries in any order', () => {
    const inOrder = withDirectory([3, 7, 0, 2, 8, 2, 32, 1, 34, 2], contents);
    const mixed = withDirectory([3, 1, 34, 2, 7, 0, 2, 8, 2, 32], contents);
    expect(readModule(mixed)).toEqual(readModule(inOrder));
    expect(writeModule(readModule(mixed)).equals(writeModule(readModule(inOrder)))).toBe(true);
  });

  it.each<[string, string, number[]]>([
    ['gap at the start', 'bad_table', [3, 7, 1, 2, 8, 3, 32, 1, 35, 2]],
    ['gap', 'bad_table', [3, 7, 0, 2, 8, 3, 31, 1, 34, 2]],
    ['overlap', 'bad_table', [3, 7, 0, 3, 8, 2, 32, 1, 34, 2]],
    ['same place twice', 'bad_table', [3, 7, 0, 2, 8, 0, 2, 1, 2, 34]],
    ['no bytes', 'bad_table', [4, 7, 0, 2, 8, 2, 32, 1, 34, 2, 5, 36, 0]],
    ['repeated', 'duplicate_table', [3, 7, 0, 2, 7, 2, 32, 1, 34, 2]],
    ['kind 0', 'unknown_table', [1, 0, 0, 2]],
    ['kind 9', 'unknown_table', [1, 9, 0, 2]],
    ['kind 0x15', 'unknown_table', [1, 0x15, 0, 2]],
    ['over the end', 'unexpected_end', [3, 7, 0, 2, 8, 2, 32, 1, 34, 10]],
    ['longer than the file', 'bad_table', [3, 7, 0, 2, 8, 2, 32, 1, 34, 100]],
    ['entry over the end of its table', 'unexpected_end', [3, 7, 0, 1, 8, 1, 33, 1, 34, 2]],
    ['size above u32', 'bad_uleb', [1, 7, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 1]],
    ['size of 2^32', 'limit_exceeded', [1, 7, 0, 0x80, 0x80, 0x80, 0x80, 0x10]],
    ['size of 2^32 - 1', 'bad_table', [1, 7, 0, 0xff, 0xff, 0xff, 0xff, 0x0f]],
    ['no tables', 'no_module_handles', [0]],
  ])('%s: %s', (_, code, directory) => {
    expect(verdict(() => readModule(withDirectory(directory, contents)))).toBe(code);
  });

  it('counts up to 255 tables', () => {
    const many = (count: number[]) => withDirectory([...count, 7, 0, 2], [...name('m'), 7]);
    expect(verdict(() => readModule(many([0xff, 0x01])))).toBe('unexpected_end');
    expect(verdict(() => readModule(many([0x80, 0x02])))).toBe('limit_exceeded');
  });

  it.each([
    [0x0f, 2, [0, 0]],
    [0x10, 5, [1, 0x6b, 0]],
    [0x11, 7, []],
    [0x12, 7, []],
    [0x13, 7, []],
    [0x14, 7, []],
  ])('table %i came with version %i', (kind, since, entry) => {
    for (const version of VERSIONS) {
      // An entry without valid contents here is refused by its index, which is a later check.
      const contents = entry.length > 0 ? entry : [0, 0, 0];
      const found = verdict(() => readModule(rawModule(version, [[kind, contents]])));
      expect(found === 'unsupported').toBe(version < since);
    }
  });

  it('scripts may have only the shared tables', () => {
    const shared = [1, 2, 3, 4, 5, 6, 7, 8, 0x10];
    for (let kind = 1; kind <= 0x14; kind += 1) {
      const bytes = assemble({
        version: 10,
        tables: [[kind, times(40, 0)]],
        tail: [0, 0, 1, 0, 0],
      });
      const found = verdict(() => readScript(bytes));
      const isRefused = found === 'forbidden_table' || found === 'unknown_table';
      expect([kind, isRefused]).toEqual([kind, !shared.includes(kind)]);
    }
  });
});

describe('ULEB128', () => {
  const withName = (index: readonly number[]) => rawModule(10, [[0x01, [0, ...index]]]);

  it.each<[string, string, number[]]>([
    ['0', 'loads', [0x00]],
    ['1', 'loads', [0x01]],
    ['0 in two bytes', 'bad_uleb', [0x80, 0x00]],
    ['1 in two bytes', 'bad_uleb', [0x81, 0x00]],
    ['65535', 'out_of_bounds', [0xff, 0xff, 0x03]],
    ['65536', 'limit_exceeded', [0x80, 0x80, 0x04]],
    ['2^32', 'limit_exceeded', [0x80, 0x80, 0x80, 0x80, 0x10]],
    ['2^63', 'bad_uleb', [...times(9, 0x80), 0x01]],
    ['without an end', 'bad_uleb', times(20, 0x80)],
    ['cut off', 'unexpected_end', [0x80]],
  ])('index %s: %s', (_, code, index) => {
    expect(verdict(() => readModule(withName(index)))).toBe(code);
  });

  const withMask = (mask: readonly number[]) =>
    rawModule(10, [[0x0c, rawFunction(10, 1, [0x58, 0, ...mask])]]);

  it.each<[string, string, number[]]>([
    ['0', 'loads', [0x00]],
    ['2^64 - 1', 'loads', [...times(9, 0xff), 0x01]],
    ['2^64', 'bad_uleb', [...times(9, 0x80), 0x02]],
    ['eleven bytes', 'bad_uleb', [...times(10, 0x80), 0x01]],
    ['not minimal', 'bad_uleb', [0x80, 0x00]],
    ['ten bytes, not minimal', 'bad_uleb', [...times(9, 0x80), 0x00]],
  ])('mask %s: %s', (_, code, mask) => {
    expect(verdict(() => readModule(withMask(mask)))).toBe(code);
  });

  it('gives the mask its exact value', () => {
    const module = readModule(withMask([...times(9, 0xff), 0x01]));
    expect(module.functionDefinitions[0]!.code!.code[0]!.mask).toBe(2n ** 64n - 1n);
  });
});

describe('what each version has', () => {
  /** First version of every opcode, row by row from the specification's table. */
  const OPCODE_SINCE = [
    ...times(0x3f, 1),
    ...times(8, 4),
    ...times(6, 6),
    ...times(6, 7),
    ...times(2, 1),
    ...times(2, 7),
    ...times(3, 8),
    ...times(13, 9),
    10,
  ];

  it.each(VERSIONS)('version %i: opcodes', (version) => {
    const accepted: number[] = [];
    for (let opcode = 0; opcode < 256; opcode += 1) {
      // Zeros after the opcode fill any operand; the remaining ones are not a function definition.
      const code = [opcode, ...times(33, 0x00)];
      const found = verdict(() =>
        readModule(rawModule(version, [[0x0c, rawFunction(version, 1, code)]])),
      );
      if (found !== 'unsupported' && found !== 'unknown_opcode') accepted.push(opcode);
      else {
        const exists = opcode >= 1 && opcode <= 0x68;
        expect([opcode, found]).toEqual([opcode, exists ? 'unsupported' : 'unknown_opcode']);
      }
    }
    const expected = OPCODE_SINCE.flatMap((since, at) => (version >= since ? [at + 1] : []));
    expect(accepted).toEqual(expected);
  });

  it.each(VERSIONS)('version %i: types', (version) => {
    const accepted: number[] = [];
    for (let code = 0; code < 256; code += 1) {
      const bytes = rawModule(version, [[0x05, [0, 1, code, 0, 0, 0, 0, 0]]]);
      const found = verdict(() => readModule(bytes));
      if (found === 'unsupported') continue;
      if (found === 'unknown_type' && (code === 0 || code > 0x16)) continue;
      accepted.push(code);
    }
    const expected = Array.from({ length: 0x16 }, (_, index) => index + 1).filter((code) => {
      if (code >= 0x11) return version >= 9;
      if (code === 0x10) return version >= 8;
      return code >= 0x0d ? version >= 6 : true;
    });
    expect(accepted).toEqual(expected);
  });

  it.each(VERSIONS)('version %i: $ in identifiers', (version) => {
    const found = verdict(() => readModule(rawModule(version, [[0x07, name('m$')]])));
    expect(found === 'unsupported').toBe(version < 9);
  });

  it.each(VERSIONS)('version %i: enums', (version) => {
    const tables: [number, number[]][] = [
      [0x02, [0, 1, ...(version >= 2 ? [0, 0] : [1, 0])]],
      [0x0a, [0, 3, 1, 1, 0]],
    ];
    const found = verdict(() => readModule(rawModule(version, tables)));
    expect(found).toBe(version >= 7 ? 'loads' : 'unsupported');
  });

  it('attributes 3 to 9 came with version 10, 1 and 2 with 8', () => {
    for (const version of [8, 9, 10]) {
      for (let code = 0; code <= 10; code += 1) {
        const operand = code === 4 || (code >= 6 && code <= 9) ? [0xff, 0xff] : [];
        const handle = [0, 1, 0, 0, 0, 1, 1, code, ...operand];
        const found = verdict(() => readModule(rawModule(version, [[0x03, handle]])));
        const known = code >= 1 && code <= 9;
        const expected = !known
          ? 'bad_value'
          : code < 3 || version === 10
            ? 'loads'
            : 'unsupported';
        expect([version, code, found]).toEqual([version, code, expected]);
      }
    }
  });
});

describe('forms of old versions', () => {
  it('version 1: abilities by kind', () => {
    const read = (kind: number, functionParameter: number, structParameter: number) =>
      readModule(
        rawModule(1, [
          [0x02, [0, 1, kind, 1, structParameter]],
          [0x03, [0, 1, 0, 0, 1, functionParameter]],
        ]),
      );
    const summary = ({ structHandles, functionHandles }: CompiledModule) => [
      structHandles[0]!.abilities,
      functionHandles[0]!.typeParameters[0],
      structHandles[0]!.typeParameters[0],
    ];
    const param = (constraints: number) => ({ constraints, isPhantom: false });
    expect(summary(read(1, 1, 1))).toEqual([12, 4, param(0)]);
    expect(summary(read(2, 2, 2))).toEqual([7, 7, param(3)]);
    expect(summary(read(1, 3, 3))).toEqual([12, 12, param(8)]);
    expect(verdict(() => read(3, 1, 1))).toBe('unknown_ability');
    expect(verdict(() => read(1, 4, 1))).toBe('unknown_ability');
    expect(verdict(() => read(1, 1, 0))).toBe('unknown_ability');
  });

  it('version 2 has no phantom flag, version 3 has', () => {
    const parameters = (version: number, bytes: number[]) =>
      readModule(rawModule(version, [[0x02, [0, 1, 0, 1, ...bytes]]])).structHandles[0]!
        .typeParameters;
    expect(parameters(2, [5])).toEqual([{ constraints: 5, isPhantom: false }]);
    expect(parameters(3, [5, 1])).toEqual([{ constraints: 5, isPhantom: true }]);
    expect(verdict(() => parameters(3, [5, 2]))).toBe('limit_exceeded');
    expect(verdict(() => parameters(2, [16]))).toBe('limit_exceeded');
  });

  it('version 1: one byte of function flags', () => {
    const read = (flags: number) => {
      const code = (flags & 2) === 0 ? [0, 0] : [];
      const [found] = readModule(
        rawModule(1, [[0x0c, [0, flags, 0, ...code]]]),
      ).functionDefinitions;
      return [found!.visibility, found!.isEntry, found!.isNative];
    };
    expect(read(0)).toEqual(['private', false, false]);
    expect(read(1)).toEqual(['public', false, false]);
    expect(read(2)).toEqual(['private', false, true]);
    expect(read(3)).toEqual(['public', false, true]);
    expect(verdict(() => read(4))).toBe('bad_flags');
  });

  const qualifiers = (version: number, visibility: number, flags: number) => {
    const code = (flags & 2) === 0 ? [0, 0] : [];
    const bytes = rawModule(version, [[0x0c, [0, visibility, flags, 0, ...code]]]);
    const [found] = readModule(bytes).functionDefinitions;
    return [found!.visibility, found!.isEntry, found!.isNative];
  };

  it.each([2, 3, 4])('version %i: visibility "script" is public and entry', (version) => {
    expect(qualifiers(version, 0, 0)).toEqual(['private', false, false]);
    expect(qualifiers(version, 1, 2)).toEqual(['public', false, true]);
    expect(qualifiers(version, 2, 0)).toEqual(['public', true, false]);
    expect(qualifiers(version, 3, 0)).toEqual(['friend', false, false]);
    expect(verdict(() => qualifiers(version, 4, 0))).toBe('bad_value');
    expect(verdict(() => qualifiers(version, 1, 4))).toBe('bad_flags');
    expect(verdict(() => qualifiers(version, 1, 1))).toBe('bad_flags');
  });

  it.each([5, 6, 7, 8, 9, 10])('version %i: entry is a flag', (version) => {
    expect(qualifiers(version, 0, 4)).toEqual(['private', true, false]);
    expect(qualifiers(version, 3, 6)).toEqual(['friend', true, true]);
    expect(verdict(() => qualifiers(version, 2, 0))).toBe('bad_value');
    expect(verdict(() => qualifiers(version, 4, 0))).toBe('bad_value');
    for (const flag of [1, 8, 16, 32, 64, 128]) {
      expect(verdict(() => qualifiers(version, 1, flag))).toBe('bad_flags');
    }
  });

  it('scripts of version 7 have no access specifiers, those of 8 do', () => {
    const script = (version: number, tail: number[]) =>
      readScript(assemble({ version, tables: [[0x05, [0]]], tail }));
    expect(script(7, [0, 0, 0, 1, 2])).toMatchObject({
      code: { locals: 0, code: [{ opcode: 2 }] },
    });
    expect(script(8, [0, 0, 2, 0, 0, 1, 2])).toMatchObject({ accessSpecifiers: [] });
    expect(verdict(() => script(8, [0, 0, 0, 1, 2]))).toBe('bad_value');
    expect(script(1, [1, 3, 0, 0, 1, 2]).typeParameters).toEqual([12]);
  });

  it('access specifier codes', () => {
    const specifier = (bytes: number[]) => {
      const handle = [0, 1, 0, 0, 0, 2, 1, ...bytes];
      return verdict(() => readModule(rawModule(7, [[0x03, handle]])));
    };
    expect(specifier([1, 1, 1, 1])).toBe('loads');
    expect(specifier([2, 2, 5, 0x7f, 0x7f, 3, 0xff, 0x01, 2, 0x7f])).toBe('loads');
    expect(specifier([3, 1, 1, 1])).toBe('bad_value');
    expect(specifier([1, 0, 1, 1])).toBe('bad_value');
    expect(specifier([1, 1, 6, 1])).toBe('bad_value');
    expect(specifier([1, 1, 1, 4])).toBe('bad_value');
    expect(specifier([1, 1, 1, 3, 0, 3])).toBe('bad_value');
    expect(functionHandleEnd(7)).toEqual([1]);
  });
});

describe('immediates', () => {
  const first = (code: number[]) =>
    readModule(rawModule(10, [[0x0c, rawFunction(10, 1, code)]])).functionDefinitions[0]!.code!
      .code[0]!;

  it("are little endian, signed ones two's complement", () => {
    expect(first([0x31, 0xfe])).toEqual({ opcode: 0x31, operand: 254 });
    expect(first([0x48, 0x34, 0x12])).toEqual({ opcode: 0x48, operand: 0x1234 });
    expect(first([0x49, 0xff, 0xff, 0xff, 0xff])).toEqual({ opcode: 0x49, operand: 0xffffffff });
    expect(first([0x06, 1, 0, 0, 0, 0, 0, 0, 0x80])).toEqual({
      opcode: 0x06,
      operand: 2n ** 63n + 1n,
    });
    expect(first([0x4a, ...times(32, 0xff)])).toEqual({ opcode: 0x4a, operand: 2n ** 256n - 1n });
    expect(first([0x5b, 0x80])).toEqual({ opcode: 0x5b, operand: -128 });
    expect(first([0x5d, ...times(4, 0xff)])).toEqual({ opcode: 0x5d, operand: -1 });
    expect(first([0x60, ...times(31, 0), 0x80])).toEqual({ opcode: 0x60, operand: -(2n ** 255n) });
    expect(first([0x40, 1, 3, 0, 0, 0, 0, 0, 0, 0])).toEqual({
      opcode: 0x40,
      operand: 1,
      count: 3n,
    });
  });
});
