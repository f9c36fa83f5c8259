/** Natives of `0x1::crypto_algebra` (docs/spec/vm.md §6.11). Elements stay here; code has their numbers. */
import { ADDRESS_ONE } from '../../move/types/address.ts';
import { type Native, NativeAbort, type NativeContext, type NativeResult } from '../native.ts';
import type { VmType } from '../program/vm-type.ts';
import type { Value } from '../value.ts';
import { VmError } from '../vm-error.ts';
import { byteVector, partsOf, referencedBytes } from './arguments.ts';
import {
  HASH_SUITES,
  PAIRING_CURVES,
  type PairingCurve,
  type Structure,
} from './crypto/algebra.ts';
import { bytesOfInteger } from './crypto/integers.ts';
import { giveWay, turnsOf } from './crypto/turns.ts';
import { DECODE_UNITS, MULTIPLY_UNITS, PAIRING_UNITS } from './crypto/units.ts';

const NOT_IMPLEMENTED = 0xc_0001;
const SIZES_DIFFER = 0x1_0002;
const TOO_MUCH_MEMORY = 0x9_0003;
/** Memory of the elements of a run, by the sizes of the reference. */
const MAX_BYTES = 1024 * 1024;

/** Thrown within a native, which then aborts. */
class Refusal extends Error {
  readonly abort: NativeAbort;

  constructor(code: number, text?: string) {
    super(text);
    this.abort = new NativeAbort(code, text);
  }
}

interface Element {
  /** The curve and the kind of the element. */
  readonly kind: string;
  readonly value: unknown;
}

class Elements {
  readonly all: Element[] = [];
  usedBytes = 0;
}

/** A structure that a type argument names. */
interface Named {
  readonly module: string;
  readonly name: string;
  readonly curve: PairingCurve;
  readonly structure: Structure;
}

function pathOf({ tag }: VmType): { readonly module: string; readonly name: string } | undefined {
  if (tag.kind !== 'struct' || tag.struct.address !== ADDRESS_ONE) return undefined;
  return tag.struct;
}

/** One call, with what it computes. */
class Algebra {
  readonly #context: NativeContext;
  readonly #elements: Elements;

  constructor(context: NativeContext) {
    this.#context = context;
    const known = context.extensions.get(Elements) as Elements | undefined;
    this.#elements = known ?? new Elements();
    if (known === undefined) context.extensions.set(Elements, this.#elements);
  }

  /** The structure of a type argument. @throws Refusal for a type that is none, or is not enabled */
  structure(index: number): Named {
    const { typeArguments, world } = this.#context;
    const path = pathOf(typeArguments[index]!);
    const curve = path && PAIRING_CURVES.get(path.module);
    const structure = path && curve?.structures.get(path.name);
    if (!path || !curve || !structure || !world.isFeatureEnabled(curve.flag)) {
      throw new Refusal(NOT_IMPLEMENTED);
    }
    return { module: path.module, name: path.name, curve, structure };
  }

  /** The name of a type argument of the same module. @throws Refusal for another one */
  nameBeside(index: number, { module }: Named): string {
    const path = pathOf(this.#context.typeArguments[index]!);
    if (path?.module !== module) throw new Refusal(NOT_IMPLEMENTED);
    return path.name;
  }

  value({ module, structure }: Named, handle: Value): unknown {
    const element = this.#elements.all[Number(handle as bigint)];
    if (element?.kind !== `${module} ${structure.elements}`) {
      throw new VmError('UNKNOWN_INVARIANT_VIOLATION_ERROR');
    }
    return element.value;
  }

  /** The number of a new element. @throws Refusal */
  add({ module, structure }: Named, value: unknown): bigint {
    const { all, usedBytes } = this.#elements;
    const needed = usedBytes + structure.sizeBytes;
    if (needed > MAX_BYTES) {
      const text =
        `Algebra context memory ${MAX_BYTES}-byte limit exceeded: currently using ${usedBytes} ` +
        `bytes; was asked for ${needed} bytes`;
      throw new Refusal(TOO_MUCH_MEMORY, text);
    }
    this.#elements.usedBytes = needed;
    all.push({ kind: `${module} ${structure.elements}`, value });
    return BigInt(all.length - 1);
  }
}

type Work = (
  algebra: Algebra,
  args: readonly Value[],
  context: NativeContext,
) => readonly Value[] | Promise<readonly Value[]>;

function computing(units: number, work: Work): Native {
  return async (context, args): Promise<NativeResult> => {
    context.meter.charge(units);
    try {
      return await work(new Algebra(context), args, context);
    } catch (error) {
      if (error instanceof Refusal) return error.abort;
      throw error;
    }
  };
}

/** What a structure has, or the abort for what is not defined. */
function defined<T>(operation: T | undefined): T {
  if (operation === undefined) throw new Refusal(NOT_IMPLEMENTED);
  return operation;
}

const FIELD_UNITS = 100;
const GROUP_UNITS = 500;

type Binary = (structure: Structure, left: unknown, right: unknown) => unknown;

function binary(compute: Binary): Native {
  return computing(GROUP_UNITS, (algebra, [left, right]) => {
    const named = algebra.structure(0);
    const { structure } = named;
    const values = [algebra.value(named, left), algebra.value(named, right)] as const;
    return [algebra.add(named, compute(structure, ...values))];
  });
}

function unary(compute: (structure: Structure, value: unknown) => unknown): Native {
  return computing(GROUP_UNITS, (algebra, [handle]) => {
    const named = algebra.structure(0);
    return [algebra.add(named, compute(named.structure, algebra.value(named, handle)))];
  });
}

/** A result that may not be there: whether it is, and its number. */
function optional(compute: (structure: Structure, values: readonly unknown[]) => unknown): Native {
  return computing(GROUP_UNITS, (algebra, handles) => {
    const named = algebra.structure(0);
    const values = handles.map((handle) => algebra.value(named, handle));
    const result = compute(named.structure, values);
    return result === undefined ? [false, 0n] : [true, algebra.add(named, result)];
  });
}

const divided = optional((structure, [left, right]) => {
  const inverse = defined(structure.inv)(right);
  return inverse === undefined ? undefined : structure.mul!(left, inverse);
});

function constant(of: (structure: Structure) => unknown): Native {
  return computing(FIELD_UNITS, (algebra) => {
    const named = algebra.structure(0);
    return [algebra.add(named, of(named.structure))];
  });
}

const order = computing(FIELD_UNITS, (algebra, _, { meter }) => [
  byteVector(meter, bytesOfInteger(algebra.structure(0).structure.order)),
]);

const fromInteger = computing(FIELD_UNITS, (algebra, [value]) => {
  const named = algebra.structure(0);
  return [algebra.add(named, defined(named.structure.ofInteger)(value as bigint))];
});

const equal = computing(FIELD_UNITS, (algebra, [left, right]) => {
  const named = algebra.structure(0);
  return [named.structure.eql(algebra.value(named, left), algebra.value(named, right))];
});

const deserialize = computing(DECODE_UNITS, (algebra, [bytes], { meter }) => {
  const named = algebra.structure(0);
  const format = defined(named.curve.formats.get(algebra.nameBeside(1, named)));
  if (format.structure !== named.name) throw new Refusal(NOT_IMPLEMENTED);
  meter.charge(named.name === 'Gt' ? PAIRING_UNITS : MULTIPLY_UNITS);
  const value = format.read(referencedBytes(bytes));
  return value === undefined ? [false, 0n] : [true, algebra.add(named, value)];
});

const serialize = computing(DECODE_UNITS, (algebra, [handle], { meter }) => {
  const named = algebra.structure(0);
  const format = defined(named.curve.formats.get(algebra.nameBeside(1, named)));
  if (format.structure !== named.name) throw new Refusal(NOT_IMPLEMENTED);
  return [byteVector(meter, format.write(algebra.value(named, handle)))];
});

/** A group and its scalars. */
function groupOf(algebra: Algebra): { readonly group: Named; readonly scalars: Named } {
  const [group, scalars] = [algebra.structure(0), algebra.structure(1)];
  const fits = group.structure.times !== undefined && scalars.name === 'Fr';
  if (!fits || group.module !== scalars.module) throw new Refusal(NOT_IMPLEMENTED);
  return { group, scalars };
}

const scalarMultiply = computing(2 * MULTIPLY_UNITS, (algebra, [element, scalar]) => {
  const { group, scalars } = groupOf(algebra);
  const factor = algebra.value(scalars, scalar) as bigint;
  const product = group.structure.times!(algebra.value(group, element), factor);
  return [algebra.add(group, product)];
});

const multiplyMany = computing(
  0,
  async (algebra, [elements, factors], context): Promise<Value[]> => {
    const { group, scalars } = groupOf(algebra);
    if (group.name === 'Gt') throw new Refusal(NOT_IMPLEMENTED);
    const [points, numbers] = [partsOf(elements), partsOf(factors)];
    if (points.length !== numbers.length) throw new Refusal(SIZES_DIFFER);
    context.meter.chargeInTurns(points.length * 2 * MULTIPLY_UNITS);
    const { structure } = group;
    let sum = structure.zero;
    for (const [index, point] of points.entries()) {
      await giveWay(context);
      const factor = algebra.value(scalars, numbers[index]) as bigint;
      sum = structure.add(sum, structure.times!(algebra.value(group, point), factor));
    }
    return [algebra.add(group, sum)];
  },
);

async function paired(
  algebra: Algebra,
  left: readonly Value[],
  right: readonly Value[],
  context: NativeContext,
): Promise<Value[]> {
  const [g1, g2, target] = [0, 1, 2].map((index) => algebra.structure(index)) as [
    Named,
    Named,
    Named,
  ];
  const isPairing = g1.name === 'G1' && g2.name === 'G2' && target.name === 'Gt';
  if (!isPairing || g2.module !== g1.module || target.module !== g1.module) {
    throw new Refusal(NOT_IMPLEMENTED);
  }
  if (left.length !== right.length) throw new Refusal(SIZES_DIFFER);
  const pairs = left.map((handle, index) => ({
    g1: algebra.value(g1, handle),
    g2: algebra.value(g2, right[index]),
  }));
  // Pairs with a point at infinity change nothing.
  const factors = pairs.filter(
    (pair) =>
      !g1.structure.eql(pair.g1, g1.structure.zero) &&
      !g2.structure.eql(pair.g2, g2.structure.zero),
  );
  return [algebra.add(target, await g1.curve.pairing(factors, turnsOf(context)))];
}

const pairing = computing(PAIRING_UNITS, (algebra, [left, right], context) =>
  paired(algebra, [left], [right], context),
);

const multiPairing = computing(0, (algebra, [left, right], context) => {
  const [points, others] = [partsOf(left), partsOf(right)];
  context.meter.chargeInTurns(points.length * PAIRING_UNITS);
  return paired(algebra, points, others, context);
});

const hashTo = computing(PAIRING_UNITS, (algebra, [domain, message], { meter }) => {
  const named = algebra.structure(0);
  const suite = HASH_SUITES.get(`${named.name} ${algebra.nameBeside(1, named)}`);
  const hash = defined(named.module === 'bls12381_algebra' ? suite : undefined);
  const [tag, content] = [referencedBytes(domain), referencedBytes(message)];
  meter.chargeHashed(content.length);
  if (tag.length === 0) {
    const text = 'this node cannot hash to a group without a domain: 0x1::crypto_algebra';
    throw new VmError('UNIMPLEMENTED_FUNCTIONALITY', { text });
  }
  return [algebra.add(named, hash(content, tag))];
});

/** Between the largest field and the group inside it. */
function casting(
  from: string,
  to: string,
  cast: (isInside: () => boolean, handle: Value) => readonly Value[],
): Native {
  return computing(FIELD_UNITS, (algebra, [handle], { meter }) => {
    const [source, target] = [algebra.structure(0), algebra.structure(1)];
    if (source.name !== from || target.name !== to || source.module !== target.module) {
      throw new Refusal(NOT_IMPLEMENTED);
    }
    const isInside = (): boolean => {
      meter.charge(PAIRING_UNITS);
      return source.curve.isInTarget(algebra.value(source, handle));
    };
    return cast(isInside, handle);
  });
}

export const ALGEBRA_NATIVES: Readonly<Record<string, Native>> = {
  'crypto_algebra::add_internal': binary((structure, left, right) => structure.add(left, right)),
  'crypto_algebra::sub_internal': binary((structure, left, right) =>
    structure.add(left, structure.neg(right)),
  ),
  'crypto_algebra::mul_internal': binary((structure, left, right) =>
    defined(structure.mul)(left, right),
  ),
  'crypto_algebra::div_internal': divided,
  'crypto_algebra::inv_internal': optional((structure, [value]) => defined(structure.inv)(value)),
  'crypto_algebra::neg_internal': unary((structure, value) => structure.neg(value)),
  'crypto_algebra::sqr_internal': unary((structure, value) => defined(structure.mul)(value, value)),
  'crypto_algebra::double_internal': unary((structure, value) => defined(structure.double)(value)),
  'crypto_algebra::zero_internal': constant(({ zero }) => zero),
  'crypto_algebra::one_internal': constant(({ one }) => one),
  'crypto_algebra::order_internal': order,
  'crypto_algebra::from_u64_internal': fromInteger,
  'crypto_algebra::eq_internal': equal,
  'crypto_algebra::deserialize_internal': deserialize,
  'crypto_algebra::serialize_internal': serialize,
  'crypto_algebra::scalar_mul_internal': scalarMultiply,
  'crypto_algebra::multi_scalar_mul_internal': multiplyMany,
  'crypto_algebra::pairing_internal': pairing,
  'crypto_algebra::multi_pairing_internal': multiPairing,
  'crypto_algebra::hash_to_internal': hashTo,
  'crypto_algebra::upcast_internal': casting('Gt', 'Fq12', (_, handle) => [handle]),
  'crypto_algebra::downcast_internal': casting('Fq12', 'Gt', (isInside, handle) => [
    isInside(),
    handle,
  ]),
};
