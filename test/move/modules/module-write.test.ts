/** The writer, and reading its output, on handmade modules and scripts of every written version. */
import { describe, expect, it } from 'vitest';
import type { CompiledModule } from '../../../src/move/modules/compiled.ts';
import { readModule, readScript } from '../../../src/move/modules/read.ts';
import {
  fullModule,
  fullScript,
  nest,
  SMALL_MODULE,
  SMALL_SCRIPT,
  T0,
  times,
} from './module-samples.ts';
import { writeModule, writeScript } from './write-module.ts';

const WRITTEN_VERSIONS = [5, 6, 7, 8, 9, 10];

describe('canonical writing', () => {
  it('gives the bytes of the specification for its examples', () => {
    expect(writeModule(readModule(SMALL_MODULE)).equals(SMALL_MODULE)).toBe(true);
    expect(writeScript(readScript(SMALL_SCRIPT)).equals(SMALL_SCRIPT)).toBe(true);
  });

  it.each(WRITTEN_VERSIONS)('version %i: values with everything come back equal', (version) => {
    expect(readModule(writeModule(fullModule(version)))).toEqual(fullModule(version));
    expect(readScript(writeScript(fullScript(version)))).toEqual(fullScript(version));
  });

  it('sets the flag bits of the version word from version 7 on', () => {
    const words = WRITTEN_VERSIONS.map((version) => {
      return writeModule({ ...fullModule(version), versionWord: version }).readUInt32LE(4);
    });
    expect(words).toEqual([5, 6, 0x0a000007, 0x0a000008, 0x0a000009, 0x0a00000a]);
  });

  it('puts tables into the canonical order', () => {
    expect(directoryKinds(writeModule(fullModule()))).toEqual([
      0x01, 0x02, 0x03, 0x04, 0x05, 0x07, 0x08, 0x06, 0x10, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f,
      0x11, 0x12, 0x13, 0x14,
    ]);
  });
});

/** The kinds in a directory whose offsets and sizes are ULEB128. */
function directoryKinds(bytes: Buffer): number[] {
  const kinds: number[] = [];
  let at = 9;
  const skipUleb = () => {
    while (bytes[at]! >= 128) at += 1;
    at += 1;
  };
  for (let left = bytes[8]!; left > 0; left -= 1) {
    kinds.push(bytes[at]!);
    at += 1;
    skipUleb();
    skipUleb();
  }
  return kinds;
}

type Change = Partial<CompiledModule>;
const u8 = { kind: 'u8' } as const;
const handle = fullModule(5).functionHandles[0]!;
const definition = fullModule(10).functionDefinitions[0]!;

function withCode(opcode: number, operands: object): Change {
  return {
    functionDefinitions: [{ ...definition, code: { locals: 0, code: [{ opcode, ...operands }] } }],
  };
}

const UNWRITABLE: readonly (readonly [string, number, Change])[] = [
  ['version 4', 5, { version: 4, versionWord: 4 }],
  ['version 11', 10, { version: 11, versionWord: 11 }],
  ['version that is no number', 10, { version: Number.NaN }],
  ['version word of another version', 10, { versionWord: 9 }],
  ['u16 in version 5', 5, { signatures: [[{ kind: 'u16' }]] }],
  ['i8 in version 8', 8, { signatures: [[{ kind: 'i8' }]] }],
  [
    'function type in version 7',
    7,
    { signatures: [[{ kind: 'function', args: [], results: [], abilities: 0 }]] },
  ],
  ['enum in version 6', 6, { structDefinitions: fullModule(10).structDefinitions }],
  ['variant handle in version 6', 6, { structVariantHandles: [{ owner: 0, variant: 0 }] }],
  ['$ in version 8', 8, { identifiers: ['a$b'] }],
  ['attribute in version 7', 7, { functionHandles: [{ ...handle, attributes: [{ code: 1 }] }] }],
  ['attribute 3 in version 9', 9, { functionHandles: [{ ...handle, attributes: [{ code: 3 }] }] }],
  ['unknown attribute', 10, { functionHandles: [{ ...handle, attributes: [{ code: 10 }] }] }],
  [
    'attribute lacking its operand',
    10,
    { functionHandles: [{ ...handle, attributes: [{ code: 4 }] }] },
  ],
  ['access specifiers in version 6', 6, { functionHandles: [{ ...handle, accessSpecifiers: [] }] }],
  ['index above 65535', 10, { selfHandle: 65_536 }],
  ['negative index', 10, { selfHandle: -1 }],
  ['identifier that is none', 10, { identifiers: ['not a name'] }],
  ['identifier too long', 10, { identifiers: ['a'.repeat(65_536)] }],
  ['address too short', 10, { addresses: ['01'] }],
  ['256 tokens', 10, { signatures: [times(256, u8)] }],
  ['256 levels', 10, { signatures: [[nest(256, u8, (element) => ({ kind: 'vector', element }))]] }],
  [
    'instantiation without arguments',
    10,
    { signatures: [[{ kind: 'struct', handle: 0, instantiated: true, typeArguments: [] }]] },
  ],
  [
    'arguments without instantiation',
    10,
    { signatures: [[{ kind: 'struct', handle: 0, instantiated: false, typeArguments: [T0] }]] },
  ],
  ['constant too long', 10, { constants: [{ type: u8, data: new Uint8Array(65_536) }] }],
  ['native function with code', 10, { functionDefinitions: [{ ...definition, isNative: true }] }],
  ['function without code', 10, { functionDefinitions: [{ ...definition, code: undefined }] }],
  ['opcode 0', 10, withCode(0, {})],
  ['opcode of a later version', 9, withCode(0x68, {})],
  ['missing operand', 10, withCode(0x11, {})],
  ['surplus operand', 10, withCode(0x02, { operand: 0 })],
  ['missing count', 10, withCode(0x40, { operand: 0 })],
  ['missing mask', 10, withCode(0x58, { operand: 0 })],
  ['bigint where an index stands', 10, withCode(0x11, { operand: 0n })],
  ['immediate too large', 10, withCode(0x31, { operand: 256 })],
  ['signed immediate too small', 10, withCode(0x5b, { operand: -129 })],
  ['mask too large', 10, withCode(0x58, { operand: 0, mask: 2n ** 64n })],
  ['local too large', 10, withCode(0x0a, { operand: 256 })],
];

describe('what cannot be written throws', () => {
  it.each(UNWRITABLE)('%s', (_, version, change) => {
    const base = { ...fullModule(version), functionDefinitions: [] };
    expect(() => writeModule(base)).not.toThrow();
    expect(() => writeModule({ ...base, ...change })).toThrow(RangeError);
  });

  it('access specifiers in a script of version 7', () => {
    expect(() => writeScript({ ...fullScript(7), accessSpecifiers: [] })).toThrow(RangeError);
  });
});
