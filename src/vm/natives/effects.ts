/** Natives about events and prints, whose effects a view drops (docs/spec/vm.md §6.5, §8.3). */
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import { BcsError } from '../../move/bcs/bcs-reader.ts';
import { type ContractEvent, EventKey } from '../../move/transactions/event.ts';
import { TypeTag, TypeTagDepthError } from '../../move/types/type-tag.ts';
import { type Native, NativeAbort, type NativeContext, type NativeResult } from '../native.ts';
import { VmError } from '../status/status.ts';
import type { Value } from '../value.ts';
import { encodeValue } from '../value-bcs.ts';
import { bytesOf, stringOf } from './arguments.ts';

const noop: Native = () => [];

/** The events of a run for a transaction, in order. */
export class EmittedEvents {
  readonly events: ContractEvent[] = [];
}

/** Encodes the value of an event. A run for a transaction records the event; a view drops it. */
function emit(
  context: NativeContext,
  value: Value,
  eventOf: (typeTag: TypeTag, data: Buffer) => ContractEvent,
): MaybePromise<NativeResult> {
  const { extensions, meter, observer, program, run, session, typeArguments } = context;
  const [type] = typeArguments;
  return andThen(program.layout(type!), (layout) => {
    const data = encodeValue(layout, value, meter);
    if (session === undefined) return [];
    if (!hasBytes(type!.tag)) return new NativeAbort(CANNOT_CREATE_EVENT);
    const event = eventOf(type!.tag, data);
    extensions.of(EmittedEvents).events.push(event);
    observer?.event?.(run!, event);
    return [];
  });
}

/** `ECANNOT_CREATE_EVENT` of the module `event`. */
const CANNOT_CREATE_EVENT = 1;

/** Whether the type of an event is not nested too deeply. */
function hasBytes(tag: TypeTag): boolean {
  if (tag.kind === 'struct' && tag.struct.typeArguments.length === 0) return true;
  try {
    TypeTag.encode(tag);
    return true;
  } catch (error) {
    if (!(error instanceof TypeTagDepthError)) throw error;
    return false;
  }
}

const handleEvent: Native = (context, [guid, sequenceNumber, value]) =>
  emit(context, value, (typeTag, data) => ({
    kind: 'v1',
    key: eventKeyOf(bytesOf(guid)),
    sequenceNumber: sequenceNumber as bigint,
    typeTag,
    data,
  }));

/** @throws VmError for bytes that are not a key */
function eventKeyOf(bytes: Uint8Array): EventKey {
  try {
    return EventKey.decode(bytes);
  } catch (error) {
    if (error instanceof BcsError) throw new VmError('EVENT_KEY_MISMATCH');
    throw error;
  }
}

/** An event of a module, whose struct that module must declare. */
const moduleEvent: Native = (context, [value]) => {
  const { tag } = context.typeArguments[0]!;
  // The last caller is the function that emits on behalf of another one.
  const emitter = context.callers().at(-2)?.module.id;
  const isOwn =
    tag.kind === 'struct' &&
    emitter?.name === tag.struct.module &&
    emitter.address === tag.struct.address;
  if (!isOwn) throw new VmError('INTERNAL_TYPE_ERROR');
  return emit(context, value, (typeTag, data) => ({ kind: 'v2', typeTag, data }));
};

export const EFFECT_NATIVES: Readonly<Record<string, Native>> = {
  'event::write_to_event_store': handleEvent,
  'event::write_module_event_to_store': moduleEvent,
  'debug::print': noop,
  'debug::print_stack_trace': noop,
  'debug::native_print': noop,
  'debug::native_stack_trace': ({ meter }) => [stringOf(meter, '')],
};
