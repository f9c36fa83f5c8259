/**
 * Emits the operations of a function (docs/spec/vm.md §3): one for each instruction, chosen by the types that the
 * verifier's type pass finds on the stack before and after it.
 */
import { MoveError } from '../../move/errors.ts';
import type { CompiledModule, Instruction, SignatureToken } from '../../move/modules/compiled.ts';
import type { Layout } from '../../move/values/layout.ts';
import { Meter } from '../meter.ts';
import { verificationError } from '../status/status.ts';
import type { Value } from '../value.ts';
import { decodeValue } from '../value-bcs.ts';
import { byOpcode, fieldsOf, structSubject } from '../verifier/model/instructions.ts';
import type { Type } from '../verifier/model/type-table.ts';
import {
  BIG_KINDS,
  CAST_TARGETS,
  type ClosureSite,
  type FunctionCode,
  NUMBER_KINDS,
  type OperationName,
  operationNumber,
  PACK_COUNTS,
} from './operation.ts';

/** Limits for one constant, which has less than 64 KiB of bytes. */
const LIMITS = {
  maxUnits: 1_000_000,
  maxOperationUnits: 1_000_000,
  maxAllocatedBytes: 16 * 1024 * 1024,
  maxFrames: 0,
  maxReads: 0,
};

/** @throws VmError VERIFICATION_ERROR */
function decodeConstant(type: SignatureToken, data: Uint8Array): Value {
  try {
    return decodeValue(layoutOf(type), data, new Meter(LIMITS));
  } catch (error) {
    if (error instanceof MoveError) throw verificationError(`constant: ${error.message}`);
    throw error;
  }
}

function layoutOf(type: SignatureToken): Layout {
  switch (type.kind) {
    case 'vector':
      if (type.element.kind === 'u8') return { kind: 'bytes' };
      return { kind: 'vector', element: layoutOf(type.element) };
    case 'reference':
    case 'typeParameter':
    case 'struct':
    case 'function':
    case 'signer':
      throw verificationError('constant of such a type');
    default:
      return { kind: type.kind };
  }
}

/** The parts that follow from the instructions alone. */
interface EmittedCode extends Omit<FunctionCode, 'localCount' | 'parameterCount'> {
  readonly constants: Value[];
  readonly closures: ClosureSite[];
  readonly sized: Type[];
}

/** The types are those on top of the stack before and after the instruction, if any. */
type Emit = (
  emitter: Emitter,
  instruction: Instruction,
  before: Type | undefined,
  after: Type | undefined,
) => void;

export class Emitter {
  readonly module: CompiledModule;
  readonly code: EmittedCode;
  #at = 0;

  constructor(module: CompiledModule, length: number) {
    this.module = module;
    this.code = {
      operations: new Uint8Array(length),
      operands: new Int32Array(length),
      constants: [],
      closures: [],
      sized: [],
      sizedAt: new Uint16Array(length),
    };
  }

  /** Emits the operation of the next instruction. @throws VmError */
  next(instruction: Instruction, before: Type | undefined, after: Type | undefined): void {
    EMIT[instruction.opcode]!(this, instruction, before, after);
    this.#at += 1;
  }

  emit(operation: OperationName, operand = 0): void {
    this.code.operations[this.#at] = operationNumber(operation);
    this.code.operands[this.#at] = operand;
  }

  /** Records the type of this instruction's value, whose size is charged for. */
  size(type: Type): void {
    const { sized, sizedAt } = this.code;
    const known = sized.indexOf(type);
    sizedAt[this.#at] = known < 0 ? sized.push(type) - 1 : known;
  }

  constant(value: Value): void {
    const place = this.code.constants.push(value) - 1;
    this.emit(typeof value === 'object' ? 'loadCopy' : 'loadConstant', place);
  }
}

/** Indexes of the integer types in the list with the same representation. */
const NUMBERS = new Map<SignatureToken['kind'], number>(
  NUMBER_KINDS.map((kind, place) => [kind, place]),
);
const BIGS = new Map<SignatureToken['kind'], number>(BIG_KINDS.map((kind, place) => [kind, place]));

/** Whether a copy may share the value, because its representation is immutable. */
function isSimple({ kind }: Type): boolean {
  return NUMBERS.has(kind) || BIGS.has(kind) || OTHER_SIMPLE.has(kind);
}

const OTHER_SIMPLE = new Set<SignatureToken['kind']>(['bool', 'address', 'reference']);
const MAX_SMALL = 0x7fff_ffff;

const load: Emit = (emitter, { operand }) => {
  if (typeof operand === 'number' && operand <= MAX_SMALL) emitter.emit('loadSmall', operand);
  else emitter.constant(operand);
};

type OnIntegers =
  | 'add'
  | 'sub'
  | 'mul'
  | 'div'
  | 'mod'
  | 'bitOr'
  | 'bitAnd'
  | 'xor'
  | 'shl'
  | 'shr';

/** An operation whose result has the type of its operand. */
function arithmetic(operation: OnIntegers | 'negate'): Emit {
  return (emitter, _, __, after) => {
    const place = NUMBERS.get(after!.kind);
    if (place === undefined) emitter.emit(`${operation}Big`, BIGS.get(after!.kind)!);
    else emitter.emit(`${operation}Number`, place);
  };
}

const cast: Emit = (emitter, _, before, after) => {
  const [from, to] = [NUMBERS.get(before!.kind), NUMBERS.get(after!.kind)];
  const source = from === undefined ? 'Big' : 'Number';
  const target = to === undefined ? 'Big' : 'Number';
  const fromPlace = from ?? BIGS.get(before!.kind)!;
  const toPlace = to ?? BIGS.get(after!.kind)!;
  emitter.emit(`cast${source}To${target}`, fromPlace * CAST_TARGETS + toPlace);
};

function equality(simple: OperationName, deep: OperationName): Emit {
  return (emitter, _, before) => {
    const isReference = before!.kind === 'reference';
    emitter.size(isReference ? before!.parts[0]! : before!);
    emitter.emit(!isReference && isSimple(before!) ? simple : deep);
  };
}

function copy(simple: OperationName, deep: OperationName): Emit {
  return (emitter, { operand }, _, after) => {
    emitter.size(after!);
    emitter.emit(isSimple(after!) ? simple : deep, (operand as number | undefined) ?? 0);
  };
}

function plain(operation: OperationName): Emit {
  return (emitter, { operand }) => emitter.emit(operation, (operand as number | undefined) ?? 0);
}

function variantHandle(
  { structVariantInstantiations }: CompiledModule,
  place: number,
  isGeneric: boolean,
): number {
  return isGeneric ? structVariantInstantiations[place]!.handle : place;
}

function unpackVariant(isGeneric: boolean): Emit {
  return (emitter, { operand }) =>
    emitter.emit('unpackVariant', variantHandle(emitter.module, operand as number, isGeneric));
}

const unpack: Emit = (emitter, instruction) => {
  const { definition } = structSubject(emitter.module, instruction);
  emitter.emit('unpack', fieldsOf(definition, undefined).length);
};

const testVariant: Emit = (emitter, instruction) =>
  emitter.emit('testVariant', structSubject(emitter.module, instruction).variant!);

const borrowField: Emit = (emitter, instruction) =>
  emitter.emit('borrowField', structSubject(emitter.module, instruction).field!.field);

function borrowVariantField(isGeneric: boolean): Emit {
  return (emitter, { operand }) => {
    const place = operand as number;
    const { variantFieldInstantiations } = emitter.module;
    const handle = isGeneric ? variantFieldInstantiations[place]!.handle : place;
    emitter.emit('borrowVariantField', handle);
  };
}

function packClosure(operation: OperationName): Emit {
  return (emitter, { operand, mask = 0n }) => {
    let capturedCount = 0;
    for (let bits = mask; bits > 0n; bits >>= 1n) capturedCount += Number(bits & 1n);
    const site = { target: operand as number, mask, capturedCount };
    emitter.emit(operation, emitter.code.closures.push(site) - 1);
  };
}

const vecPack: Emit = (emitter, { operand, count }, _, after) => {
  const element = after!.parts[0]!;
  if (element.kind === 'u8') emitter.emit('vecPackBytes', Number(count));
  else if (isSimple(element)) emitter.emit('vecPackSimple', Number(count));
  else emitter.emit('vecPackTyped', (operand as number) * PACK_COUNTS + Number(count));
};

/** An operation for an instruction with and without type arguments. */
function withGeneric(names: string, emit: Emit): Record<string, Emit> {
  return Object.fromEntries(
    names.split(' ').flatMap((name) => [
      [name, emit],
      [`${name}Generic`, emit],
    ]),
  );
}

function all(names: string, emit: Emit): Record<string, Emit> {
  return Object.fromEntries(names.split(' ').map((name) => [name, emit]));
}

/** Operations by instruction, where the types make no difference. */
const SAME: Record<string, OperationName> = {
  Pop: 'pop',
  Ret: 'ret',
  BrTrue: 'brTrue',
  BrFalse: 'brFalse',
  Branch: 'branch',
  Nop: 'nop',
  FreezeRef: 'nop',
  Abort: 'abort',
  AbortMsg: 'abortMsg',
  MoveLoc: 'moveLocal',
  StLoc: 'storeLocal',
  MutBorrowLoc: 'borrowLocal',
  ImmBorrowLoc: 'borrowLocal',
  WriteRef: 'writeRef',
  Or: 'or',
  And: 'and',
  Not: 'not',
  Lt: 'less',
  Gt: 'greater',
  Le: 'lessOrEqual',
  Ge: 'greaterOrEqual',
  Pack: 'pack',
  PackGeneric: 'packGeneric',
  PackVariant: 'packVariant',
  PackVariantGeneric: 'packVariantGeneric',
  Call: 'call',
  CallGeneric: 'callGeneric',
  CallClosure: 'callClosure',
  Exists: 'exists',
  ExistsGeneric: 'existsGeneric',
  MutBorrowGlobal: 'borrowGlobal',
  MutBorrowGlobalGeneric: 'borrowGlobalGeneric',
  ImmBorrowGlobal: 'borrowGlobal',
  ImmBorrowGlobalGeneric: 'borrowGlobalGeneric',
  MoveFrom: 'moveFrom',
  MoveFromGeneric: 'moveFromGeneric',
  MoveTo: 'moveTo',
  MoveToGeneric: 'moveToGeneric',
  VecLen: 'vecLen',
  VecImmBorrow: 'vecBorrow',
  VecMutBorrow: 'vecBorrow',
  VecPushBack: 'vecPushBack',
  VecPopBack: 'vecPopBack',
  VecSwap: 'vecSwap',
};

const EMIT = byOpcode<Emit>({
  ...Object.fromEntries(Object.entries(SAME).map(([name, operation]) => [name, plain(operation)])),
  ...all('LdU8 LdU16 LdU32 LdU64 LdU128 LdU256 LdI8 LdI16 LdI32 LdI64 LdI128 LdI256', load),
  ...all('CastU8 CastU16 CastU32 CastU64 CastU128 CastU256', cast),
  ...all('CastI8 CastI16 CastI32 CastI64 CastI128 CastI256', cast),
  ...withGeneric('Unpack', unpack),
  ...withGeneric('TestVariant', testVariant),
  ...withGeneric('MutBorrowField ImmBorrowField', borrowField),
  LdTrue: (emitter) => emitter.constant(true),
  LdFalse: (emitter) => emitter.constant(false),
  LdConst: (emitter, { operand }) => {
    const { type, data } = emitter.module.constants[operand as number]!;
    emitter.constant(decodeConstant(type, data));
  },
  CopyLoc: copy('copyLocal', 'copyLocalDeep'),
  ReadRef: copy('readRef', 'readRefDeep'),
  Add: arithmetic('add'),
  Sub: arithmetic('sub'),
  Mul: arithmetic('mul'),
  Div: arithmetic('div'),
  Mod: arithmetic('mod'),
  BitOr: arithmetic('bitOr'),
  BitAnd: arithmetic('bitAnd'),
  Xor: arithmetic('xor'),
  Shl: arithmetic('shl'),
  Shr: arithmetic('shr'),
  Negate: arithmetic('negate'),
  Eq: equality('equal', 'equalDeep'),
  Neq: equality('notEqual', 'notEqualDeep'),
  UnpackVariant: unpackVariant(false),
  UnpackVariantGeneric: unpackVariant(true),
  MutBorrowVariantField: borrowVariantField(false),
  MutBorrowVariantFieldGeneric: borrowVariantField(true),
  ImmBorrowVariantField: borrowVariantField(false),
  ImmBorrowVariantFieldGeneric: borrowVariantField(true),
  PackClosure: packClosure('packClosure'),
  PackClosureGeneric: packClosure('packClosureGeneric'),
  VecPack: vecPack,
  VecUnpack: (emitter, { count }) => emitter.emit('vecUnpack', Number(count)),
});
