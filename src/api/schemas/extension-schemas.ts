/** Schemas of extensions (docs/extensions.md); schemas.ts has those of the reference's API. */
import { Type } from './json-schema.ts';
import {
  AddressSchema,
  AnyValueSchema,
  AssetTypeSchema,
  closedObject,
  EventGuidSchema,
  MoveTypeSchema,
  optional,
  request,
  U64Schema,
} from './schemas.ts';

export const ReadinessSchema = closedObject(
  'ReadinessSuccess',
  'The node is ready, and so many seconds behind.',
  {
    message: Type.String(),
    lag_seconds: U64Schema,
  },
);

export const SnapshotListSchema = Type.Array(
  closedObject('OfferedSnapshot', 'A snapshot that the node offers.', {
    name: Type.String({ description: 'The folder of its files.' }),
    chain_id: Type.Integer({ minimum: 0, maximum: 255 }),
    version: U64Schema,
    newest_version: U64Schema,
    timestamp_usecs: U64Schema,
  }),
);

const HeldBalanceSchema = closedObject('HeldBalance', 'What an account has of an asset.', {
  asset_type: AssetTypeSchema,
  metadata: AddressSchema,
  amount: U64Schema,
  name: Type.Optional(Type.String({ description: 'Absent where the ledger does not say it.' })),
  symbol: Type.Optional(Type.String()),
  decimals: Type.Optional(Type.Integer({ format: 'uint8', minimum: 0, maximum: 255 })),
});

export const HeldBalancesSchema = Type.Array(HeldBalanceSchema, {
  description: 'Assets by the addresses of their metadata.',
});

const TypedEventSchema = closedObject(
  'TypedEvent',
  'A module event as in its transaction, with its place in the ledger.',
  {
    version: U64Schema,
    index: Type.Integer({
      description: 'Its place among the events of its transaction.',
      format: 'uint32',
      minimum: 0,
      maximum: 2 ** 32 - 1,
    }),
    guid: EventGuidSchema,
    sequence_number: U64Schema,
    type: MoveTypeSchema,
    data: AnyValueSchema,
  },
);

export const TypedEventsSchema = Type.Array(TypedEventSchema, {
  description: 'Events of the type in the order of the ledger.',
});

export const BalanceHistorySchema = Type.Array(
  closedObject('BalanceChange', 'A version that changed a balance.', {
    version: U64Schema,
    amount: U64Schema,
    timestamp: U64Schema,
  }),
  { description: 'Changes by their versions, in the order that was asked for.' },
);

export const VersionAtTimeSchema = closedObject('VersionAtTime', 'A version and its block.', {
  version: U64Schema,
  timestamp: U64Schema,
  block_height: U64Schema,
  epoch: U64Schema,
});

export const SigningMessageSchema = Type.String({
  $id: 'SigningMessage',
  description: 'The bytes that signers sign, in hex; `0x` optional.',
  format: 'hex',
  pattern: '^(0x)?([0-9a-fA-F]{2})*$',
});

const WarningSchema = Type.Object(
  {
    code: Type.String({ description: 'What to know, for programs.', examples: ['other_chain'] }),
    message: Type.String({ description: 'What to know, for people.' }),
  },
  { $id: 'DecodedSubmissionWarning', description: 'Something to know before signing.' },
);

const NotesSchema = Type.Object(
  {
    encodes_back: Type.Boolean({
      description: 'Whether encode submission makes exactly the decoded bytes of this object.',
    }),
    signing_scheme: Type.Enum(['single_signer', 'multi_agent', 'fee_payer']),
    fee_payer_address: Type.Optional(AddressSchema),
    replay_protection: Type.Enum(['sequence_number', 'nonce']),
    chain_id: Type.Integer({ format: 'uint8', minimum: 0, maximum: 255 }),
    max_fee_octas: Type.String({
      description: 'Gas amount times gas price: the most that can be paid for gas.',
      pattern: '^[0-9]+$',
    }),
    expires_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'The expiration as a date; null beyond the year 275760.',
    }),
    parameter_types: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Declared types of the parameters that the arguments stand for.',
      }),
    ),
    warnings: Type.Array(WarningSchema),
  },
  {
    $id: 'DecodedSubmissionNotes',
    description: 'What the bytes alone do not tell, and what the request object cannot say.',
  },
);

const RAW_FORMS =
  'What the request has no form for stands as bytes: a payload as `{"type":"daybook_raw_payload",' +
  '"bcs":"0x…"}`, an argument as `{"daybook_raw":"0x…"}` (with `daybook_value` where its meaning is ' +
  'known), a type argument as `daybook_raw:0x…`. Encode submission refuses these.';

/** Answer of decode submission: a request with notes. */
export const DecodedSubmissionSchema = Type.Object(
  {
    sender: AddressSchema,
    sequence_number: U64Schema,
    max_gas_amount: U64Schema,
    gas_unit_price: U64Schema,
    expiration_timestamp_secs: U64Schema,
    payload: Type.Object(
      { type: Type.String() },
      { description: `The payload of a request. ${RAW_FORMS}` },
    ),
    replay_protection_nonce: Type.Optional(U64Schema),
    secondary_signers: Type.Optional(Type.Array(AddressSchema)),
    daybook_notes: NotesSchema,
  },
  {
    $id: 'DecodedSubmission',
    description: 'A request for encode submission, which ignores the notes in it.',
  },
);

export const MAX_BATCH_READS = 256;

const BatchedReadSchema = request('BatchedRead', 'One read of a batch.', {
  path: Type.String({
    description: 'Path and query, as of a request of its own.',
    examples: ['/v1/accounts/0x1'],
  }),
  accept: optional(Type.String(), 'Media type of its answer; absent: that of the batch.'),
  body: Type.Optional({ ...AnyValueSchema, description: 'JSON to post; absent or null: GET.' }),
});

export const BatchRequestSchema = request('BatchRequest', 'Reads to answer at one version.', {
  requests: Type.Array(BatchedReadSchema, { maxItems: MAX_BATCH_READS }),
});

const BatchedAnswerSchema = Type.Object(
  {
    status: Type.Integer({ minimum: 200, maximum: 599 }),
    content_type: Type.String(),
    body: Type.Unknown({ description: 'JSON as it is, BCS as the text of its hex.' }),
    cursor: Type.Optional(Type.String({ description: 'Where the next page begins.' })),
  },
  { $id: 'BatchedAnswer', description: 'The answer to one read.', additionalProperties: false },
);

export const BatchAnswersSchema = closedObject('BatchAnswers', 'The answers, in order.', {
  ledger_version: U64Schema,
  responses: Type.Array(BatchedAnswerSchema),
});
