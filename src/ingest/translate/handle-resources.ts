/** The resources that contain the old event handles, up to the handles (docs/spec/ledger.md §5.8). */
import type { FieldKind } from './field-kinds.ts';

/** A resource with consecutive event handles. */
export interface HandleResource {
  /** Without type arguments. */
  readonly type: string;
  /** The field of the module event that names the struct of its one type argument. */
  readonly typeArgument?: string;
  readonly inObjectGroup: boolean;
  readonly before: readonly FieldKind[];
  /** Names of the handles in order. */
  readonly handles: readonly string[];
}

export const COIN_STORE: HandleResource = {
  type: '0x1::coin::CoinStore',
  typeArgument: 'coin_type',
  inObjectGroup: false,
  before: ['u64', 'bool'],
  handles: ['deposit_events', 'withdraw_events'],
};

export const ACCOUNT: HandleResource = {
  type: '0x1::account::Account',
  inObjectGroup: false,
  before: ['text', 'u64', 'u64'],
  handles: ['coin_register_events', 'key_rotation_events'],
};

export const OBJECT_CORE: HandleResource = {
  type: '0x1::object::ObjectCore',
  inObjectGroup: true,
  before: ['u64', 'address', 'bool'],
  handles: ['transfer_events'],
};

export const TOKEN: HandleResource = {
  type: '0x4::token::Token',
  inObjectGroup: true,
  before: ['address', 'u64', 'text', 'text', 'text'],
  handles: ['mutation_events'],
};

export const COLLECTION: HandleResource = {
  type: '0x4::collection::Collection',
  inObjectGroup: true,
  before: ['address', 'text', 'text', 'text'],
  handles: ['mutation_events'],
};

export const FIXED_SUPPLY: HandleResource = {
  type: '0x4::collection::FixedSupply',
  inObjectGroup: true,
  before: ['u64', 'u64', 'u64'],
  handles: ['burn_events', 'mint_events'],
};

export const UNLIMITED_SUPPLY: HandleResource = {
  type: '0x4::collection::UnlimitedSupply',
  inObjectGroup: true,
  before: ['u64', 'u64'],
  handles: ['burn_events', 'mint_events'],
};

export const TOKEN_STORE: HandleResource = {
  type: '0x3::token::TokenStore',
  inObjectGroup: false,
  before: ['table', 'bool'],
  handles: ['deposit_events', 'withdraw_events', 'burn_events', 'mutate_token_property_events'],
};

export const COLLECTIONS: HandleResource = {
  type: '0x3::token::Collections',
  inObjectGroup: false,
  before: ['table', 'table'],
  handles: ['create_collection_events', 'create_token_data_events', 'mint_token_events'],
};

export const PENDING_CLAIMS: HandleResource = {
  type: '0x3::token_transfers::PendingClaims',
  inObjectGroup: false,
  before: ['table'],
  handles: ['offer_events', 'cancel_offer_events', 'claim_events'],
};

export const TOKEN_EVENT_STORE: HandleResource = {
  type: '0x3::token_event_store::TokenEventStoreV1',
  inObjectGroup: false,
  before: [],
  handles: [
    'collection_uri_mutate_events',
    'collection_maximum_mutate_events',
    'collection_description_mutate_events',
    'opt_in_events',
    'uri_mutate_events',
    'default_property_mutate_events',
    'description_mutate_events',
    'royalty_mutate_events',
    'maximum_mutate_events',
  ],
};
