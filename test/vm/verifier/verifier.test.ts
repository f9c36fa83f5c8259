/** Each pass of the verifier (docs/spec/verifier.md §3): what it accepts and what it refuses. */
import { describe, expect, it } from 'vitest';
import { genesisModules } from '../../../bench/bulk-ledger/framework/framework.ts';
import type { CompiledModule, Instruction } from '../../../src/move/modules/compiled.ts';
import { OPCODES } from '../../../src/move/modules/opcodes.ts';
import { readModule } from '../../../src/move/modules/read.ts';
import { VmError } from '../../../src/vm/status/status.ts';
import {
  DEFAULT_VERIFIER_CONFIG,
  type VerifierConfig,
} from '../../../src/vm/verifier/model/verifier-config.ts';
import { bytecodesOf } from '../run-text.ts';
import { verifyModule } from './verify-at-once.ts';

function moduleOf(body: string): CompiledModule {
  return readModule(bytecodesOf(`module cafe::m { ${body} }`)[0]!);
}

function verdict(module: CompiledModule, config: Partial<VerifierConfig> = {}): string {
  try {
    verifyModule(module, { ...DEFAULT_VERIFIER_CONFIG, ...config });
    return 'ok';
  } catch (error) {
    if (error instanceof VmError) return error.status;
    throw error;
  }
}

/** Allows tests to change parts of a module. */
type Mutable<T> = T extends Uint8Array
  ? T
  : T extends object
    ? { -readonly [K in keyof T]: Mutable<T[K]> }
    : T;

function changed(body: string, change: (module: Mutable<CompiledModule>) => void): CompiledModule {
  const module = structuredClone(moduleOf(body)) as Mutable<CompiledModule>;
  change(module);
  return module as CompiledModule;
}

function instruction(name: string, operand?: number): Instruction {
  const opcode = OPCODES.findIndex((info) => info?.name === name);
  return operand === undefined ? { opcode } : { opcode, operand };
}

const TYPES = `
  struct Coin has store { value: u64 }
  struct Dust has copy, drop, store { size: u64, color: u8 }
  struct Vault has key { coin: Coin }
  struct Box<T> has copy, drop, store { item: T }
  struct Tag<phantom T> has copy, drop { size: u8 }
  enum Shape has copy, drop { Dot, Line { length: u64 }, Disc { size: u64, color: u8 } }
`;

/** Functions that pass, with and without the types. */
const ACCEPTED: readonly [what: string, functions: string][] = [
  ['nothing', 'fun f() { Ret; }'],
  ['a loop', 'fun f() { again: LdTrue; BrTrue again; Ret; }'],
  [
    'resources',
    'fun f(a: address): u64 acquires Vault { MoveLoc a; MoveFrom Vault; Unpack Vault; Unpack Coin; Ret; }',
  ],
  ['a value that is passed on', 'fun f(c: Coin): Coin { MoveLoc c; Ret; }'],
  ['type parameters', 'fun f<T: copy + drop>(v: T): (T, T) { CopyLoc v; MoveLoc v; Ret; }'],
  ['a generic struct', 'fun f(n: u8): Box<u8> { MoveLoc n; Pack Box<u8>; Ret; }'],
  [
    'two fields at once',
    `fun f(d: &mut Dust) { let a: &mut u64; let b: &mut u8;
      CopyLoc d; MutBorrowField Dust.size; StLoc a; MoveLoc d; MutBorrowField Dust.color; StLoc b;
      LdU64 1; MoveLoc a; WriteRef; LdU8 1; MoveLoc b; WriteRef; Ret; }`,
  ],
  ['variants', 'fun f(s: &Shape): bool { MoveLoc s; TestVariant Shape.Line; Ret; }'],
  ['vectors', 'fun f(): vector<u8> { LdU8 1; LdU8 2; VecPack <u8> 2; Ret; }'],
  [
    'closures',
    `fun g(a: u64, b: u64): u64 { MoveLoc a; MoveLoc b; Add; Ret; }
     fun f(): u64 { LdU64 1; LdU64 2; PackClosure g 1; CallClosure <|u64| u64 has copy + drop>; Ret; }`,
  ],
];

/** Refused functions, in the order of the passes. */
const REFUSED: readonly [status: string, functions: string][] = [
  ['CONSTRAINT_NOT_SATISFIED', 'fun g<T: copy>() { Ret; } fun f() { Call g<Coin>; Ret; }'],
  ['LOOP_IN_INSTANTIATION_GRAPH', 'fun f<T>() { Call f<vector<T>>; Ret; }'],
  ['INVALID_FALL_THROUGH', 'fun f() { Nop; }'],
  [
    'INVALID_LOOP_SPLIT',
    'fun f() { LdTrue; BrTrue inner; again: Nop; inner: Nop; LdTrue; BrTrue again; Ret; }',
  ],
  ['NEGATIVE_STACK_SIZE_WITHIN_BLOCK', 'fun f() { Pop; Ret; }'],
  ['POSITIVE_STACK_SIZE_AT_BLOCK_END', 'fun f() { LdU8 1; Ret; }'],
  ['RET_TYPE_MISMATCH_ERROR', 'fun f(): u8 { LdU16 1; Ret; }'],
  ['POP_WITHOUT_DROP_ABILITY', 'fun f(c: Coin) { MoveLoc c; Pop; Ret; }'],
  ['INTEGER_OP_TYPE_MISMATCH_ERROR', 'fun f(): u8 { LdU8 1; LdTrue; Add; Ret; }'],
  ['CALL_TYPE_MISMATCH_ERROR', 'fun g(n: u8) { Ret; } fun f() { LdTrue; Call g; Ret; }'],
  ['PACK_TYPE_MISMATCH_ERROR', 'fun f(): Coin { LdU8 1; Pack Coin; Ret; }'],
  ['COPYLOC_WITHOUT_COPY_ABILITY', 'fun f(c: Coin): Coin { CopyLoc c; Ret; }'],
  ['READREF_WITHOUT_COPY_ABILITY', 'fun f(c: &Coin): Coin { MoveLoc c; ReadRef; Ret; }'],
  ['WRITEREF_NO_MUTABLE_REFERENCE_ERROR', 'fun f(n: &u8) { LdU8 1; MoveLoc n; WriteRef; Ret; }'],
  ['BORROWLOC_REFERENCE_ERROR', 'fun f(n: &u8) { ImmBorrowLoc n; Pop; Ret; }'],
  ['MOVELOC_UNAVAILABLE_ERROR', 'fun f(n: u8) { MoveLoc n; Pop; MoveLoc n; Pop; Ret; }'],
  ['COPYLOC_UNAVAILABLE_ERROR', 'fun f() { let n: u8; CopyLoc n; Pop; Ret; }'],
  ['UNSAFE_RET_UNUSED_VALUES_WITHOUT_DROP', 'fun f(c: Coin) { Ret; }'],
  ['MOVELOC_EXISTS_BORROW_ERROR', 'fun f(n: u8) { ImmBorrowLoc n; MoveLoc n; Pop; Pop; Ret; }'],
  [
    'WRITEREF_EXISTS_BORROW_ERROR',
    'fun f(n: &mut u8) { CopyLoc n; LdU8 1; MoveLoc n; WriteRef; Pop; Ret; }',
  ],
  [
    'BORROWFIELD_EXISTS_MUTABLE_BORROW_ERROR',
    `fun f(d: &mut Dust) { CopyLoc d; MutBorrowField Dust.size; MoveLoc d; ImmBorrowField Dust.size;
      Pop; Pop; Ret; }`,
  ],
  ['UNSAFE_RET_LOCAL_OR_RESOURCE_STILL_BORROWED', 'fun f(n: u8): &u8 { ImmBorrowLoc n; Ret; }'],
  [
    'GLOBAL_REFERENCE_ERROR',
    `fun f(a: address) acquires Vault { CopyLoc a; MutBorrowGlobal Vault; MoveLoc a;
      MutBorrowGlobal Vault; Pop; Pop; Ret; }`,
  ],
  [
    'MISSING_ACQUIRES_ANNOTATION',
    'fun f(a: address) { MoveLoc a; ImmBorrowGlobal Vault; Pop; Ret; }',
  ],
  ['EXTRANEOUS_ACQUIRES_ANNOTATION', 'fun f() acquires Vault { Ret; }'],
];

const F = 'fun f() { Ret; }';

/** Modules that the assembler cannot create, in the order of the passes. */
const CHANGED: readonly [
  status: string,
  body: string,
  change: (module: Mutable<CompiledModule>) => void,
][] = [
  ['DUPLICATE_ELEMENT', F, (m) => m.identifiers.push(m.identifiers[0]!)],
  ['UNIMPLEMENTED_HANDLE', F, (m) => m.functionDefinitions.pop()],
  [
    'DUPLICATE_ACQUIRES_ANNOTATION',
    `${TYPES} fun f(a: address) acquires Vault { MoveLoc a; ImmBorrowGlobal Vault; Pop; Ret; }`,
    (m) => m.functionDefinitions[0]!.acquires.push(m.functionDefinitions[0]!.acquires[0]!),
  ],
  [
    'INVALID_SIGNATURE_TOKEN',
    'fun f(v: vector<u8>) { Ret; }',
    (m) => {
      const [token] = m.signatures[m.functionHandles[0]!.parameters]!;
      const inner = { kind: 'reference', mutable: false, to: { kind: 'u8' } } as const;
      (token as { element: unknown }).element = inner;
    },
  ],
  [
    'FIELD_MISSING_TYPE_ABILITY',
    TYPES,
    (m) => {
      const dust = m.structDefinitions.findIndex(({ handle }) => {
        return m.identifiers[m.structHandles[handle]!.name] === 'Coin';
      });
      const vault = m.structHandles[m.structDefinitions[dust]!.handle]!;
      vault.abilities = 0;
    },
  ],
  [
    'INVALID_PHANTOM_TYPE_PARAM_POSITION',
    TYPES,
    (m) => {
      for (const handle of m.structHandles) {
        if (m.identifiers[handle.name] === 'Box') handle.typeParameters[0]!.isPhantom = true;
      }
    },
  ],
  [
    'GENERIC_MEMBER_OPCODE_MISMATCH',
    `${TYPES} fun f(n: u8): Box<u8> { MoveLoc n; Pack Box<u8>; Ret; }`,
    (m) => {
      const { owner } = { owner: m.structInstantiations[0]!.handle };
      m.functionDefinitions[0]!.code!.code[1] = instruction('Pack', owner) as Mutable<Instruction>;
    },
  ],
  [
    'MALFORMED_CONSTANT_DATA',
    F,
    (m) => m.constants.push({ type: { kind: 'bool' }, data: Uint8Array.of(2) }),
  ],
  [
    'INVALID_CONSTANT_TYPE',
    F,
    (m) => m.constants.push({ type: { kind: 'signer' }, data: new Uint8Array(32) }),
  ],
  ['INVALID_FRIEND_DECL_WITH_SELF', F, (m) => m.friends.push(m.moduleHandles[m.selfHandle]!)],
  [
    'RECURSIVE_STRUCT_DEFINITION',
    'struct A { a: vector<u8> } fun f() { Ret; }',
    (m) => {
      const [definition] = m.structDefinitions;
      if (definition?.kind !== 'struct') throw new Error('not a struct');
      const self = { kind: 'struct', handle: 0, instantiated: false, typeArguments: [] } as const;
      (definition.fields[0]!.type as { element: unknown }).element = self;
    },
  ],
  ['INVALID_STRUCT_API_CODE', F, (m) => (m.functionHandles[0]!.attributes = [{ code: 3 }])],
  ['EMPTY_CODE_UNIT', F, (m) => m.functionDefinitions[0]!.code!.code.pop()],
];

describe('verifier', () => {
  it.each(ACCEPTED)('accepts %s', (_, functions) => {
    expect(verdict(moduleOf(TYPES + functions))).toBe('ok');
  });

  it.each(REFUSED)('%s', (status, functions) => {
    expect(verdict(moduleOf(TYPES + functions))).toBe(status);
  });

  it.each(CHANGED)('%s in a changed module', (status, body, change) => {
    expect(verdict(moduleOf(body))).toBe('ok');
    expect(verdict(changed(body, change))).toBe(status);
  });

  it('features', () => {
    expect(verdict(moduleOf(TYPES))).toBe('ok');
    expect(verdict(moduleOf(TYPES), { enableEnumTypes: false })).toBe('FEATURE_NOT_ENABLED');
    const closure = moduleOf('fun f(g: |u64| u64) { Ret; }');
    expect(verdict(closure, { enableFunctionValues: false })).toBe('FEATURE_NOT_ENABLED');
  });

  it.each<[string, keyof VerifierConfig, number, string]>([
    ['TOO_MANY_TYPE_PARAMETERS', 'maxGenericInstantiationLength', 1, 'fun f<A, B>() { Ret; }'],
    ['TOO_MANY_PARAMETERS', 'maxFunctionParameters', 1, 'fun f(a: u8, b: u8) { Ret; }'],
    ['TOO_MANY_TYPE_NODES', 'maxTypeDepth', 2, 'fun f(a: vector<vector<u8>>) { Ret; }'],
    ['TOO_MANY_TYPE_NODES', 'maxTypeNodes', 3, 'fun f<A>(a: A): A { MoveLoc a; Ret; }'],
    ['MAX_FUNCTION_DEFINITIONS_REACHED', 'maxFunctionDefinitions', 1, `${F} fun g() { Ret; }`],
    ['MAX_STRUCT_DEFINITIONS_REACHED', 'maxStructDefinitions', 5, TYPES],
    ['MAX_FIELD_DEFINITIONS_REACHED', 'maxFieldsInStruct', 1, TYPES],
    ['MAX_STRUCT_VARIANTS_REACHED', 'maxStructVariants', 2, TYPES],
    [
      'TOO_MANY_BASIC_BLOCKS',
      'maxBasicBlocks',
      2,
      'fun f() { LdTrue; BrTrue end; Nop; end: Ret; }',
    ],
    ['LOOP_MAX_DEPTH_REACHED', 'maxLoopDepth', 0, 'fun f() { again: LdTrue; BrTrue again; Ret; }'],
    ['VALUE_STACK_OVERFLOW', 'maxValueStackSize', 1, 'fun f() { LdU8 1; LdU8 2; Pop; Pop; Ret; }'],
    ['VALUE_STACK_PUSH_OVERFLOW', 'maxPushSize', 1, 'fun f() { LdU8 1; Pop; LdU8 1; Pop; Ret; }'],
    // A push of a type costs 30, a step 15 in the pass of locals and 60 in that of references.
    ['CONSTRAINT_NOT_SATISFIED', 'maxFunctionMeterUnits', 254, 'fun f() { LdU8 1; Pop; Ret; }'],
  ])('%s above %s', (status, name, limit, body) => {
    expect(verdict(moduleOf(body), { [name]: limit })).toBe(status);
    expect(verdict(moduleOf(body), { [name]: limit + 1 })).toBe('ok');
  });

  it('the framework of the sample, but for its interfaces of public structs', () => {
    const found = genesisModules().map(({ bytes }) => verdict(readModule(bytes)));
    expect(new Set(found)).toEqual(new Set(['ok', 'INVALID_STRUCT_API_CODE']));
  });
});
