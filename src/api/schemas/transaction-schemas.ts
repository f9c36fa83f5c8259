/**
 * Schemas of committed transactions, of blocks with them (docs/spec/transactions.md §2), and of the results of
 * submitting and simulating.
 */
import { type Properties, type Schema, Type } from './json-schema.ts';
import {
  AddressSchema,
  AnyValueSchema,
  closedObject,
  EntryFunctionPayloadSchema,
  ErrorSchema,
  EventGuidSchema,
  HashSchema,
  HexEncodedBytesSchema,
  ModuleBundlePayloadSchema,
  ModuleSchema,
  MoveTypeSchema,
  nullable,
  request,
  ScriptPayloadSchema,
  U64Schema,
  union,
} from './schemas.ts';
import { ByteSchema, TRANSACTION_SIGNATURES } from './submission-schemas.ts';

const IndexSchema = Type.Integer({ minimum: 0 });

/** An object with exactly these members and a member `type` that distinguishes it. */
function variant($id: string, type: string, description: string, members: Properties): Schema {
  return closedObject($id, description, { ...members, type: Type.Literal(type) });
}

const ChangeSchema = union('WriteSetChange', 'A write to the state.', {
  write_module: variant('WriteModule', 'write_module', 'A module was published.', {
    address: AddressSchema,
    state_key_hash: HashSchema,
    data: ModuleSchema,
  }),
  delete_module: variant('DeleteModule', 'delete_module', 'A module was deleted.', {
    address: AddressSchema,
    state_key_hash: HashSchema,
    module: Type.String({ description: '`{address}::{module}`' }),
  }),
  write_resource: variant(
    'WriteResource',
    'write_resource',
    'A resource was written; each member of a group is a change of its own.',
    {
      address: AddressSchema,
      state_key_hash: HashSchema,
      data: closedObject('WrittenResource', 'The resource.', {
        type: Type.String({ description: 'Its type.' }),
        data: Type.Unknown({
          description: 'Its fields by name; hex text where no layout fits the bytes.',
        }),
      }),
    },
  ),
  delete_resource: variant(
    'DeleteResource',
    'delete_resource',
    'A resource, or a whole group, was deleted.',
    {
      address: AddressSchema,
      state_key_hash: HashSchema,
      resource: Type.String({ description: 'Its type, or that of the group.' }),
    },
  ),
  write_table_item: variant('WriteTableItem', 'write_table_item', 'A table item was written.', {
    state_key_hash: HashSchema,
    handle: HexEncodedBytesSchema,
    key: HexEncodedBytesSchema,
    value: HexEncodedBytesSchema,
    data: Type.Null(),
  }),
  delete_table_item: variant('DeleteTableItem', 'delete_table_item', 'A table item was deleted.', {
    state_key_hash: HashSchema,
    handle: HexEncodedBytesSchema,
    key: HexEncodedBytesSchema,
    data: Type.Null(),
  }),
});
const ChangesSchema = Type.Array(ChangeSchema);

const TransactionEventSchema = closedObject('TransactionEvent', 'An event of a transaction.', {
  guid: EventGuidSchema,
  sequence_number: U64Schema,
  type: MoveTypeSchema,
  data: AnyValueSchema,
});
const TransactionEventsSchema = Type.Array(TransactionEventSchema, {
  description: 'In the order of their emission. Module events have creation number 0.',
});

const RawPayloadSchema = variant(
  'RawPayload',
  'daybook_raw_payload',
  'A payload that has no other form, as its BCS.',
  { bcs: HexEncodedBytesSchema },
);

const RUN = {
  entry_function_payload: EntryFunctionPayloadSchema,
  script_payload: ScriptPayloadSchema,
  daybook_raw_payload: RawPayloadSchema,
};

const CommittedMultisigSchema = variant(
  'CommittedMultisigPayload',
  'multisig_payload',
  'A multisig account acted.',
  {
    multisig_address: AddressSchema,
    transaction_payload: nullable(
      union('CommittedMultisigTransactionPayload', 'What it ran.', RUN),
      'Null when the payload is stored on chain.',
    ),
  },
);

const CommittedPayloadSchema = union('CommittedPayload', 'What a transaction ran.', {
  ...RUN,
  multisig_payload: CommittedMultisigSchema,
  module_bundle_payload: ModuleBundlePayloadSchema,
  encrypted_transaction_payload: request(
    'CommittedEncryptedPayload',
    'A payload that was submitted encrypted; decrypted ones also have `decrypted_payload` and `decryption_nonce`.',
    {
      payload_hash: HashSchema,
      ciphertext: HexEncodedBytesSchema,
      encryption_epoch: U64Schema,
      claimed_entry_fun: nullable(
        closedObject('ClaimedEntryFunction', 'What the sender says it calls.', {
          module: Type.String(),
          name: nullable(Type.String(), 'Null: any function of the module.'),
        }),
        'Null: nothing is claimed.',
      ),
      encrypted_state: Type.Enum(['encrypted', 'failed_decryption', 'decrypted']),
      type: Type.Literal('encrypted_transaction_payload'),
    },
  ),
});

const { ed25519_signature, ...otherSignatures } = TRANSACTION_SIGNATURES;
const CommittedSignatureSchema = union('CommittedSignature', 'Who signed a transaction.', {
  ed25519_signature,
  ...otherSignatures,
  single_sender: request(
    'SingleSenderSignature',
    'Of one account, with the members of its kind of signature.',
    { type: Type.Literal('single_sender') },
  ),
});

const MULTIPLIERS = {
  multipliers: closedObject('LimitMultipliers', 'Of the usual limits, in percent.', {
    execution_multiplier_percent: U64Schema,
    io_multiplier_percent: U64Schema,
  }),
};
const LimitsRequestSchema = union('TransactionLimitsRequest', 'A request for higher limits.', {
  stake_pool_owner: variant(
    'StakePoolOwnerRequest',
    'stake_pool_owner',
    'Of the owner of a stake pool.',
    MULTIPLIERS,
  ),
  delegated_voter: variant(
    'DelegatedVoterRequest',
    'delegated_voter',
    'Of the delegated voter of a stake pool.',
    { pool_address: AddressSchema, ...MULTIPLIERS },
  ),
  delegation_pool_delegator: variant(
    'DelegatorRequest',
    'delegation_pool_delegator',
    'Of a delegator of a pool.',
    { pool_address: AddressSchema, ...MULTIPLIERS },
  ),
});

const REQUEST = {
  sender: AddressSchema,
  sequence_number: U64Schema,
  max_gas_amount: U64Schema,
  gas_unit_price: U64Schema,
  expiration_timestamp_secs: U64Schema,
  payload: CommittedPayloadSchema,
  signature: CommittedSignatureSchema,
  replay_protection_nonce: nullable(U64Schema, 'Of an orderless transaction.'),
  txn_limits_request: nullable(LimitsRequestSchema, 'Null without one.'),
};

const INFO = {
  version: U64Schema,
  hash: HashSchema,
  state_change_hash: HashSchema,
  event_root_hash: HashSchema,
  state_checkpoint_hash: nullable(HashSchema, 'At the last transaction of a block.'),
  gas_used: U64Schema,
  success: Type.Boolean(),
  vm_status: Type.String({ description: 'The outcome as text.' }),
  accumulator_root_hash: HashSchema,
  changes: ChangesSchema,
};

const GenesisWriteSetSchema = union('GenesisWriteSet', 'What genesis did.', {
  direct_write_set: variant('DirectWriteSet', 'direct_write_set', 'A given change.', {
    changes: ChangesSchema,
    events: TransactionEventsSchema,
  }),
  script_write_set: variant('ScriptWriteSet', 'script_write_set', 'What a script changes.', {
    execute_as: AddressSchema,
    script: Type.Object({}, { description: 'Code, type arguments and arguments.' }),
  }),
});

const ExtensionSchema = union('BlockMetadataExtension', 'Of later forms of block metadata.', {
  v0: variant('BlockMetadataExtensionV0', 'v0', 'Nothing.', {}),
  v1: variant('BlockMetadataExtensionV1', 'v1', 'Randomness.', {
    randomness: nullable(HexEncodedBytesSchema, 'Null without it.'),
  }),
  v2: variant('BlockMetadataExtensionV2', 'v2', 'Randomness and a key.', {
    randomness: nullable(HexEncodedBytesSchema, 'Null without it.'),
    decryption_key: nullable(HexEncodedBytesSchema, 'Null without it.'),
  }),
});

const UserTransactionSchema = variant(
  'UserTransaction',
  'user_transaction',
  'Sent by an account.',
  { ...INFO, ...REQUEST, events: TransactionEventsSchema, timestamp: U64Schema },
);

export const TransactionSchema = union('Transaction', 'A transaction.', {
  user_transaction: UserTransactionSchema,
  genesis_transaction: variant('GenesisTransaction', 'genesis_transaction', 'The first one.', {
    ...INFO,
    payload: closedObject('GenesisPayload', 'What it did.', {
      write_set: GenesisWriteSetSchema,
      type: Type.Literal('write_set_payload'),
    }),
    events: TransactionEventsSchema,
  }),
  block_metadata_transaction: variant(
    'BlockMetadataTransaction',
    'block_metadata_transaction',
    'Begins a block.',
    {
      ...INFO,
      id: HashSchema,
      epoch: U64Schema,
      round: U64Schema,
      events: TransactionEventsSchema,
      previous_block_votes_bitvec: Type.Array(ByteSchema),
      proposer: AddressSchema,
      failed_proposer_indices: Type.Array(IndexSchema),
      timestamp: U64Schema,
      block_metadata_extension: Type.Optional(ExtensionSchema),
    },
  ),
  state_checkpoint_transaction: variant(
    'StateCheckpointTransaction',
    'state_checkpoint_transaction',
    'Ends a block of older chains.',
    { ...INFO, timestamp: U64Schema },
  ),
  block_epilogue_transaction: variant(
    'BlockEpilogueTransaction',
    'block_epilogue_transaction',
    'Ends a block.',
    {
      ...INFO,
      timestamp: U64Schema,
      block_end_info: closedObject('BlockEndInfo', 'How full the block was.', {
        block_gas_limit_reached: Type.Boolean(),
        block_output_limit_reached: Type.Boolean(),
        block_effective_block_gas_units: IndexSchema,
        block_approx_output_size: IndexSchema,
      }),
    },
  ),
  validator_transaction: request(
    'ValidatorTransaction',
    'Made by validators; `validator_transaction_type` tells which further member there is.',
    {
      ...INFO,
      events: TransactionEventsSchema,
      timestamp: U64Schema,
      validator_transaction_type: Type.Enum([
        'observed_jwk_update',
        'dkg_result',
        'chunky_d_k_g_result',
      ]),
      type: Type.Literal('validator_transaction'),
    },
  ),
  pending_transaction: variant(
    'TransactionInMempool',
    'pending_transaction',
    'Not committed yet; only from an upstream.',
    { hash: HashSchema, ...REQUEST },
  ),
});

export const TransactionsSchema = Type.Array(TransactionSchema);

export const SubmittedSchema = request('PendingTransaction', 'A transaction that was taken.', {
  hash: HashSchema,
  ...REQUEST,
});

export const BatchSubmittedSchema = request(
  'TransactionsBatchSubmissionResult',
  'Which transactions were refused; the others were taken.',
  {
    transaction_failures: Type.Array(
      request('TransactionsBatchSingleSubmissionFailure', 'A transaction that was refused.', {
        error: ErrorSchema,
        transaction_index: IndexSchema,
      }),
    ),
  },
);

export const SimulatedSchema = Type.Array(UserTransactionSchema, {
  description: 'One transaction, as it would have been committed.',
});

export const BlockSchema = closedObject('Block', 'A block.', {
  block_height: U64Schema,
  block_hash: HashSchema,
  block_timestamp: U64Schema,
  first_version: U64Schema,
  last_version: U64Schema,
  transactions: nullable(TransactionsSchema, 'Null unless they are asked for.'),
});
