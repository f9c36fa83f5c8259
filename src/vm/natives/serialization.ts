/** Natives that turn values into BCS and back (docs/spec/vm.md §6.3). */

import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import { BcsError } from '../../move/bcs/bcs-reader.ts';
import { PRIMITIVE_BYTES } from '../../move/bcs/integers.ts';
import type { Layout } from '../../move/values/layout.ts';
import type { Meter } from '../meter.ts';
import { type Native, NativeAbort, type NativeContext } from '../native.ts';
import { type StatusName, VmError } from '../status/status.ts';
import { ByteVector, type Value } from '../value.ts';
import { decodeValue, encodeValue } from '../value-bcs.ts';
import { bytesOf, referenced } from './arguments.ts';
import { optionOf } from './vectors.ts';

const NOT_SERIALIZABLE = 0x1c5;
const BYTES_NOT_READ = 0x1_0001;

const NO_BCS: ReadonlySet<StatusName> = new Set([
  'VM_MAX_VALUE_DEPTH_REACHED',
  'VALUE_SERIALIZATION_ERROR',
]);

/** The BCS of a value; undefined if it has none. */
function serialized(context: NativeContext, value: Value): MaybePromise<Uint8Array | undefined> {
  return andThen(context.program.layout(context.typeArguments[0]!), (layout) => {
    try {
      return encodeValue(layout, value, context.meter);
    } catch (error) {
      if (error instanceof VmError && NO_BCS.has(error.status)) return undefined;
      throw error;
    }
  });
}

const toBytes: Native = (context, [value]) =>
  andThen(serialized(context, referenced(value)), (bytes) => {
    if (bytes === undefined) context.gas.chargeFor('move_stdlib.bcs.to_bytes.failure');
    else context.gas.chargeFor('move_stdlib.bcs.to_bytes.per_byte_serialized', bytes.length);
    return bytes === undefined ? new NativeAbort(NOT_SERIALIZABLE) : [new ByteVector(bytes)];
  });

const serializedSize: Native = (context, [value]) => {
  context.gas.chargeFor('move_stdlib.bcs.serialized_size.base');
  return andThen(serialized(context, referenced(value)), (bytes) => {
    if (bytes === undefined) context.gas.chargeFor('move_stdlib.bcs.serialized_size.failure');
    else context.gas.chargeFor('move_stdlib.bcs.serialized_size.per_byte_serialized', bytes.length);
    return bytes === undefined ? new NativeAbort(NOT_SERIALIZABLE) : [BigInt(bytes.length)];
  });
};

/** The size of all values of a type; undefined if they differ. */
function sizeOf(layout: Layout, meter: Meter): number | undefined {
  meter.charge(1);
  if (layout.kind !== 'struct') return PRIMITIVE_BYTES.get(layout.kind);
  let size = 0;
  for (const field of layout.fields) {
    const part = sizeOf(field.layout, meter);
    if (part === undefined) return undefined;
    size += part;
  }
  return size;
}

const constantSize: Native = (context) =>
  andThen(context.program.layout(context.typeArguments[0]!), (layout) => {
    const size = sizeOf(layout, context.meter);
    return andThen(
      optionOf(context.program, size === undefined ? undefined : BigInt(size)),
      (option) => [option],
    );
  });

const fromBytes: Native = (context, [value]) =>
  andThen(context.program.layout(context.typeArguments[0]!), (layout) => {
    try {
      return [decodeValue(layout, bytesOf(value), context.meter, context.program)];
    } catch (error) {
      const isTooDeep = error instanceof VmError && error.status === 'VM_MAX_VALUE_DEPTH_REACHED';
      if (isTooDeep || error instanceof BcsError) return new NativeAbort(BYTES_NOT_READ);
      throw error;
    }
  });

export const SERIALIZATION_NATIVES: Readonly<Record<string, Native>> = {
  'bcs::to_bytes': toBytes,
  'bcs::serialized_size': serializedSize,
  'bcs::constant_serialized_size': constantSize,
  'util::from_bytes': fromBytes,
  'from_bcs::from_bytes': fromBytes,
};
