/**
 * Binaries for tests: the smallest ones of the specification, raw assembly, and a module that uses
 * everything.
 */
import type {
  BinaryTables,
  CompiledModule,
  CompiledScript,
  Instruction,
  SignatureToken,
} from '../../../src/move/modules/compiled.ts';
import { OPCODES } from '../../../src/move/modules/opcodes.ts';

const PRIMITIVE_KINDS = [
  ...(['bool', 'u8', 'u16', 'u32', 'u64', 'u128', 'u256'] as const),
  ...(['i8', 'i16', 'i32', 'i64', 'i128', 'i256', 'address', 'signer'] as const),
];

/** `0x1::m` with an entry function and a struct, version 10 (docs/spec/move.md §1.12). */
export const SMALL_MODULE = Buffer.from(
  'a11ceb0b0a00000a08010002020206030807050f05071408081c200a3c060c4207000000020c010001000101' +
    '000001000002060c03016d016601530161000000000000000000000000000000000000000000000000000000' +
    '0000000001000201030a020000040000010200',
  'hex',
);

/** Script `main<T0>(signer, u64)`, version 10 (docs/spec/move.md §1.12). */
export const SMALL_SCRIPT = Buffer.from('a11ceb0b0a00000a0105000400020c0301000101000102', 'hex');

/** ULEB128, minimal. */
export function uleb(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) | 128, ...uleb(Math.floor(value / 128))];
}

/** `value` `count` times. */
export function times<T>(count: number, value: T): T[] {
  return new Array<T>(count).fill(value);
}

export interface RawBinary {
  readonly version: number;
  /** Kinds and contents, in the order of the contents. */
  readonly tables: readonly (readonly [kind: number, contents: readonly number[]])[];
  readonly tail: readonly number[];
}

/** Assembles a binary byte by byte, without the code under test. */
export function assemble({ version, tables, tail }: RawBinary): Buffer {
  const directory: number[] = uleb(tables.length);
  let offset = 0;
  for (const [kind, contents] of tables) {
    directory.push(kind, ...uleb(offset), ...uleb(contents.length));
    offset += contents.length;
  }
  const word = Buffer.alloc(4);
  word.writeUInt32LE(version);
  return Buffer.concat([
    Buffer.from([0xa1, 0x1c, 0xeb, 0x0b]),
    word,
    Buffer.from(directory),
    ...tables.map(([, contents]) => Buffer.from(contents)),
    Buffer.from(tail),
  ]);
}

/** An identifier as encoded in its table. */
export function name(text: string): number[] {
  return [...uleb(text.length), ...Buffer.from(text, 'ascii')];
}

/** Access specifiers (none) and attributes (none), if the version has them. */
export function functionHandleEnd(version: number): number[] {
  if (version >= 8) return [1, 0];
  return version >= 7 ? [1] : [];
}

/**
 * Raw `0x0::m` with identifiers m and f, signature 0 empty, signature 1 `(u8, u8)`, a function
 * handle f; `extra` tables replace those of the same kind.
 */
export function rawModule(
  version: number,
  extra: readonly (readonly [number, readonly number[]])[],
): Buffer {
  const tables = new Map<number, readonly number[]>([
    [0x01, [0, 0]],
    [0x03, [0, 1, 0, 0, 0, ...functionHandleEnd(version)]],
    [0x05, [0, 2, 2, 2]],
    [0x07, [...name('m'), ...name('f')]],
    [0x08, times(32, 0)],
    ...extra,
  ]);
  return assemble({ version, tables: [...tables], tail: [0] });
}

/** Raw function definition of handle 0 with the given code bytes, in the form of `version`. */
export function rawFunction(version: number, count: number, code: readonly number[]): number[] {
  const qualifiers = version >= 2 ? [1, 0] : [1];
  return [0, ...qualifiers, 0, 0, ...uleb(count), ...code];
}

/** `wrap` applied `count` times to a leaf. */
export function nest(
  depth: number,
  leaf: SignatureToken,
  wrap: (inner: SignatureToken) => SignatureToken,
): SignatureToken {
  let token = leaf;
  for (let level = 0; level < depth; level += 1) token = wrap(token);
  return token;
}

export const T0: SignatureToken = { kind: 'typeParameter', index: 0 };
export const SIGNED_KINDS = ['i8', 'i16', 'i32', 'i64', 'i128', 'i256'] as const;

/** One instruction of every kind a version has, all operands 0 or 1. */
export function everyInstruction(version: number): Instruction[] {
  const code: Instruction[] = [];
  for (const [opcode, info] of OPCODES.entries()) {
    if (info === undefined || info.since > version) continue;
    // These two have no version check of their own, but need tables of version 7.
    if (version < 7 && info.operand.startsWith('structVariant')) continue;
    const { immediate } = info;
    const value = immediate?.signed ? -1 : 1;
    const wide = immediate !== undefined && immediate.bits > 32;
    code.push({
      opcode,
      ...(info.operand !== 'none' && {
        operand: immediate === undefined ? 0 : wide ? BigInt(value) : value,
      }),
      ...(info.second === 'count' && { count: 2n ** 64n - 1n }),
      ...(info.second === 'mask' && { mask: 2n ** 64n - 1n }),
    });
  }
  return code;
}

/** A module of version 5 to 10 in which every table has an entry and everything is used. */
export function fullModule(version = 10): CompiledModule {
  const hasEnums = version >= 7;
  return {
    kind: 'module',
    ...fullTables(version),
    selfHandle: 0,
    structDefinitions: fullStructDefinitions(version),
    structInstantiations: [{ handle: 0, signature: 2 }],
    functionDefinitions: [
      {
        handle: 0,
        visibility: 'friend',
        isEntry: true,
        isNative: false,
        acquires: [0],
        code: { locals: 2, code: everyInstruction(version) },
      },
      { handle: 1, visibility: 'private', isEntry: false, isNative: true, acquires: [] },
    ],
    fieldHandles: [{ owner: 0, field: 1 }],
    fieldInstantiations: [{ handle: 0, signature: 2 }],
    friends: [{ address: 1, name: 1 }],
    variantFieldHandles: hasEnums ? [{ owner: 2, field: 0, variants: [1, 1] }] : [],
    variantFieldInstantiations: hasEnums ? [{ handle: 0, signature: 2 }] : [],
    structVariantHandles: hasEnums ? [{ owner: 2, variant: 0 }] : [],
    structVariantInstantiations: hasEnums ? [{ handle: 0, signature: 2 }] : [],
  };
}

const PLAIN: SignatureToken = {
  kind: 'struct',
  handle: 1,
  instantiated: false,
  typeArguments: [],
};
const GENERIC: SignatureToken = {
  kind: 'struct',
  handle: 0,
  instantiated: true,
  typeArguments: [{ kind: 'vector', element: T0 }],
};

function everyType(version: number): SignatureToken[] {
  const isKnown = (kind: SignatureToken['kind']) =>
    (version >= 6 || !['u16', 'u32', 'u256'].includes(kind)) &&
    (version >= 9 || !SIGNED_KINDS.some((signed) => signed === kind));
  const types: SignatureToken[] = [
    ...PRIMITIVE_KINDS.filter(isKnown).map((kind) => ({ kind })),
    { kind: 'reference', mutable: false, to: PLAIN },
    { kind: 'reference', mutable: true, to: GENERIC },
    T0,
  ];
  if (version >= 8) {
    types.push({ kind: 'function', args: [T0, PLAIN], results: [GENERIC], abilities: 7 });
  }
  return types;
}

/** The tables that modules and scripts share. */
function fullTables(version: number): BinaryTables {
  return {
    versionWord: version >= 7 ? 0x0a00_0000 + version : version,
    version,
    moduleHandles: [
      { address: 0, name: 0 },
      { address: 1, name: 1 },
    ],
    structHandles: [
      { module: 0, name: 2, abilities: 15, typeParameters: [{ constraints: 3, isPhantom: true }] },
      { module: 1, name: 3, abilities: 0, typeParameters: [] },
      { module: 0, name: 3, abilities: 4, typeParameters: [] },
      { module: 0, name: 4, abilities: 8, typeParameters: [{ constraints: 0, isPhantom: false }] },
    ],
    functionHandles: [
      {
        module: 0,
        name: 4,
        parameters: 1,
        return: 2,
        typeParameters: [2],
        ...fullFunctionExtras(version),
      },
      { module: 1, name: 5, parameters: 0, return: 0, typeParameters: [], attributes: [] },
    ],
    functionInstantiations: [{ handle: 0, signature: 2 }],
    signatures: [[], everyType(version), [T0]],
    identifiers: ['m', 'other', 'S', 'E', 'f', version >= 9 ? 'g$h' : 'g_h', '<SELF>'],
    addresses: ['0'.repeat(63) + '1', 'ab'.repeat(32)],
    constants: [{ type: { kind: 'vector', element: { kind: 'u8' } }, data: Buffer.from('data') }],
    metadata: [{ key: Buffer.from('key'), value: Buffer.from('value') }],
  };
}

function fullStructDefinitions(version: number): CompiledModule['structDefinitions'] {
  const fields = [
    { name: 5, type: T0 },
    { name: 6, type: PLAIN },
  ];
  return [
    { kind: 'struct', handle: 0, fields },
    { kind: 'native', handle: 2 },
    ...(version >= 7 ? [fullEnum(GENERIC)] : []),
  ];
}

function fullEnum(type: SignatureToken): CompiledModule['structDefinitions'][number] {
  return {
    kind: 'enum',
    handle: 3,
    variants: [
      { name: 2, fields: [] },
      { name: 3, fields: [{ name: 5, type }] },
    ],
  };
}

function fullFunctionExtras(
  version: number,
): Pick<CompiledModule['functionHandles'][number], 'accessSpecifiers' | 'attributes'> {
  const attributes = [1, 2, 3, 4, 5, 6, 7, 8, 9]
    .filter((code) => version >= (code < 3 ? 8 : 10))
    .map((code) => (code === 4 || code > 5 ? { code, operand: 0x1234 } : { code }));
  if (version < 7) return { attributes };
  return { accessSpecifiers: FULL_ACCESS_SPECIFIERS, attributes };
}

const FULL_ACCESS_SPECIFIERS: CompiledModule['functionHandles'][number]['accessSpecifiers'] = [
  { access: 'reads', negated: false, resource: { kind: 'any' }, address: { kind: 'any' } },
  {
    access: 'writes',
    negated: true,
    resource: { kind: 'address', address: 1 },
    address: { kind: 'literal', address: 0 },
  },
  {
    access: 'reads',
    negated: false,
    resource: { kind: 'module', module: 1 },
    address: { kind: 'local', local: 3 },
  },
  {
    access: 'writes',
    negated: false,
    resource: { kind: 'struct', struct: 2 },
    address: { kind: 'local', local: 255, function: 7 },
  },
  {
    access: 'reads',
    negated: true,
    resource: { kind: 'structInstantiation', struct: 0, signature: 2 },
    address: { kind: 'any' },
  },
];

/** A script of version 5 to 10 that uses what scripts can have. */
export function fullScript(version = 10): CompiledScript {
  return {
    kind: 'script',
    ...fullTables(version),
    typeParameters: [15],
    parameters: 1,
    ...(version >= 8 && { accessSpecifiers: FULL_ACCESS_SPECIFIERS }),
    code: { locals: 2, code: everyInstruction(version) },
  };
}

/** The code of an instruction name, e.g. `Ret`. */
export function opcodeOf(name: string): number {
  const code = OPCODES.findIndex((info) => info?.name === name);
  if (code < 0) throw new RangeError(`no instruction is called ${name}`);
  return code;
}
