/** Schemas of decode submission, an extension of this node (src/ledger/decode/). */
import { Type } from './json-schema.ts';
import { AddressSchema, U64Schema } from './schemas.ts';

/** Body of decode submission. */
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
