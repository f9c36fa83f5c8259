/**
 * The bounds check: each index of a module that uses everything, moved just out of bounds
 * (docs/spec/move.md §1.11).
 */
import { describe, expect, it } from 'vitest';
import type {
  CompiledModule,
  CompiledScript,
  Instruction,
  SignatureToken,
} from '../../../src/move/modules/compiled.ts';
import { BinaryFormatError } from '../../../src/move/modules/format.ts';
import { OPCODES } from '../../../src/move/modules/opcodes.ts';
import { readModule, readScript } from '../../../src/move/modules/read.ts';
import { fullModule, fullScript, opcodeOf, T0, times } from './module-samples.ts';
import { writeModule, writeScript } from './write-module.ts';

type Mutable<T> = T extends Uint8Array
  ? T
  : T extends object
    ? { -readonly [K in keyof T]: Mutable<T[K]> }
    : T;

function verdict(read: () => unknown): string {
  try {
    read();
    return 'loads';
  } catch (error) {
    if (!(error instanceof BinaryFormatError)) throw error;
    return error.code;
  }
}

function moduleVerdict(change: (module: Mutable<CompiledModule>) => void): string {
  const module = structuredClone(fullModule()) as Mutable<CompiledModule>;
  change(module);
  const bytes = writeModule(module as CompiledModule);
  return verdict(() => readModule(bytes));
}

function scriptVerdict(change: (script: Mutable<CompiledScript>) => void): string {
  const script = structuredClone(fullScript()) as Mutable<CompiledScript>;
  change(script);
  const bytes = writeScript(script as CompiledScript);
  return verdict(() => readScript(bytes));
}

type ModuleChange = (module: Mutable<CompiledModule>) => void;

const OUT_OF_BOUNDS: readonly (readonly [string, ModuleChange])[] = [
  ['self handle', (m) => (m.selfHandle = 2)],
  ['module address', (m) => (m.moduleHandles[0]!.address = 2)],
  ['module name', (m) => (m.moduleHandles[1]!.name = 7)],
  ['struct module', (m) => (m.structHandles[0]!.module = 2)],
  ['struct name', (m) => (m.structHandles[0]!.name = 7)],
  ['function module', (m) => (m.functionHandles[0]!.module = 2)],
  ['function name', (m) => (m.functionHandles[0]!.name = 7)],
  ['function parameters', (m) => (m.functionHandles[1]!.parameters = 3)],
  ['function results', (m) => (m.functionHandles[1]!.return = 3)],
  ['type parameter of parameters', (m) => (m.functionHandles[1]!.parameters = 2)],
  ['type parameter of results', (m) => (m.functionHandles[1]!.return = 2)],
  ['friend address', (m) => (m.friends[0]!.address = 2)],
  ['friend name', (m) => (m.friends[0]!.name = 7)],
  ['function instantiation', (m) => (m.functionInstantiations[0]!.handle = 2)],
  ['its type arguments', (m) => (m.functionInstantiations[0]!.signature = 3)],
  ['struct instantiation', (m) => (m.structInstantiations[0]!.handle = 3)],
  ['struct type arguments', (m) => (m.structInstantiations[0]!.signature = 3)],
  ['field instantiation', (m) => (m.fieldInstantiations[0]!.handle = 1)],
  ['field type arguments', (m) => (m.fieldInstantiations[0]!.signature = 3)],
  ['variant field instantiation', (m) => (m.variantFieldInstantiations[0]!.handle = 1)],
  ['variant field type arguments', (m) => (m.variantFieldInstantiations[0]!.signature = 3)],
  ['struct variant instantiation', (m) => (m.structVariantInstantiations[0]!.handle = 1)],
  ['struct variant type arguments', (m) => (m.structVariantInstantiations[0]!.signature = 3)],
  ['field owner', (m) => (m.fieldHandles[0]!.owner = 3)],
  ['field offset', (m) => (m.fieldHandles[0]!.field = 2)],
  ['field of a native struct', (m) => (m.fieldHandles[0] = { owner: 1, field: 0 })],
  ['field of an enum', (m) => (m.fieldHandles[0] = { owner: 2, field: 0 })],
  ['variant field owner', (m) => (m.variantFieldHandles[0]!.owner = 3)],
  ['variant field of a struct', (m) => (m.variantFieldHandles[0]!.owner = 0)],
  ['variant field of no variant', (m) => (m.variantFieldHandles[0]!.variants = [1, 2])],
  ['variant field offset', (m) => (m.variantFieldHandles[0]!.field = 1)],
  ['variant field of a variant without', (m) => (m.variantFieldHandles[0]!.variants = [1, 0])],
  ['struct variant owner', (m) => (m.structVariantHandles[0]!.owner = 3)],
  ['variant of a struct', (m) => (m.structVariantHandles[0]!.owner = 0)],
  ['variant of an enum', (m) => (m.structVariantHandles[0]!.variant = 2)],
  ['struct definition', (m) => (m.structDefinitions[0]!.handle = 4)],
  ['native struct definition', (m) => (m.structDefinitions[1]!.handle = 4)],
  ['variant name', (m) => onEnum(m, (variants) => (variants[0]!.name = 7))],
  ['variant field name', (m) => onEnum(m, (variants) => (variants[1]!.fields[0]!.name = 7))],
  [
    'type parameter of a variant field',
    (m) => onEnum(m, (variants) => (variants[1]!.fields[0]!.type = typeParameter(1))),
  ],
  ['field name', (m) => onFields(m, (fields) => (fields[0]!.name = 7))],
  [
    'type parameter of a field',
    (m) => onFields(m, (fields) => (fields[0]!.type = typeParameter(1))),
  ],
  [
    'struct deep in a field',
    (m) => onFields(m, (fields) => (fields[0]!.type = { kind: 'vector', element: struct(4) })),
  ],
  ['struct in a constant', (m) => (m.constants[0]!.type = struct(4))],
  ['struct in a signature', (m) => m.signatures.push([struct(4)])],
  ['function definition', (m) => (m.functionDefinitions[1]!.handle = 2)],
  ['acquired struct', (m) => (m.functionDefinitions[0]!.acquires = [0, 3])],
  ['locals', (m) => (m.functionDefinitions[0]!.code!.locals = 3)],
  [
    'type parameter of locals',
    (m) => {
      m.functionDefinitions[0]!.handle = 1;
      m.functionDefinitions[0]!.code!.code = [];
    },
  ],
];

function typeParameter(index: number): Mutable<SignatureToken> {
  return { kind: 'typeParameter', index };
}

function struct(handle: number, typeArguments: SignatureToken[] = []): Mutable<SignatureToken> {
  const instantiated = typeArguments.length > 0;
  return { kind: 'struct', handle, instantiated, typeArguments } as Mutable<SignatureToken>;
}

type MutableEnum = Mutable<Extract<CompiledModule['structDefinitions'][number], { kind: 'enum' }>>;
type MutableStruct = Mutable<
  Extract<CompiledModule['structDefinitions'][number], { kind: 'struct' }>
>;

function onEnum(
  module: Mutable<CompiledModule>,
  change: (variants: MutableEnum['variants']) => void,
): void {
  change((module.structDefinitions[2] as MutableEnum).variants);
}

function onFields(
  module: Mutable<CompiledModule>,
  change: (fields: MutableStruct['fields']) => void,
): void {
  change((module.structDefinitions[0] as MutableStruct).fields);
}

describe('tables of a module', () => {
  it('the module itself loads', () => {
    expect(moduleVerdict(() => undefined)).toBe('loads');
  });

  it.each(OUT_OF_BOUNDS)('%s', (_, change) => {
    expect(moduleVerdict(change)).toBe('out_of_bounds');
  });

  it('variants', () => {
    expect(moduleVerdict((m) => (m.variantFieldHandles[0]!.variants = []))).toBe('no_variants');
    const noVariants = moduleVerdict((m) => onEnum(m, (variants) => variants.splice(0)));
    expect(noVariants).toBe('no_variants');
  });

  it.each<[string, Mutable<SignatureToken>]>([
    ['a generic struct without arguments', struct(0)],
    ['a plain struct with arguments', struct(1, [T0])],
    ['one argument too many', struct(0, [T0, T0])],
    ['deep inside', { kind: 'reference', mutable: true, to: struct(0) }],
    ['in an argument', struct(0, [{ kind: 'vector', element: struct(0) as SignatureToken }])],
    ['in a function', { kind: 'function', args: [], results: [struct(0)], abilities: 0 }],
  ])('arity: %s', (_, token) => {
    expect(moduleVerdict((module) => module.signatures.push([token]))).toBe('bad_arity');
    expect(moduleVerdict((module) => (module.constants[0]!.type = token))).toBe('bad_arity');
    expect(moduleVerdict((module) => onFields(module, (f) => (f[0]!.type = token)))).toBe(
      'bad_arity',
    );
  });

  it('leaves access specifiers, attributes, repeated names and instantiations alone', () => {
    const found = moduleVerdict((module) => {
      module.functionHandles[0]!.attributes = [{ code: 4, operand: 0xffff }];
      module.functionHandles[0]!.accessSpecifiers![1]!.resource = { kind: 'address', address: 999 };
      module.functionInstantiations[0]!.signature = 0;
      module.structDefinitions.push(module.structDefinitions[1]!);
      module.functionDefinitions.push(module.functionDefinitions[1]!);
      module.functionDefinitions[0]!.code!.code = [];
    });
    expect(found).toBe('loads');
  });
});

/** Entries of each operand's table in fullModule(), locals and code included. */
const TARGETS: Readonly<Record<string, number>> = {
  offset: 1,
  local: fullModule().signatures[1]!.length + fullModule().signatures[2]!.length,
  constant: 1,
  signature: 3,
  function: 2,
  functionInstantiation: 1,
  struct: 3,
  structInstantiation: 1,
  fieldHandle: 1,
  fieldInstantiation: 1,
  variantFieldHandle: 1,
  variantFieldInstantiation: 1,
  structVariantHandle: 1,
  structVariantInstantiation: 1,
};
const IN_SCRIPTS = [
  'offset',
  'local',
  'constant',
  'signature',
  'function',
  'functionInstantiation',
];

const INDEXED = OPCODES.flatMap((info, opcode) =>
  info !== undefined && TARGETS[info.operand] !== undefined ? [{ opcode, ...info }] : [],
);

function one(opcode: number, operand: number): Instruction[] {
  const { second } = OPCODES[opcode]!;
  return [
    {
      opcode,
      operand,
      ...(second === 'count' && { count: 0n }),
      ...(second === 'mask' && { mask: 0n }),
    },
  ];
}

describe('operands', () => {
  it('covers every instruction with an index', () => {
    expect(INDEXED.length).toBe(3 + 1 + 5 + 2 + 1 + 2 + 5 + 2 + 1 + 7 + 8 + 4 + 6 + 2 + 1);
  });

  it.each(INDEXED)('$name', ({ opcode, operand }) => {
    const count = TARGETS[operand]!;
    const inModule = (index: number) =>
      moduleVerdict((m) => (m.functionDefinitions[0]!.code!.code = one(opcode, index)));
    expect(inModule(count - 1)).toBe('loads');
    expect(inModule(count)).toBe('out_of_bounds');
    const inScript = (index: number) => scriptVerdict((s) => (s.code.code = one(opcode, index)));
    expect(inScript(count - 1)).toBe('loads');
    // Scripts do not have the other tables, and the reference does not check them.
    expect(inScript(count)).toBe(IN_SCRIPTS.includes(operand) ? 'out_of_bounds' : 'loads');
  });

  const GENERIC = INDEXED.filter(({ operand }) => /signature|Instantiation/.test(operand));

  it.each(GENERIC)('$name stays within the type parameters of its function', (info) => {
    const { opcode, operand } = info;
    const found = moduleVerdict((m) => {
      m.signatures.push([typeParameter(1)]);
      const tables = [
        m.functionInstantiations,
        m.structInstantiations,
        m.fieldInstantiations,
        m.variantFieldInstantiations,
        m.structVariantInstantiations,
      ];
      for (const table of tables) table[0]!.signature = 3;
      m.functionDefinitions[0]!.code!.code = one(opcode, operand === 'signature' ? 3 : 0);
    });
    expect(found).toBe('out_of_bounds');
  });

  it('a branch may go to itself; instruction names are checked', () => {
    const found = moduleVerdict((m) => {
      m.functionDefinitions[0]!.code!.code = [{ opcode: opcodeOf('Branch'), operand: 0 }];
    });
    expect(found).toBe('loads');
    expect(() => opcodeOf('Jump')).toThrow(RangeError);
  });
});

describe('tail of a script', () => {
  it.each<[string, (script: Mutable<CompiledScript>) => void]>([
    ['parameters', (s) => (s.parameters = 3)],
    ['type parameter of parameters', (s) => (s.typeParameters = [])],
    ['locals', (s) => (s.code.locals = 3)],
    ['shared tables', (s) => (s.functionInstantiations[0]!.handle = 2)],
  ])('%s', (_, change) => {
    expect(scriptVerdict(() => undefined)).toBe('loads');
    expect(scriptVerdict(change)).toBe('out_of_bounds');
  });

  it('locals and parameters are at most 255', () => {
    const withLocals = (count: number) =>
      scriptVerdict((script) => {
        script.signatures.push(times(count, { kind: 'u8' }));
        script.code = { locals: 3, code: [] };
      });
    const parameters = fullScript().signatures[1]!.length;
    expect(withLocals(255 - parameters)).toBe('loads');
    expect(withLocals(256 - parameters)).toBe('too_many_locals');
  });
});
