/**
 * Natives of `0x1::aggregator_v2` and of the older aggregators, whose values are items of a table
 * (docs/spec/vm.md §6.7). A view changes nothing in parallel with others, so all of them are plain integers here.
 */
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import { BcsError, decodeBcs } from '../../move/bcs/bcs-reader.ts';
import { type Address, addressBytes } from '../../move/types/address.ts';
import type { Meter } from '../meter.ts';
import { type Native, NativeAbort, type NativeContext, type NativeResult } from '../native.ts';
import { VmError } from '../status/status.ts';
import type { Reference, Value } from '../value.ts';
import { bytesInside, byteVector, partsOf, referenced } from './arguments.ts';
import { sessionAddress } from './transactions.ts';

const SNAPSHOT_TYPE_UNSUPPORTED = 0x3_0005;
const TYPE_UNSUPPORTED = 0x3_0007;
const STRING_TOO_LONG = 0x3_0008;
const NOT_SUPPORTED_YET = 0x3_0009;
/** Maximum length of the text around a number, and of a constant text, in bytes. */
const MAX_DERIVED_BYTES = 1024;
/** Minimum stored size of a constant text. */
const MIN_CONSTANT_BYTES = 22;

const MAX_VALUES: ReadonlyMap<string, bigint> = new Map([
  ['u64', 2n ** 64n - 1n],
  ['u128', 2n ** 128n - 1n],
]);
const DIGITS: ReadonlyMap<string, number> = new Map([
  ['u64', 20],
  ['u128', 39],
]);

function kindOf({ typeArguments }: NativeContext): string {
  return typeArguments[0]!.tag.kind;
}

/** A native for integers of 64 and 128 bits. */
function ofIntegers(native: Native, error = TYPE_UNSUPPORTED): Native {
  return (context, args) =>
    MAX_VALUES.has(kindOf(context)) ? native(context, args) : new NativeAbort(error);
}

/** `Aggregator` is the value and its maximum. */
const createUnbounded: Native = (context) => [[0n, MAX_VALUES.get(kindOf(context))!]];

function changeNative(sign: bigint): Native {
  return (_, [aggregator, amount]) => {
    const fields = partsOf(referenced(aggregator));
    const value = (fields[0] as bigint) + sign * (amount as bigint);
    if (value < 0n || value > (fields[1] as bigint)) return [false];
    fields[0] = value;
    // Written even if later changes undo this one.
    const { stored } = aggregator as Reference;
    if (stored !== undefined) stored.isAggregated = true;
    return [true];
  };
}

const isAtLeast: Native = (_, [aggregator, amount]) => [
  (partsOf(referenced(aggregator))[0] as bigint) >= (amount as bigint),
];

const firstField: Native = (_, [structure]) => [partsOf(referenced(structure))[0]];

const snapshot: Native = (_, [aggregator]) => [[partsOf(referenced(aggregator))[0]]];

const refused: Native = () => new NativeAbort(NOT_SUPPORTED_YET);

const readDerived: Native = ({ meter }, [derived]) => [
  [byteVector(meter, new Uint8Array(bytesInside(partsOf(referenced(derived))[0])))],
];

const createDerived: Native = ({ meter }, [value]) => {
  const bytes = bytesInside(value);
  meter.chargeBytes(bytes.length);
  if (bytes.length > MAX_DERIVED_BYTES) return new NativeAbort(STRING_TOO_LONG);
  return [derivedString(meter, bytes, Math.max(unpaddedWidth(bytes.length), MIN_CONSTANT_BYTES))];
};

const concatenated: Native = (context, [before, source, after]) => {
  const [prefix, suffix] = [bytesInside(before), bytesInside(after)];
  context.meter.chargeBytes(prefix.length + suffix.length);
  const around = prefix.length + suffix.length;
  if (around > MAX_DERIVED_BYTES) return new NativeAbort(STRING_TOO_LONG);
  const kind = kindOf(context);
  if (!MAX_VALUES.has(kind)) return new NativeAbort(SNAPSHOT_TYPE_UNSUPPORTED);
  const digits = new TextEncoder().encode(String(partsOf(referenced(source))[0]));
  const bytes = new Uint8Array(around + digits.length);
  bytes.set(prefix);
  bytes.set(digits, prefix.length);
  bytes.set(suffix, prefix.length + digits.length);
  return [derivedString(context.meter, bytes, unpaddedWidth(around + DIGITS.get(kind)!))];
};

/** Bytes that the length of a text takes as ULEB128. */
function lengthBytes(length: number): number {
  return length < 128 ? 1 : 2;
}

/** Size of a derived text of that many bytes with an empty padding. */
function unpaddedWidth(bytes: number): number {
  return bytes + lengthBytes(bytes) + 1;
}

/** `DerivedStringSnapshot`: a text, padded with zeros until its BCS has the given width. */
function derivedString(meter: Meter, bytes: Uint8Array, width: number): Value {
  const padding = new Uint8Array(width - unpaddedWidth(bytes.length));
  return [[byteVector(meter, bytes)], byteVector(meter, padding)];
}

const ADD_OVERFLOW = 0x2_0001;
const SUBTRACT_UNDERFLOW = 0x2_0002;

/** Values of aggregators that are items of a table, as far as a run has accessed them. */
export class TableAggregators {
  readonly values = new Map<string, bigint>();
  /** Values before the run. */
  readonly before = new Map<string, bigint>();
  /** Those whose value code has read or set; the others are changed without being read. */
  readonly read = new Set<string>();
  /** Those that were added to or subtracted from: written even if the changes cancel out. */
  readonly changed = new Set<string>();
}

class NewAggregators {
  count = 0;
}

/** The value of an aggregator: its fields are handle, key and limit. */
function tableValue(context: NativeContext, [handle, key]: readonly Value[]): MaybePromise<bigint> {
  const { values, before } = context.extensions.of(TableAggregators);
  const id = `${handle as Address}${key as Address}`;
  const known = values.get(id);
  if (known !== undefined) return known;
  return andThen(
    context.world.tableItem(handle as Address, addressBytes(key as Address)),
    (bytes) => {
      const value = bytes && readU128(bytes);
      if (value === undefined) {
        const text = 'Could not find the value of the aggregator';
        throw new VmError('VM_EXTENSION_ERROR', { text });
      }
      values.set(id, value);
      before.set(id, value);
      return value;
    },
  );
}

function readU128(bytes: Uint8Array): bigint | undefined {
  try {
    return decodeBcs(bytes, (reader) => reader.u128());
  } catch (error) {
    if (error instanceof BcsError) return undefined;
    throw error;
  }
}

function tableChange(sign: bigint, refusal: number): Native {
  return (context, [aggregator, amount]) => {
    const fields = partsOf(referenced(aggregator));
    return andThen(tableValue(context, fields), (before): NativeResult => {
      const value = before + sign * (amount as bigint);
      if (value < 0n || value > (fields[2] as bigint)) return new NativeAbort(refusal);
      const aggregators = context.extensions.of(TableAggregators);
      aggregators.values.set(`${fields[0]}${fields[1]}`, value);
      aggregators.changed.add(`${fields[0]}${fields[1]}`);
      return [];
    });
  };
}

const tableRead: Native = (context, [aggregator]) => {
  const fields = partsOf(referenced(aggregator));
  context.extensions.of(TableAggregators).read.add(`${fields[0]}${fields[1]}`);
  return andThen(tableValue(context, fields), (value) => [value]);
};

/** Checks whether the item existed, because only then it is deleted. */
const destroyTableAggregator: Native = (context, [aggregator]) => {
  const fields = partsOf(aggregator);
  return andThen(tableValue(context, fields), () => {
    context.extensions.of(TableAggregators).values.delete(`${fields[0]}${fields[1]}`);
    context.extensions.of(TableAggregators).read.add(`${fields[0]}${fields[1]}`);
    return [];
  });
};

/** The factory holds a table, whose only field is its handle. */
const newTableAggregator: Native = (context, [factory, limit]) => {
  const [handle] = partsOf(partsOf(referenced(factory))[0]);
  const aggregators = context.extensions.of(TableAggregators);
  const newAggregators = context.sessionExtensions.of(NewAggregators);
  const key = sessionAddress(context, newAggregators.count);
  newAggregators.count += 1;
  aggregators.values.set(`${handle as Address}${key}`, 0n);
  aggregators.read.add(`${handle as Address}${key}`);
  return [[handle, key, limit]];
};

export const AGGREGATOR_NATIVES: Readonly<Record<string, Native>> = {
  'aggregator_v2::create_aggregator': ofIntegers((_, [max]) => [[0n, max]]),
  'aggregator_v2::create_unbounded_aggregator': ofIntegers(createUnbounded),
  'aggregator_v2::try_add': ofIntegers(changeNative(1n)),
  'aggregator_v2::try_sub': ofIntegers(changeNative(-1n)),
  'aggregator_v2::is_at_least_impl': ofIntegers(isAtLeast),
  'aggregator_v2::read': ofIntegers(firstField),
  'aggregator_v2::snapshot': ofIntegers(snapshot),
  'aggregator_v2::create_snapshot': ofIntegers(
    (_, [value]) => [[value]],
    SNAPSHOT_TYPE_UNSUPPORTED,
  ),
  'aggregator_v2::copy_snapshot': refused,
  'aggregator_v2::read_snapshot': ofIntegers(firstField, SNAPSHOT_TYPE_UNSUPPORTED),
  'aggregator_v2::string_concat': refused,
  'aggregator_v2::read_derived_string': readDerived,
  'aggregator_v2::create_derived_string': createDerived,
  'aggregator_v2::derive_string_concat': concatenated,
  'aggregator::add': tableChange(1n, ADD_OVERFLOW),
  'aggregator::sub': tableChange(-1n, SUBTRACT_UNDERFLOW),
  'aggregator::read': tableRead,
  'aggregator::destroy': destroyTableAggregator,
  'aggregator_factory::new_aggregator': newTableAggregator,
};
