/** Schemas of traces (docs/traces.md). */
import { type Schema, Type } from './json-schema.ts';
import {
  AddressSchema,
  AnyValueSchema,
  closedObject,
  HashSchema,
  MoveTypeSchema,
  U64Schema,
} from './schemas.ts';

const InternalGasSchema = Type.Integer({ description: 'Internal gas.', minimum: 0 });
const CountSchema = Type.Integer({ minimum: 0 });
const TextSchema = Type.Optional(Type.String());
const MaybeValueSchema = Type.Optional(AnyValueSchema);
const MaybeAddressSchema = Type.Optional(AddressSchema);

/** The function that is called, or that has failed. */
const FUNCTION = { function: TextSchema };

const CallGasSchema = closedObject('TraceCallGas', 'Gas of a call.', {
  own: InternalGasSchema,
  total: InternalGasSchema,
});

const TraceValueSchema = closedObject('TraceValue', 'An argument or a result.', {
  type: Type.Union([Type.String(), Type.Null()], {
    description: 'Its type, with & or &mut before that of a reference.',
  }),
  value: MaybeValueSchema,
});

/** A recursive schema is referenced by its name. */
const STEPS = Type.Array({ $ref: '#/components/schemas/TraceStep' } as Schema);

const TraceStepSchema = closedObject(
  'TraceStep',
  'A call, an event, or a look at state, told apart by `kind`.',
  {
    kind: Type.Enum(['call', 'event', 'read', 'write']),
    ...FUNCTION,
    type_arguments: Type.Optional(Type.Array(Type.String())),
    is_native: Type.Optional(Type.Boolean()),
    arguments: Type.Optional(Type.Array(TraceValueSchema)),
    results: Type.Optional(Type.Array(TraceValueSchema)),
    calls: Type.Optional(CountSchema),
    aborted: Type.Optional(Type.Boolean()),
    hidden_calls: Type.Optional(CountSchema),
    gas: Type.Optional(CallGasSchema),
    steps: Type.Optional(STEPS),
    operation: TextSchema,
    address: MaybeAddressSchema,
    handle: MaybeAddressSchema,
    key_type: TextSchema,
    key: MaybeValueSchema,
    type: TextSchema,
    exists: Type.Optional(Type.Boolean()),
    data: MaybeValueSchema,
    value: MaybeValueSchema,
    before: MaybeValueSchema,
    after: MaybeValueSchema,
  },
);

const TraceFailureSchema = closedObject('TraceFailure', 'Why and where a part ended early.', {
  status: Type.String({ description: 'The status of the virtual machine.' }),
  code: Type.Optional(U64Schema),
  reason: TextSchema,
  description: TextSchema,
  function: TextSchema,
  offset: Type.Optional(CountSchema),
  instructions: Type.Optional(
    Type.Array(
      closedObject('TraceInstruction', 'An instruction near the one that failed.', {
        offset: CountSchema,
        text: Type.String(),
      }),
    ),
  ),
});

const TracePartSchema = closedObject('TracePart', 'A part of a transaction.', {
  name: Type.Enum(['prologue', 'function', 'intrinsic', 'changes', 'failed', 'epilogue']),
  gas: CallGasSchema,
  failure: Type.Optional(TraceFailureSchema),
  steps: Type.Array(TraceStepSchema),
});

const TraceWriteSchema = closedObject('TraceWrite', 'A value of the state that was written.', {
  state_key_hash: HashSchema,
  kind: Type.Enum(['resource', 'resource_group', 'module', 'table_item', 'other']),
  address: MaybeAddressSchema,
  type: TextSchema,
  group: TextSchema,
  module: TextSchema,
  handle: MaybeAddressSchema,
  raw_key: TextSchema,
  key_type: TextSchema,
  key: MaybeValueSchema,
  before: MaybeValueSchema,
  after: MaybeValueSchema,
  bytes_before: Type.Optional(CountSchema),
  bytes_after: Type.Optional(CountSchema),
  deposit_octas: Type.Optional(
    Type.String({ description: 'Change of what is paid for its storage.', pattern: '^-?[0-9]+$' }),
  ),
});

export const TraceSchema = closedObject('Trace', 'What a run did.', {
  version: U64Schema,
  hash: Type.Optional(HashSchema),
  type: Type.String({ description: 'The type of the transaction; or `view`.' }),
  success: Type.Boolean(),
  vm_status: Type.String(),
  is_recorded: Type.Optional(
    Type.Boolean({ description: 'Whether all came out as the ledger has it.' }),
  ),
  gas: closedObject('TraceGas', 'Gas of all parts; internal gas but for the first and the last.', {
    used: Type.Optional(U64Schema),
    unit: Type.Integer({ description: 'Internal gas of a gas unit.', minimum: 1 }),
    execution: InternalGasSchema,
    io: InternalGasSchema,
    storage: InternalGasSchema,
    storage_fee_octas: U64Schema,
  }),
  parts: Type.Array(TracePartSchema),
  writes: Type.Array(TraceWriteSchema),
  events: Type.Array(
    closedObject('TraceEvent', 'An event of the outcome.', {
      type: MoveTypeSchema,
      data: MaybeValueSchema,
    }),
  ),
  functions: Type.Array(
    closedObject('TraceFunction', 'Gas of all calls of a function.', {
      function: Type.String(),
      calls: CountSchema,
      own: InternalGasSchema,
      total: InternalGasSchema,
    }),
  ),
  instructions: Type.Array(
    closedObject('TraceInstructions', 'Gas of all instructions of a kind.', {
      name: Type.String(),
      count: CountSchema,
      gas: InternalGasSchema,
    }),
  ),
  omitted: closedObject('TraceOmitted', 'What is above the limits of a trace.', {
    steps: CountSchema,
    values: CountSchema,
  }),
});
