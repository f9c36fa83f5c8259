/** Natives whose effects a view drops: events, prints, publishing (docs/spec/vm.md §6.5). */
import { andThen } from '../../maybe-promise.ts';
import { type Native, NativeAbort, type NativeContext } from '../native.ts';
import { encodeValue } from '../values/bcs.ts';
import { VmError } from '../vm-error.ts';
import { stringOf } from './arguments.ts';

const ALREADY_REQUESTED = 0x3_0000;

const nothing: Native = () => [];

/** An event of a handle: its key, sequence number and value. */
const handleEvent: Native = (context, [, , value]) =>
  andThen(context.program.layout(context.typeArguments[0]!), (layout) => {
    encodeValue(layout, value, context.meter);
    return [];
  });

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
  return handleEvent(context, [undefined, undefined, value]);
};

/** A request to publish modules: one in each run. */
const requestPublish: Native = ({ extensions }: NativeContext) => {
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
