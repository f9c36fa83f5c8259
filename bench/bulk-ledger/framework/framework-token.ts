/**
 * Part 5 of 6: the first token standard, at 0x3, whose module events the reference translates to old event streams
 * (docs/spec/http.md §7.6).
 */
export const FIRST_TOKEN_MODULES = `
module 0x3::property_map {
  use 0x1::simple_map::SimpleMap;

  struct PropertyMap has copy, drop, store { map: SimpleMap<String, PropertyValue> }
  struct PropertyValue has copy, drop, store { value: vector<u8>, type: String }

  public fun empty(): PropertyMap;
}

module 0x3::token {
  use 0x3::property_map::PropertyMap;
  friend 0x3::token_transfers;

  error 1 EALREADY_HAS_BALANCE "The token has balance and cannot be initialized";
  error 5 EINSUFFICIENT_BALANCE "Insufficient token balance";

  struct TokenDataId has copy, drop, store { creator: address, collection: String, name: String }
  struct TokenId has copy, drop, store { token_data_id: TokenDataId, property_version: u64 }
  struct Token has store { id: TokenId, amount: u64, token_properties: PropertyMap }
  struct TokenMutabilityConfig has copy, drop, store {
    maximum: bool,
    uri: bool,
    royalty: bool,
    description: bool,
    properties: bool,
  }
  struct CollectionMutabilityConfig has copy, drop, store {
    description: bool,
    uri: bool,
    maximum: bool,
  }
  struct Royalty has copy, drop, store {
    royalty_points_numerator: u64,
    royalty_points_denominator: u64,
    payee_address: address,
  }
  struct TokenData has store {
    maximum: u64,
    largest_property_version: u64,
    supply: u64,
    uri: String,
    royalty: Royalty,
    name: String,
    description: String,
    default_properties: PropertyMap,
    mutability_config: TokenMutabilityConfig,
  }
  struct CollectionData has store {
    description: String,
    name: String,
    uri: String,
    supply: u64,
    maximum: u64,
    mutability_config: CollectionMutabilityConfig,
  }
  struct TokenStore has key {
    tokens: Table<TokenId, Token>,
    direct_transfer: bool,
    deposit_events: EventHandle<DepositEvent>,
    withdraw_events: EventHandle<WithdrawEvent>,
    burn_events: EventHandle<BurnTokenEvent>,
    mutate_token_property_events: EventHandle<MutateTokenPropertyMapEvent>,
  }
  struct Collections has key {
    collection_data: Table<String, CollectionData>,
    token_data: Table<TokenDataId, TokenData>,
    create_collection_events: EventHandle<CreateCollectionEvent>,
    create_token_data_events: EventHandle<CreateTokenDataEvent>,
    mint_token_events: EventHandle<MintTokenEvent>,
  }
  struct DepositEvent has drop, store { id: TokenId, amount: u64 }
  #[event]
  struct TokenDeposit has drop, store { account: address, id: TokenId, amount: u64 }
  struct WithdrawEvent has drop, store { id: TokenId, amount: u64 }
  #[event]
  struct TokenWithdraw has drop, store { account: address, id: TokenId, amount: u64 }
  struct BurnTokenEvent has drop, store { id: TokenId, amount: u64 }
  #[event]
  struct Burn has drop, store { account: address, id: TokenId, amount: u64 }
  struct MutateTokenPropertyMapEvent has drop, store {
    old_id: TokenId,
    new_id: TokenId,
    keys: vector<String>,
    values: vector<vector<u8>>,
    types: vector<String>,
  }
  #[event]
  struct MutatePropertyMap has drop, store { account: address, ..MutateTokenPropertyMapEvent }
  struct MintTokenEvent has drop, store { id: TokenDataId, amount: u64 }
  #[event]
  struct Mint has drop, store { creator: address, id: TokenDataId, amount: u64 }
  struct CreateCollectionEvent has drop, store {
    creator: address,
    collection_name: String,
    uri: String,
    description: String,
    maximum: u64,
  }
  #[event]
  struct CreateCollection has drop, store { ..CreateCollectionEvent }
  struct CreateTokenDataEvent has drop, store {
    id: TokenDataId,
    description: String,
    maximum: u64,
    uri: String,
    royalty_payee_address: address,
    royalty_points_denominator: u64,
    royalty_points_numerator: u64,
    name: String,
    mutability_config: TokenMutabilityConfig,
    property_keys: vector<String>,
    property_values: vector<vector<u8>>,
    property_types: vector<String>,
  }
  #[event]
  struct TokenDataCreation has drop, store { creator: address, ..CreateTokenDataEvent }

  public fun balance_of(owner: address, id: TokenId): u64;
  public fun create_token_id_raw(
    creator: address, collection: String, name: String, property_version: u64): TokenId;
  public entry fun create_collection_script(
    creator: &signer, name: String, description: String, uri: String, maximum: u64,
    mutate_setting: vector<bool>);
  public entry fun mint_script(
    account: &signer, token_data_address: address, collection: String, name: String, amount: u64);
  public entry fun burn(
    owner: &signer, creators_address: address, collection: String, name: String,
    property_version: u64, amount: u64);
  public entry fun opt_in_direct_transfer(account: &signer, opt_in: bool);
}

module 0x3::token_transfers {
  use 0x3::token::{Token, TokenId};

  #[event]
  struct TokenOfferId has copy, drop, store { to_addr: address, token_id: TokenId }
  struct PendingClaims has key {
    pending_claims: Table<TokenOfferId, Token>,
    offer_events: EventHandle<TokenOfferEvent>,
    cancel_offer_events: EventHandle<TokenCancelOfferEvent>,
    claim_events: EventHandle<TokenClaimEvent>,
  }
  #[event]
  struct TokenOfferEvent has drop, store { to_address: address, token_id: TokenId, amount: u64 }
  #[event]
  struct Offer has drop, store { account: address, ..TokenOfferEvent }
  #[event]
  struct TokenCancelOfferEvent has drop, store { ..TokenOfferEvent }
  #[event]
  struct CancelOffer has drop, store { ..Offer }
  #[event]
  struct TokenClaimEvent has drop, store { ..TokenOfferEvent }
  #[event]
  struct Claim has drop, store { ..Offer }

  public entry fun offer_script(
    sender: signer, receiver: address, creator: address, collection: String, name: String,
    property_version: u64, amount: u64);
  public entry fun claim_script(
    receiver: signer, sender: address, creator: address, collection: String, name: String,
    property_version: u64);
}

module 0x3::token_event_store {
  use 0x1::any::Any;
  use 0x3::property_map::PropertyValue;
  friend 0x3::token;

  struct TokenEventStoreV1 has key {
    collection_uri_mutate_events: EventHandle<CollectionUriMutateEvent>,
    collection_maximum_mutate_events: EventHandle<CollectionMaxiumMutateEvent>,
    collection_description_mutate_events: EventHandle<CollectionDescriptionMutateEvent>,
    opt_in_events: EventHandle<OptInTransferEvent>,
    uri_mutate_events: EventHandle<UriMutationEvent>,
    default_property_mutate_events: EventHandle<DefaultPropertyMutateEvent>,
    description_mutate_events: EventHandle<DescriptionMutateEvent>,
    royalty_mutate_events: EventHandle<RoyaltyMutateEvent>,
    maximum_mutate_events: EventHandle<MaxiumMutateEvent>,
    extension: Option<Any>,
  }
  #[event]
  struct CollectionDescriptionMutate has drop, store {
    creator_addr: address,
    collection_name: String,
    old_description: String,
    new_description: String,
  }
  struct CollectionDescriptionMutateEvent has drop, store { ..CollectionDescriptionMutate }
  #[event]
  struct CollectionUriMutate has drop, store {
    creator_addr: address,
    collection_name: String,
    old_uri: String,
    new_uri: String,
  }
  struct CollectionUriMutateEvent has drop, store { ..CollectionUriMutate }
  #[event]
  struct CollectionMaximumMutate has drop, store {
    creator_addr: address,
    collection_name: String,
    old_maximum: u64,
    new_maximum: u64,
  }
  struct CollectionMaxiumMutateEvent has drop, store { ..CollectionMaximumMutate }
  #[event]
  struct UriMutation has drop, store {
    creator: address,
    collection: String,
    token: String,
    old_uri: String,
    new_uri: String,
  }
  struct UriMutationEvent has drop, store { ..UriMutation }
  #[event]
  struct DefaultPropertyMutate has drop, store {
    creator: address,
    collection: String,
    token: String,
    keys: vector<String>,
    old_values: vector<Option<PropertyValue>>,
    new_values: vector<PropertyValue>,
  }
  struct DefaultPropertyMutateEvent has drop, store { ..DefaultPropertyMutate }
  #[event]
  struct DescriptionMutate has drop, store {
    creator: address,
    collection: String,
    token: String,
    old_description: String,
    new_description: String,
  }
  struct DescriptionMutateEvent has drop, store { ..DescriptionMutate }
  #[event]
  struct RoyaltyMutate has drop, store {
    creator: address,
    collection: String,
    token: String,
    old_royalty_numerator: u64,
    old_royalty_denominator: u64,
    old_royalty_payee_addr: address,
    new_royalty_numerator: u64,
    new_royalty_denominator: u64,
    new_royalty_payee_addr: address,
  }
  struct RoyaltyMutateEvent has drop, store { ..RoyaltyMutate }
  #[event]
  struct MaximumMutate has drop, store {
    creator: address,
    collection: String,
    token: String,
    old_maximum: u64,
    new_maximum: u64,
  }
  struct MaxiumMutateEvent has drop, store { ..MaximumMutate }
  #[event]
  struct OptInTransfer has drop, store { account_address: address, opt_in: bool }
  struct OptInTransferEvent has drop, store { opt_in: bool }
}
`;
