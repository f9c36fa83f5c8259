/** Schemas of requests to submit or simulate transactions (docs/spec/transactions.md §2.9, §9.1). */
import { type Properties, type Schema, Type } from './json-schema.ts';
import {
  AddressSchema,
  AnyValueSchema,
  EntryFunctionIdSchema,
  HexEncodedBytesSchema,
  MoveTypeSchema,
  request,
  TRANSACTION_REQUEST_MEMBERS,
  union,
} from './schemas.ts';

export const ByteSchema = Type.Integer({ format: 'uint8', minimum: 0, maximum: 255 });

function signature($id: string, type: string, description: string, members: Properties): Schema {
  return request($id, description, { type: Type.Literal(type), ...members });
}

const Ed25519Schema = signature('Ed25519Signature', 'ed25519_signature', 'Of one Ed25519 key.', {
  public_key: HexEncodedBytesSchema,
  signature: HexEncodedBytesSchema,
});
const MultiEd25519Schema = signature(
  'MultiEd25519Signature',
  'multi_ed25519_signature',
  'Of several Ed25519 keys.',
  {
    public_keys: Type.Array(HexEncodedBytesSchema),
    signatures: Type.Array(HexEncodedBytesSchema),
    threshold: ByteSchema,
    bitmap: HexEncodedBytesSchema,
  },
);
const NoAccountSchema = signature(
  'NoAccountSignature',
  'no_account_signature',
  'None: to simulate only.',
  {},
);

function anyScheme($id: string, types: readonly string[]): Schema {
  const members = { type: Type.Enum(types), value: HexEncodedBytesSchema };
  return request($id, 'Of any scheme.', members);
}

const PublicKeySchema = anyScheme('PublicKey', [
  'ed25519',
  'secp256k1_ecdsa',
  'secp256r1_ecdsa',
  'keyless',
  'federated_keyless',
  'slh_dsa__sha2_128s',
]);
const SignatureSchema = anyScheme('Signature', [
  'ed25519',
  'secp256k1_ecdsa',
  'web_authn',
  'keyless',
  'slh_dsa__sha2_128s',
]);

const AccountSignatureSchema = union('AccountSignature', 'The signature of one account.', {
  ed25519_signature: Ed25519Schema,
  multi_ed25519_signature: MultiEd25519Schema,
  single_key_signature: signature(
    'SingleKeySignature',
    'single_key_signature',
    'Of one key of any scheme.',
    { public_key: PublicKeySchema, signature: SignatureSchema },
  ),
  multi_key_signature: signature(
    'MultiKeySignature',
    'multi_key_signature',
    'Of several keys of any scheme.',
    {
      public_keys: Type.Array(PublicKeySchema),
      signatures: Type.Array(
        request('IndexedSignature', 'The signature of one of the keys.', {
          index: ByteSchema,
          signature: SignatureSchema,
        }),
      ),
      signatures_required: ByteSchema,
    },
  ),
  no_account_signature: NoAccountSchema,
  abstract_signature: signature(
    'AbstractSignature',
    'abstract_signature',
    'Checked by a function of the account’s choice.',
    { function_info: Type.String(), auth_data: HexEncodedBytesSchema },
  ),
});

const SIGNERS = {
  sender: AccountSignatureSchema,
  secondary_signer_addresses: Type.Array(AddressSchema),
  secondary_signers: Type.Array(AccountSignatureSchema),
};

export const TRANSACTION_SIGNATURES = {
  ed25519_signature: Ed25519Schema,
  multi_ed25519_signature: MultiEd25519Schema,
  multi_agent_signature: signature(
    'MultiAgentSignature',
    'multi_agent_signature',
    'Of several accounts.',
    SIGNERS,
  ),
  fee_payer_signature: signature(
    'FeePayerSignature',
    'fee_payer_signature',
    'Of several accounts, one of which pays.',
    { ...SIGNERS, fee_payer_address: AddressSchema, fee_payer_signer: AccountSignatureSchema },
  ),
};

const TransactionSignatureSchema = union('TransactionSignature', 'Who signed a transaction.', {
  ...TRANSACTION_SIGNATURES,
  no_account_signature: NoAccountSchema,
});

export const SubmitRequestSchema = request(
  'SubmitTransactionRequest',
  'A transaction with its signature.',
  { ...TRANSACTION_REQUEST_MEMBERS, signature: TransactionSignatureSchema },
);

export const SubmitRequestsSchema = Type.Array(SubmitRequestSchema);

export const ViewRequestSchema = {
  ...request('ViewRequest', 'A call of a view function.', {
    function: EntryFunctionIdSchema,
    type_arguments: Type.Array(MoveTypeSchema),
    arguments: Type.Array(AnyValueSchema),
  }),
  examples: [
    {
      function: '0x1::coin::symbol',
      type_arguments: ['0x1::aptos_coin::AptosCoin'],
      arguments: [],
    },
  ],
};

export const ViewValuesSchema = Type.Array(AnyValueSchema, {
  $id: 'ViewValues',
  description: 'The values that a view function returns, each in the form of its type.',
});
