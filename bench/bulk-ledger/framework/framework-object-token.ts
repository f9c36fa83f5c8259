/**
 * Part 6 of 6: the second token standard, at 0x4, built on objects; some of its module events translate to old event
 * streams (docs/spec/http.md §7.6).
 */
export const OBJECT_TOKEN_MODULES = `
module 0x4::royalty {
  #[resource_group_member(group = 0x1::object::ObjectGroup)]
  struct Royalty has copy, drop, key { numerator: u64, denominator: u64, payee_address: address }

  public fun create(numerator: u64, denominator: u64, payee_address: address): Royalty;
}

module 0x4::collection {
  use 0x1::aggregator_v2::{Aggregator, AggregatorSnapshot};
  use 0x1::object::ConstructorRef;
  use 0x4::royalty::Royalty;
  friend 0x4::token;

  error 2 ECOLLECTION_SUPPLY_EXCEEDED "The collection has reached its supply";

  #[resource_group_member(group = 0x1::object::ObjectGroup)]
  struct Collection has key {
    creator: address,
    description: String,
    name: String,
    uri: String,
    mutation_events: EventHandle<MutationEvent>,
  }
  #[resource_group_member(group = 0x1::object::ObjectGroup)]
  struct FixedSupply has key {
    current_supply: u64,
    max_supply: u64,
    total_minted: u64,
    burn_events: EventHandle<BurnEvent>,
    mint_events: EventHandle<MintEvent>,
  }
  #[resource_group_member(group = 0x1::object::ObjectGroup)]
  struct UnlimitedSupply has key {
    current_supply: u64,
    total_minted: u64,
    burn_events: EventHandle<BurnEvent>,
    mint_events: EventHandle<MintEvent>,
  }
  #[resource_group_member(group = 0x1::object::ObjectGroup)]
  struct ConcurrentSupply has key {
    current_supply: Aggregator<u64>,
    total_minted: Aggregator<u64>,
  }
  struct MutationEvent has drop, store { mutated_field_name: String }
  #[event]
  struct Mutation has drop, store {
    ..MutationEvent,
    collection: Object<Collection>,
    old_value: String,
    new_value: String,
  }
  struct MintEvent has drop, store { index: u64, token: address }
  #[event]
  struct Mint has drop, store {
    collection: address,
    index: AggregatorSnapshot<u64>,
    token: address,
  }
  struct BurnEvent has drop, store { index: u64, token: address }
  #[event]
  struct Burn has drop, store {
    collection: address,
    index: u64,
    token: address,
    previous_owner: address,
  }

  #[view]
  public fun count<T: key>(collection: Object<T>): Option<u64>
    acquires ConcurrentSupply, FixedSupply, UnlimitedSupply {
    let at: address;
    ImmBorrowLoc collection; Call 0x1::object::object_address<T>; StLoc at;
    CopyLoc at; Exists ConcurrentSupply; BrFalse fixed;
    MoveLoc at; ImmBorrowGlobal ConcurrentSupply; ImmBorrowField ConcurrentSupply.current_supply;
    Call 0x1::aggregator_v2::read<u64>; Call 0x1::option::some<u64>; Ret;
  fixed:
    CopyLoc at; Exists FixedSupply; BrFalse unlimited;
    MoveLoc at; ImmBorrowGlobal FixedSupply; ImmBorrowField FixedSupply.current_supply; ReadRef;
    Call 0x1::option::some<u64>; Ret;
  unlimited:
    CopyLoc at; Exists UnlimitedSupply; BrFalse none;
    MoveLoc at; ImmBorrowGlobal UnlimitedSupply; ImmBorrowField UnlimitedSupply.current_supply;
    ReadRef; Call 0x1::option::some<u64>; Ret;
  none:
    Call 0x1::option::none<u64>; Ret;
  }
  #[view]
  public fun creator<T: key>(collection: Object<T>): address acquires Collection {
    ImmBorrowLoc collection; Call 0x1::object::object_address<T>; ImmBorrowGlobal Collection;
    ImmBorrowField Collection.creator; ReadRef; Ret;
  }
  public fun create_collection_address(creator: &address, name: &String): address;
  public fun create_fixed_collection(
    creator: &signer, description: String, max_supply: u64, name: String,
    royalty: Option<Royalty>, uri: String): ConstructorRef;
}

module 0x4::token {
  use 0x1::aggregator_v2::{AggregatorSnapshot, DerivedStringSnapshot};
  use 0x4::collection::Collection;

  #[resource_group_member(group = 0x1::object::ObjectGroup)]
  struct Token has key {
    collection: Object<Collection>,
    index: u64,
    description: String,
    name: String,
    uri: String,
    mutation_events: EventHandle<MutationEvent>,
  }
  #[resource_group_member(group = 0x1::object::ObjectGroup)]
  struct TokenIdentifiers has key {
    index: AggregatorSnapshot<u64>,
    name: DerivedStringSnapshot,
  }
  struct MutationEvent has drop, store {
    mutated_field_name: String,
    old_value: String,
    new_value: String,
  }
  #[event]
  struct Mutation has drop, store { token_address: address, ..MutationEvent }

  #[view]
  public fun creator<T: key>(token: Object<T>): address acquires Token {
    ImmBorrowLoc token; Call 0x1::object::object_address<T>; ImmBorrowGlobal Token;
    ImmBorrowField Token.collection; ReadRef; Call 0x4::collection::creator<Collection>; Ret;
  }
  #[view]
  public fun name<T: key>(token: Object<T>): String acquires Token, TokenIdentifiers {
    let at: address;
    ImmBorrowLoc token; Call 0x1::object::object_address<T>; StLoc at;
    CopyLoc at; Exists TokenIdentifiers; BrFalse plain;
    MoveLoc at; ImmBorrowGlobal TokenIdentifiers; ImmBorrowField TokenIdentifiers.name;
    Call 0x1::aggregator_v2::read_derived_string; Ret;
  plain:
    MoveLoc at; ImmBorrowGlobal Token; ImmBorrowField Token.name; ReadRef; Ret;
  }
  public fun create_token_address(creator: &address, collection: &String, name: &String): address;
}

module 0x4::aptos_token {
  public entry fun create_collection(
    creator: &signer, description: String, max_supply: u64, name: String, uri: String,
    mutable_description: bool, mutable_royalty: bool, mutable_uri: bool,
    mutable_token_description: bool, mutable_token_name: bool, mutable_token_properties: bool,
    mutable_token_uri: bool, tokens_burnable_by_creator: bool, tokens_freezable_by_creator: bool,
    royalty_numerator: u64, royalty_denominator: u64);
  public entry fun mint(
    creator: &signer, collection: String, description: String, name: String, uri: String,
    property_keys: vector<String>, property_types: vector<String>,
    property_values: vector<vector<u8>>);
  public entry fun set_description<T: key>(
    creator: &signer, token: Object<T>, description: String);
  public entry fun burn<T: key>(creator: &signer, token: Object<T>);
}
`;
