/** Natives about events, prints and publishing, whose effects a view drops (docs/spec/vm.md §6.5, §8.3). */
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import { BcsError, decodeBcs } from '../../move/bcs/bcs-reader.ts';
import { type ContractEvent, type EventKey, readEventKey } from '../../move/transactions/event.ts';
import type { TypeTag } from '../../move/types/type-tag.ts';
import {
  missingNative,
  type Native,
  NativeAbort,
  type NativeContext,
  type NativeResult,
} from '../native.ts';
import type { Value } from '../value.ts';
import { encodeValue } from '../values/bcs.ts';
import { VmError } from '../vm-error.ts';
import { bytesOf, stringOf } from './arguments.ts';

const ALREADY_REQUESTED = 0x3_0000;

const nothing: Native = () => [];

/** The events of a run for a transaction, in order. */
export class EmittedEvents {
  readonly events: ContractEvent[] = [];
}

/** Writes an event's value; what is made of it is retained where the run is for a transaction. */
function emit(
  context: NativeContext,
  value: Value,
  eventOf: (typeTag: TypeTag, data: Buffer) => ContractEvent,
): MaybePromise<NativeResult> {
  const { extensions, meter, program, transaction, typeArguments } = context;
  const [type] = typeArguments;
  return andThen(program.layout(type!), (layout) => {
    const data = encodeValue(layout, value, meter);
    if (transaction === undefined) return [];
    let emitted = extensions.get(EmittedEvents) as EmittedEvents | undefined;
    if (emitted === undefined) {
      emitted = new EmittedEvents();
      extensions.set(EmittedEvents, emitted);
    }
    emitted.events.push(eventOf(type!.tag, data));
    return [];
  });
}

/** An event of a handle: the BCS of its key, sequence number and value. */
const handleEvent: Native = (context, [guid, sequenceNumber, value]) =>
  emit(context, value, (typeTag, data) => ({
    kind: 'v1',
    key: eventKeyOf(bytesOf(guid)),
    sequenceNumber: sequenceNumber as bigint,
    typeTag,
    data,
  }));

/** @throws VmError for bytes that are no key */
function eventKeyOf(bytes: Uint8Array): EventKey {
  try {
    return decodeBcs(bytes, readEventKey);
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

/** A request to publish modules: one in each view. What a transaction would publish is not worked out. */
const requestPublish: Native = ({ extensions, transaction }: NativeContext) => {
  if (transaction !== undefined) throw missingNative('code', 'request_publish');
  if (extensions.has(requestPublish)) return new NativeAbort(ALREADY_REQUESTED);
  extensions.set(requestPublish, true);
  return [];
};

export const EFFECT_NATIVES: Readonly<Record<string, Native>> = {
  'event::write_to_event_store': handleEvent,
  'event::write_module_event_to_store': moduleEvent,
  'debug::print': nothing,
  'debug::print_stack_trace': nothing,
  'debug::native_print': nothing,
  'debug::native_stack_trace': ({ meter }) => [stringOf(meter, '')],
  'code::request_publish': requestPublish,
  'code::request_publish_with_allowed_deps': requestPublish,
};
