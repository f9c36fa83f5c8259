import type { CompiledModule } from '../../move/modules/compiled.ts';
import { PACK_COUNTS } from '../code/operation.ts';
import type { VmType } from '../program/vm-type.ts';
import { VmError } from '../status/status.ts';
import { ByteVector, Reference, type Value } from '../value.ts';
import type { Machine } from './machine.ts';
import type { Operation } from './operation.ts';
import { valueAt } from './simple-operations.ts';

/** Memory of an element that is pushed, with its number. In bytes. */
const PUSHED_BYTES = 32;

/** Sub statuses of failed vector operations. */
const VECTOR_ERRORS = {
  indexOutOfBounds: 1n,
  popEmpty: 2n,
  unpackCount: 3n,
} as const;

function vectorError(subStatus: bigint): VmError {
  return new VmError('VECTOR_OPERATION_ERROR', { subStatus });
}

function compiledOf({ frame }: Machine): CompiledModule {
  return frame!.function.module.compiled;
}

/** Whether values of a type can be created (not too deep). Looks up the type's parts if needed. */
function canCreate(machine: Machine, type: VmType): boolean {
  if (type.layout !== undefined) return true;
  machine.retryAfter(machine.program.layout(type));
  return false;
}

function packFields(machine: Machine, count: number): void {
  machine.meter.allocate(count);
  machine.stack.push(machine.take(count));
}

function fieldCount(module: CompiledModule, definition: number): number {
  const found = module.structDefinitions[definition]!;
  return found.kind === 'struct' ? found.fields.length : 0;
}

const pack: Operation = (machine, definition) => {
  const { module } = machine.frame!.function;
  const type = machine.program.definedStruct(module, definition);
  if (canCreate(machine, type)) packFields(machine, fieldCount(module.compiled, definition));
};

const packGeneric: Operation = (machine, index) => {
  const { function: running, typeArguments } = machine.frame!;
  const instantiation = compiledOf(machine).structInstantiations[index]!;
  const type = machine.program.definedGenericStruct(running.module, instantiation, typeArguments);
  if (!canCreate(machine, type)) return;
  packFields(machine, fieldCount(compiledOf(machine), instantiation.handle));
};

interface VariantHandle {
  readonly owner: number;
  readonly variant: number;
}

function packVariantFields(machine: Machine, { owner, variant }: VariantHandle): void {
  const definition = compiledOf(machine).structDefinitions[owner]!;
  const count = definition.kind === 'enum' ? definition.variants[variant]!.fields.length : 0;
  machine.meter.allocate(count + 1);
  const fields: Value[] = [variant];
  for (const field of machine.take(count)) fields.push(field);
  machine.stack.push(fields);
}

const packVariant: Operation = (machine, index) => {
  const handle = compiledOf(machine).structVariantHandles[index]!;
  const type = machine.program.definedStruct(machine.frame!.function.module, handle.owner);
  if (canCreate(machine, type)) packVariantFields(machine, handle);
};

const packVariantGeneric: Operation = (machine, index) => {
  const { function: running, typeArguments } = machine.frame!;
  const { structVariantInstantiations, structVariantHandles } = compiledOf(machine);
  const instantiation = structVariantInstantiations[index]!;
  const handle = structVariantHandles[instantiation.handle]!;
  const type = machine.program.variantStruct(
    running.module,
    instantiation,
    handle.owner,
    typeArguments,
  );
  if (canCreate(machine, type)) packVariantFields(machine, handle);
};

const unpack: Operation = ({ stack }) => {
  for (const field of stack.pop() as Value[]) stack.push(field);
};

/** ``expected enum variant Some, found `None` ``. */
function variantMismatch(
  module: CompiledModule,
  owner: number,
  expected: readonly number[],
  found: number,
): VmError {
  const definition = module.structDefinitions[owner]!;
  const variants = definition.kind === 'enum' ? definition.variants : [];
  const nameOf = (variant: number) => module.identifiers[variants[variant]!.name]!;
  const text = `expected enum variant ${expected.map(nameOf).join(' or ')}, found \`${nameOf(found)}\``;
  return new VmError('STRUCT_VARIANT_MISMATCH', { text });
}

const unpackVariant: Operation = (machine, index) => {
  const { stack } = machine;
  const { owner, variant } = compiledOf(machine).structVariantHandles[index]!;
  const fields = stack.pop() as Value[];
  const found = fields[0] as number;
  if (found !== variant) throw variantMismatch(compiledOf(machine), owner, [variant], found);
  for (let place = 1; place < fields.length; place += 1) stack.push(fields[place]);
};

const borrowVariantField: Operation = (machine, index) => {
  const { stack } = machine;
  const { owner, field, variants } = compiledOf(machine).variantFieldHandles[index]!;
  const reference = stack[stack.length - 1] as Reference;
  const fields = valueAt(reference) as Value[];
  const found = fields[0] as number;
  if (!variants.includes(found)) {
    throw variantMismatch(compiledOf(machine), owner, variants, found);
  }
  stack[stack.length - 1] = new Reference(fields, field + 1, reference.stored);
};

const testVariant: Operation = ({ stack }, variant) => {
  const fields = valueAt(stack[stack.length - 1]) as Value[];
  stack[stack.length - 1] = fields[0] === variant;
};

function packVector(machine: Machine, count: number): void {
  machine.meter.allocate(count);
  machine.stack.push(machine.take(count));
}

const vecPackBytes: Operation = (machine, count) => {
  machine.meter.allocateBytes(count);
  machine.stack.push(new ByteVector(Uint8Array.from(machine.take(count) as number[])));
};

const vecPackTyped: Operation = (machine, operand) => {
  const count = operand % PACK_COUNTS;
  const { function: running, typeArguments } = machine.frame!;
  const type = machine.program.vectorOfSignature(
    running.module,
    (operand - count) / PACK_COUNTS,
    typeArguments,
  );
  if (!canCreate(machine, type)) return;
  if (type.layout!.kind === 'bytes') vecPackBytes(machine, count);
  else packVector(machine, count);
};

/** The elements of a vector: an array, or bytes. */
type Elements = Value[] | ByteVector;

function elementsAt(reference: Value): Elements {
  return valueAt(reference) as Elements;
}

function changedElementsAt(reference: Value): Elements {
  (reference as Reference).assigned();
  return elementsAt(reference);
}

const vecLen: Operation = ({ stack }) => {
  stack[stack.length - 1] = BigInt(elementsAt(stack[stack.length - 1]).length);
};

/** A u64 as an index into a vector. @throws VmError beyond its end */
function placeIn(elements: Elements, index: Value): number {
  if ((index as bigint) >= BigInt(elements.length)) {
    throw vectorError(VECTOR_ERRORS.indexOutOfBounds);
  }
  return Number(index);
}

const vecBorrow: Operation = ({ stack }) => {
  const index = stack.pop();
  const reference = stack[stack.length - 1] as Reference;
  const elements = elementsAt(reference);
  stack[stack.length - 1] = new Reference(elements, placeIn(elements, index), reference.stored);
};

const vecPushBack: Operation = ({ stack, meter }) => {
  const value = stack.pop();
  const elements = changedElementsAt(stack.pop());
  if (elements instanceof ByteVector) {
    meter.grow(1);
    elements.push(value as number);
  } else {
    meter.grow(PUSHED_BYTES);
    elements.push(value);
  }
};

const vecPopBack: Operation = ({ stack }) => {
  const elements = changedElementsAt(stack[stack.length - 1]);
  if (elements.length === 0) throw vectorError(VECTOR_ERRORS.popEmpty);
  stack[stack.length - 1] = elements.pop();
};

const vecUnpack: Operation = ({ stack, meter }, count) => {
  const elements = stack.pop() as Elements;
  if (elements.length !== count) throw vectorError(VECTOR_ERRORS.unpackCount);
  meter.charge(count);
  if (elements instanceof ByteVector) {
    for (const byte of elements.bytes) stack.push(byte);
  } else {
    for (const element of elements) stack.push(element);
  }
};

const vecSwap: Operation = ({ stack }) => {
  const second = stack.pop();
  const first = stack.pop();
  const elements = changedElementsAt(stack.pop());
  const places = [placeIn(elements, first), placeIn(elements, second)] as const;
  const values = elements instanceof ByteVector ? elements.data : elements;
  const kept = values[places[0]]!;
  values[places[0]] = values[places[1]] as never;
  values[places[1]] = kept as never;
};

export const STRUCTURE_OPERATIONS = {
  pack,
  packGeneric,
  packVariant,
  packVariantGeneric,
  unpack,
  unpackVariant,
  testVariant,
  borrowVariantField,
  vecPackBytes,
  vecPackSimple: packVector,
  vecPackTyped,
  vecLen,
  vecBorrow,
  vecPushBack,
  vecPopBack,
  vecUnpack,
  vecSwap,
} as const;
