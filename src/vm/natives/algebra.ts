/** Natives of `0x1::crypto_algebra` (docs/spec/vm.md §6.11). Elements stay here; code holds their handles. */
import { ADDRESS_ONE } from '../../move/types/address.ts';
import { type Native, NativeAbort, type NativeContext, type NativeResult } from '../native.ts';
import type { VmType } from '../program/vm-type.ts';
import { VmError } from '../status/status.ts';
import type { Value } from '../value.ts';
import { byteVector, partsOf, referencedBytes } from './arguments.ts';
import {
  type Format,
  HASH_SUITES,
  PAIRING_CURVES,
  type PairingCurve,
  type Structure,
} from './crypto/algebra.ts';
import {
  bytesOfInteger,
  DECODE_UNITS,
  MULTIPLY_UNITS,
  PAIRING_UNITS,
  turnsOf,
  yieldTurn,
} from './crypto/turns.ts';

const NOT_IMPLEMENTED = 0xc_0001;
const SIZES_DIFFER = 0x1_0002;
const TOO_MUCH_MEMORY = 0x9_0003;
/** Memory of the elements of a run, by the sizes of the reference. */
const MAX_BYTES = 1024 * 1024;

interface Element {
  readonly kind: string;
  readonly value: unknown;
}

class Elements {
  readonly all: Element[] = [];
  usedBytes = 0;
}

/** A structure that a type argument names. */
interface NamedStructure {
  readonly module: string;
  readonly name: string;
  readonly curve: PairingCurve;
  readonly structure: Structure;
}

function pathOf({ tag }: VmType): { readonly module: string; readonly name: string } | undefined {
  if (tag.kind !== 'struct' || tag.struct.address !== ADDRESS_ONE) return undefined;
  return tag.struct;
}

const PRICES = 'aptos_framework.algebra.';

/** Names of the curves in the gas schedule. */
const PRICED_CURVES: Readonly<Record<string, string>> = {
  bls12381_algebra: 'bls12_381',
  bn254_algebra: 'bn254',
};

/** Names of operations on points in the gas schedule. */
const PRICED_ON_POINTS: Readonly<Record<string, string>> = { zero: 'infinity', one: 'generator' };

/** The operation in the field of degree 12 that implements one on its target group. */
const PRICED_IN_TARGET: Readonly<Record<string, string>> = {
  zero: 'one',
  one: 'clone',
  add: 'mul',
  sub: 'div',
  neg: 'inv',
  double: 'square',
  scalar_mul: 'pow_u256',
};

/** The name of a price below `aptos_framework.algebra` (docs/spec/gas.md §4). */
function priceName(
  { module, name, structure: { elements } }: NamedStructure,
  operation: string,
): string {
  const curve = PRICED_CURVES[module]!;
  // A mistake in the reference, visible in its gas.
  if (name === 'Fr' && operation === 'one') return 'ark_bls12_381_fr_one';
  if (name === 'Gt') return `ark_${curve}_fq12_${PRICED_IN_TARGET[operation] ?? operation}`;
  if (name !== 'G1' && name !== 'G2') return `ark_${curve}_${elements.toLowerCase()}_${operation}`;
  const isAffine = operation.startsWith('affine');
  const kind = isAffine ? '' : 'proj_';
  return `ark_${curve}_${name.toLowerCase()}_${kind}${PRICED_ON_POINTS[operation] ?? operation}`;
}

class Algebra {
  readonly #context: NativeContext;
  readonly #elements: Elements;

  constructor(context: NativeContext) {
    this.#context = context;
    this.#elements = context.extensions.of(Elements);
  }

  /** The structure of a type argument. @throws NativeAbort if it names none, or one that is not enabled */
  structure(index: number): NamedStructure {
    const { typeArguments, world } = this.#context;
    const path = pathOf(typeArguments[index]!);
    const curve = path && PAIRING_CURVES.get(path.module);
    const structure = path && curve?.structures.get(path.name);
    if (!path || !curve || !structure || !world.isFeatureEnabled(curve.flag)) {
      throw new NativeAbort(NOT_IMPLEMENTED);
    }
    return { module: path.module, name: path.name, curve, structure };
  }

  /** The name of a type argument of the same module. @throws NativeAbort for another module */
  nameInSameModule(index: number, { module }: NamedStructure): string {
    const path = pathOf(this.#context.typeArguments[index]!);
    if (path?.module !== module) throw new NativeAbort(NOT_IMPLEMENTED);
    return path.name;
  }

  value({ module, structure }: NamedStructure, handle: Value): unknown {
    const element = this.#elements.all[Number(handle as bigint)];
    if (element?.kind !== `${module} ${structure.elements}`) {
      throw new VmError('UNKNOWN_INVARIANT_VIOLATION_ERROR');
    }
    return element.value;
  }

  /** Charges an operation on elements of a structure, by its name in the gas schedule. */
  charge(named: NamedStructure, operation: string, units = 1): void {
    this.#context.gas.chargeFor(PRICES + priceName(named, operation), units);
  }

  chargeCurve({ module }: NamedStructure, operation: string, units = 1): void {
    this.#context.gas.chargeFor(`${PRICES}ark_${PRICED_CURVES[module]!}_${operation}`, units);
  }

  /** Adds an element and returns its handle. @throws NativeAbort */
  add({ module, structure }: NamedStructure, value: unknown): bigint {
    const { all, usedBytes } = this.#elements;
    const needed = usedBytes + structure.sizeBytes;
    if (needed > MAX_BYTES) {
      const text =
        `Algebra context memory ${MAX_BYTES}-byte limit exceeded: currently using ${usedBytes} ` +
        `bytes; was asked for ${needed} bytes`;
      throw new NativeAbort(TOO_MUCH_MEMORY, text);
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

function meteredNative(units: number, work: Work): Native {
  return async (context, args): Promise<NativeResult> => {
    context.meter.charge(units);
    return await work(new Algebra(context), args, context);
  };
}

function defined<T>(operation: T | undefined): T {
  if (operation === undefined) throw new NativeAbort(NOT_IMPLEMENTED);
  return operation;
}

const FIELD_UNITS = 100;
const GROUP_UNITS = 500;

type Operation = (...values: readonly unknown[]) => unknown;

/** @param of the operation of a structure; @throws NativeAbort if it has none */
function operationNative(price: string, of: (structure: Structure) => Operation): Native {
  return meteredNative(GROUP_UNITS, (algebra, handles) => {
    const named = algebra.structure(0);
    const operate = of(named.structure);
    const values = handles.map((handle) => algebra.value(named, handle));
    algebra.charge(named, price);
    return [algebra.add(named, operate(...values))];
  });
}

const invert = meteredNative(GROUP_UNITS, (algebra, [handle]) => {
  const named = algebra.structure(0);
  const inv = defined(named.structure.inv);
  const value = algebra.value(named, handle);
  algebra.charge(named, 'inv');
  const inverse = inv(value);
  return inverse === undefined ? [false, 0n] : [true, algebra.add(named, inverse)];
});

const divide = meteredNative(GROUP_UNITS, (algebra, [left, right]) => {
  const named = algebra.structure(0);
  const inv = defined(named.structure.inv);
  const [dividend, divisor] = [algebra.value(named, left), algebra.value(named, right)];
  algebra.charge(named, 'eq');
  const inverse = inv(divisor);
  if (inverse === undefined) return [false, 0n];
  algebra.charge(named, 'div');
  return [true, algebra.add(named, named.structure.mul!(dividend, inverse))];
});

function constant(price: string, of: (structure: Structure) => unknown): Native {
  return meteredNative(FIELD_UNITS, (algebra) => {
    const named = algebra.structure(0);
    algebra.charge(named, price);
    return [algebra.add(named, of(named.structure))];
  });
}

const order = meteredNative(FIELD_UNITS, (algebra, _, { meter }) => [
  byteVector(meter, bytesOfInteger(algebra.structure(0).structure.order)),
]);

const fromInteger = meteredNative(FIELD_UNITS, (algebra, [value]) => {
  const named = algebra.structure(0);
  const ofInteger = defined(named.structure.ofInteger);
  algebra.charge(named, 'from_u64');
  return [algebra.add(named, ofInteger(value as bigint))];
});

const equal = meteredNative(FIELD_UNITS, (algebra, [left, right]) => {
  const named = algebra.structure(0);
  const values = [algebra.value(named, left), algebra.value(named, right)] as const;
  algebra.charge(named, 'eq');
  return [named.structure.eql(...values)];
});

/** The format that the second type argument names, and its name in the gas schedule. */
function formatOf(algebra: Algebra, named: NamedStructure): { format: Format; price: string } {
  const name = algebra.nameInSameModule(1, named);
  const format = defined(named.curve.formats.get(name));
  if (format.structure !== named.name) throw new NativeAbort(NOT_IMPLEMENTED);
  if (named.name !== 'G1' && named.name !== 'G2') return { format, price: '' };
  return { format, price: name.endsWith('Uncompr') ? '_uncomp' : '_comp' };
}

const deserialize = meteredNative(DECODE_UNITS, (algebra, [argument], { meter }) => {
  const named = algebra.structure(0);
  const { format, price } = formatOf(algebra, named);
  const bytes = referencedBytes(argument);
  if (bytes.length !== format.byteLength) return [false, 0n];
  meter.charge(named.name === 'Gt' ? PAIRING_UNITS : MULTIPLY_UNITS);
  algebra.charge(named, price === '' ? 'deser' : `affine_deser${price}`);
  const value = format.read(bytes);
  if (value === undefined) return [false, 0n];
  if (format.isMember !== undefined) {
    algebra.charge(named, 'pow_u256');
    algebra.charge(named, 'eq');
    if (!format.isMember(value)) return [false, 0n];
  }
  return [true, algebra.add(named, value)];
});

const serialize = meteredNative(DECODE_UNITS, (algebra, [handle], { meter }) => {
  const named = algebra.structure(0);
  const { format, price } = formatOf(algebra, named);
  const value = algebra.value(named, handle);
  if (price !== '') algebra.charge(named, 'to_affine');
  algebra.charge(named, price === '' ? 'serialize' : `affine_serialize${price}`);
  return [byteVector(meter, format.write(value))];
});

function groupOf(algebra: Algebra): {
  readonly group: NamedStructure;
  readonly scalars: NamedStructure;
} {
  const [group, scalars] = [algebra.structure(0), algebra.structure(1)];
  const fits = group.structure.times !== undefined && scalars.name === 'Fr';
  if (!fits || group.module !== scalars.module) throw new NativeAbort(NOT_IMPLEMENTED);
  return { group, scalars };
}

const scalarMultiply = meteredNative(2 * MULTIPLY_UNITS, (algebra, [element, scalar]) => {
  const { group, scalars } = groupOf(algebra);
  const point = algebra.value(group, element);
  const factor = algebra.value(scalars, scalar) as bigint;
  algebra.charge(group, 'scalar_mul');
  return [algebra.add(group, group.structure.times!(point, factor))];
});

/** Bits of a scalar; `log2` of the smallest number of points for which the windows grow. */
const SCALAR_BITS = 255;
const SMALL_WINDOW = 3;
const SMALL_COUNT = 32;

/** Charges for the reference's bucket algorithm for a sum of products. */
function chargeMany(algebra: Algebra, group: NamedStructure, count: number): void {
  const window =
    count < SMALL_COUNT ? SMALL_WINDOW : Math.floor((Math.ceil(Math.log2(count)) * 69) / 100) + 2;
  const windows = Math.ceil(SCALAR_BITS / window);
  const buckets = 2 ** window;
  algebra.charge(group, 'to_affine', count);
  algebra.charge(group, 'add', (count + buckets + 1) * windows);
  algebra.charge(group, 'double', buckets * windows);
}

const multiplyMany = meteredNative(
  0,
  async (algebra, [elements, factors], context): Promise<Value[]> => {
    const { group, scalars } = groupOf(algebra);
    if (group.name === 'Gt') throw new NativeAbort(NOT_IMPLEMENTED);
    const [points, numbers] = [partsOf(elements), partsOf(factors)];
    if (points.length !== numbers.length) throw new NativeAbort(SIZES_DIFFER);
    context.meter.chargeInTurns(points.length * 2 * MULTIPLY_UNITS);
    chargeMany(algebra, group, points.length);
    const { structure } = group;
    let sum = structure.zero;
    for (const [index, point] of points.entries()) {
      await yieldTurn(context);
      const factor = algebra.value(scalars, numbers[index]) as bigint;
      sum = structure.add(sum, structure.times!(algebra.value(group, point), factor));
    }
    return [algebra.add(group, sum)];
  },
);

async function paired(
  algebra: Algebra,
  [left, right]: readonly [readonly Value[], readonly Value[]],
  charge: (curve: NamedStructure) => void,
  context: NativeContext,
): Promise<Value[]> {
  const [g1, g2, target] = [0, 1, 2].map((index) => algebra.structure(index)) as [
    NamedStructure,
    NamedStructure,
    NamedStructure,
  ];
  const isPairing = g1.name === 'G1' && g2.name === 'G2' && target.name === 'Gt';
  if (!isPairing || g2.module !== g1.module || target.module !== g1.module) {
    throw new NativeAbort(NOT_IMPLEMENTED);
  }
  if (left.length !== right.length) throw new NativeAbort(SIZES_DIFFER);
  algebra.charge(g1, 'to_affine', left.length);
  algebra.charge(g2, 'to_affine', left.length);
  charge(g1);
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

const pairing = meteredNative(PAIRING_UNITS, (algebra, [left, right], context) =>
  paired(algebra, [[left], [right]], (curve) => algebra.chargeCurve(curve, 'pairing'), context),
);

const multiPairing = meteredNative(0, (algebra, [left, right], context) => {
  const [points, others] = [partsOf(left), partsOf(right)];
  context.meter.chargeInTurns(points.length * PAIRING_UNITS);
  const charge = (curve: NamedStructure): void => {
    algebra.chargeCurve(curve, 'multi_pairing_base');
    algebra.chargeCurve(curve, 'multi_pairing_per_pair', points.length);
  };
  return paired(algebra, [points, others], charge, context);
});

/** A longer domain is hashed itself (RFC 9380 §5.3.3), with a prefix of 17 bytes. */
const MAX_DOMAIN_BYTES = 255;
const DOMAIN_PREFIX_BYTES = 17;

const hashTo = meteredNative(PAIRING_UNITS, (algebra, [domain, message], { meter, gas }) => {
  const named = algebra.structure(0);
  const suite = HASH_SUITES.get(`${named.name} ${algebra.nameInSameModule(1, named)}`);
  const hash = defined(named.module === 'bls12381_algebra' ? suite : undefined);
  const [tag, content] = [referencedBytes(domain), referencedBytes(message)];
  meter.chargeHashed(content.length);
  const price = `${PRICES}ark_h2c_bls12381${named.name.toLowerCase()}_xmd_sha256_sswu_`;
  gas.chargeFor(`${price}base`);
  gas.chargeFor(`${price}per_msg_byte`, content.length);
  if (tag.length > MAX_DOMAIN_BYTES) {
    gas.chargeFor('move_stdlib.hash.sha2_256.base');
    gas.chargeFor('move_stdlib.hash.sha2_256.per_byte', DOMAIN_PREFIX_BYTES + tag.length);
  }
  if (tag.length === 0) {
    const text = 'this node cannot hash to a group without a domain: 0x1::crypto_algebra';
    throw new VmError('UNIMPLEMENTED_FUNCTIONALITY', { text });
  }
  return [algebra.add(named, hash(content, tag))];
});

/** Between the largest field and the group inside it. */
function castNative(
  from: string,
  to: string,
  cast: (isInside: () => boolean, handle: Value) => readonly Value[],
): Native {
  return meteredNative(FIELD_UNITS, (algebra, [handle], { meter }) => {
    const [source, target] = [algebra.structure(0), algebra.structure(1)];
    if (source.name !== from || target.name !== to || source.module !== target.module) {
      throw new NativeAbort(NOT_IMPLEMENTED);
    }
    const isInside = (): boolean => {
      meter.charge(PAIRING_UNITS);
      const value = algebra.value(source, handle);
      algebra.charge(source, 'pow_u256');
      return source.curve.isInTarget(value);
    };
    return cast(isInside, handle);
  });
}

export const ALGEBRA_NATIVES: Readonly<Record<string, Native>> = {
  'crypto_algebra::add_internal': operationNative('add', ({ add }) => add as Operation),
  'crypto_algebra::sub_internal': operationNative(
    'sub',
    ({ add, neg }) =>
      (left, right) =>
        add(left, neg(right)),
  ),
  'crypto_algebra::mul_internal': operationNative('mul', ({ mul }) => defined(mul) as Operation),
  'crypto_algebra::div_internal': divide,
  'crypto_algebra::inv_internal': invert,
  'crypto_algebra::neg_internal': operationNative('neg', ({ neg }) => neg as Operation),
  'crypto_algebra::sqr_internal': operationNative('square', ({ mul }) => {
    const multiply = defined(mul);
    return (value) => multiply(value, value);
  }),
  'crypto_algebra::double_internal': operationNative(
    'double',
    ({ double }) => defined(double) as Operation,
  ),
  'crypto_algebra::zero_internal': constant('zero', ({ zero }) => zero),
  'crypto_algebra::one_internal': constant('one', ({ one }) => one),
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
  'crypto_algebra::upcast_internal': castNative('Gt', 'Fq12', (_, handle) => [handle]),
  'crypto_algebra::downcast_internal': castNative('Fq12', 'Gt', (isInside, handle) => [
    isInside(),
    handle,
  ]),
};
