/**
 * Part 4 of 6: objects, coins and fungible assets at 0x1 (layouts: docs/spec/ledger.md §5.10, docs/spec/http.md §9.5).
 */
export const ASSET_MODULES = `
module 0x1::object {
  friend 0x1::coin;
  friend 0x1::primary_fungible_store;

  error 1 EOBJECT_EXISTS "An object already exists at this address";
  error 2 EOBJECT_DOES_NOT_EXIST "An object does not exist at this address";
  error 4 ENOT_OBJECT_OWNER "The caller does not have ownership permissions";

  #[resource_group(scope = global)]
  struct ObjectGroup {}
  #[resource_group_member(group = 0x1::object::ObjectGroup)]
  struct ObjectCore has key {
    guid_creation_num: u64,
    owner: address,
    allow_ungated_transfer: bool,
    transfer_events: EventHandle<TransferEvent>,
  }
  #[resource_group_member(group = 0x1::object::ObjectGroup)]
  struct Untransferable has key {}
  #[resource_group_member(group = 0x1::object::ObjectGroup)]
  struct TombStone has key { original_owner: address }
  struct Object<phantom T> has copy, drop, store { inner: address }
  struct ConstructorRef has drop { self: address, can_delete: bool }
  struct DeleteRef has drop, store { self: address }
  struct DeriveRef has drop, store { self: address }
  struct ExtendRef has drop, store { self: address }
  struct TransferRef has drop, store { self: address }
  struct LinearTransferRef has drop { self: address, owner: address }
  #[event]
  struct Transfer has drop, store { object: address, from: address, to: address }
  struct TransferEvent has drop, store { object: address, from: address, to: address }

  #[view]
  public fun owner<T: key>(object: Object<T>): address;
  public fun is_object(object: address): bool;
  #[view]
  public fun is_owner<T: key>(object: Object<T>, owner: address): bool;
  public fun address_to_object<T: key>(object: address): Object<T>;
  public fun create_named_object(creator: &signer, seed: vector<u8>): ConstructorRef;
  public fun generate_signer(ref: &ConstructorRef): signer;
  public entry fun transfer<T: key>(owner: &signer, object: Object<T>, to: address);
  public entry fun transfer_call(owner: &signer, object: address, to: address);
  public(friend) fun create_user_derived_object(
    creator_address: address, derive_ref: &DeriveRef): ConstructorRef;
}

module 0x1::coin {
  use 0x1::fungible_asset::{BurnRef, FungibleAsset, Metadata, MintRef, TransferRef};
  use 0x1::optional_aggregator::OptionalAggregator;
  use 0x1::type_info::TypeInfo;
  friend 0x1::aptos_account;
  friend 0x1::aptos_coin;
  friend 0x1::genesis;
  friend 0x1::transaction_fee;

  error 5 ECOIN_STORE_NOT_PUBLISHED "Account holds no store for this coin";
  error 6 EINSUFFICIENT_BALANCE "Not enough coins to complete transaction";
  error 10 EFROZEN "CoinStore is frozen. Coins cannot be deposited or withdrawn";

  struct Coin<phantom CoinType> has store { value: u64 }
  struct CoinStore<phantom CoinType> has key {
    coin: Coin<CoinType>,
    frozen: bool,
    deposit_events: EventHandle<DepositEvent>,
    withdraw_events: EventHandle<WithdrawEvent>,
  }
  struct CoinInfo<phantom CoinType> has key {
    name: String,
    symbol: String,
    decimals: u8,
    supply: Option<OptionalAggregator>,
  }
  struct SupplyConfig has key { allow_upgrades: bool }
  struct CoinConversionMap has key {
    coin_to_fungible_asset_map: Table<TypeInfo, Object<Metadata>>,
  }
  struct BurnCapability<phantom CoinType> has copy, store {}
  struct FreezeCapability<phantom CoinType> has copy, store {}
  struct MintCapability<phantom CoinType> has copy, store {}
  #[resource_group_member(group = 0x1::object::ObjectGroup)]
  struct MigrationFlag has key {}
  #[resource_group_member(group = 0x1::object::ObjectGroup)]
  struct PairedCoinType has key { type: TypeInfo }
  #[resource_group_member(group = 0x1::object::ObjectGroup)]
  struct PairedFungibleAssetRefs has key {
    mint_ref_opt: Option<MintRef>,
    transfer_ref_opt: Option<TransferRef>,
    burn_ref_opt: Option<BurnRef>,
  }
  #[event]
  struct CoinDeposit has drop, store { coin_type: String, account: address, amount: u64 }
  #[event]
  struct CoinWithdraw has drop, store { coin_type: String, account: address, amount: u64 }
  struct DepositEvent has drop, store { amount: u64 }
  struct WithdrawEvent has drop, store { amount: u64 }
  #[event]
  struct PairCreation has drop, store {
    coin_type: TypeInfo,
    fungible_asset_metadata_address: address,
  }
  #[event]
  struct CoinStoreDeletion has drop, store {
    coin_type: String,
    event_handle_creation_address: address,
    deleted_deposit_event_handle_creation_number: u64,
    deleted_withdraw_event_handle_creation_number: u64,
  }

  #[view]
  public fun balance<CoinType>(owner: address): u64;
  #[view]
  public fun name<CoinType>(): String;
  #[view]
  public fun symbol<CoinType>(): String;
  #[view]
  public fun decimals<CoinType>(): u8;
  #[view]
  public fun supply<CoinType>(): Option<u128>;
  #[view]
  public fun paired_metadata<CoinType>(): Option<Object<Metadata>>;
  #[view]
  public fun is_account_registered<CoinType>(account: address): bool;
  public entry fun transfer<CoinType>(from: &signer, to: address, amount: u64);
  public entry fun migrate_to_fungible_store<CoinType>(account: &signer);
  public fun coin_to_fungible_asset<CoinType>(coin: Coin<CoinType>): FungibleAsset;
  public fun deposit<CoinType>(account: address, coin: Coin<CoinType>);
  public fun withdraw<CoinType>(account: &signer, amount: u64): Coin<CoinType>;
  public fun merge<CoinType>(into: &mut Coin<CoinType>, coin: Coin<CoinType>);
  public fun register<CoinType>(account: &signer);
  public fun value<CoinType>(coin: &Coin<CoinType>): u64;
  public fun initialize<CoinType>(
    account: &signer, name: String, symbol: String, decimals: u8, monitor_supply: bool,
  ): (BurnCapability<CoinType>, FreezeCapability<CoinType>, MintCapability<CoinType>);
  public fun mint<CoinType>(amount: u64, cap: &MintCapability<CoinType>): Coin<CoinType>;
  public fun burn<CoinType>(coin: Coin<CoinType>, cap: &BurnCapability<CoinType>);
  public(friend) fun burn_from_for_gas<CoinType>(
    account: address, amount: u64, cap: &BurnCapability<CoinType>);
}

module 0x1::aptos_coin {
  use 0x1::coin::MintCapability;
  friend 0x1::genesis;

  struct AptosCoin has key {}
  struct MintCapStore has key { mint_cap: MintCapability<AptosCoin> }

  public entry fun mint(account: &signer, dst_addr: address, amount: u64);
  public fun has_mint_capability(account: &signer): bool;
}

module 0x1::fungible_asset {
  use 0x1::aggregator_v2::Aggregator;
  friend 0x1::aptos_account;
  friend 0x1::coin;
  friend 0x1::primary_fungible_store;

  error 3 ESTORE_IS_FROZEN "Store is disabled from sending and receiving this fungible asset.";
  error 4 EINSUFFICIENT_BALANCE "Insufficient balance to withdraw or transfer.";

  #[resource_group_member(group = 0x1::object::ObjectGroup)]
  struct Metadata has copy, drop, key {
    name: String,
    symbol: String,
    decimals: u8,
    icon_uri: String,
    project_uri: String,
  }
  #[resource_group_member(group = 0x1::object::ObjectGroup)]
  struct Supply has key { current: u128, maximum: Option<u128> }
  #[resource_group_member(group = 0x1::object::ObjectGroup)]
  struct ConcurrentSupply has key { current: Aggregator<u128> }
  #[resource_group_member(group = 0x1::object::ObjectGroup)]
  struct FungibleStore has key { metadata: Object<Metadata>, balance: u64, frozen: bool }
  #[resource_group_member(group = 0x1::object::ObjectGroup)]
  struct ConcurrentFungibleBalance has key { balance: Aggregator<u64> }
  #[resource_group_member(group = 0x1::object::ObjectGroup)]
  struct Untransferable has key {}
  struct FungibleAsset { metadata: Object<Metadata>, amount: u64 }
  struct BurnRef has drop, store { metadata: Object<Metadata> }
  struct MintRef has drop, store { metadata: Object<Metadata> }
  struct TransferRef has drop, store { metadata: Object<Metadata> }
  #[event]
  struct Creation has drop, store { metadata: address, ..Metadata, maximum_supply: Option<u128> }
  #[event]
  struct Deposit has drop, store { store: address, amount: u64 }
  #[event]
  struct Withdraw has drop, store { store: address, amount: u64 }
  #[event]
  struct Frozen has drop, store { store: address, frozen: bool }

  #[view]
  public fun balance<T: key>(store: Object<T>): u64;
  #[view]
  public fun supply<T: key>(metadata: Object<T>): Option<u128>;
  #[view]
  public fun name<T: key>(metadata: Object<T>): String;
  #[view]
  public fun symbol<T: key>(metadata: Object<T>): String;
  #[view]
  public fun decimals<T: key>(metadata: Object<T>): u8;
  #[view]
  public fun metadata<T: key>(metadata: Object<T>): Metadata;
  #[view]
  public fun is_frozen<T: key>(store: Object<T>): bool;
  public entry fun transfer<T: key>(
    sender: &signer, from: Object<T>, to: Object<T>, amount: u64);
  public entry fun upgrade_store_to_concurrent<T: key>(owner: &signer, store: Object<T>);
  public fun withdraw<T: key>(owner: &signer, store: Object<T>, amount: u64): FungibleAsset;
  public fun deposit<T: key>(store: Object<T>, asset: FungibleAsset);
  public fun amount(asset: &FungibleAsset): u64;
  public fun mint(ref: &MintRef, amount: u64): FungibleAsset;
  public fun burn(ref: &BurnRef, asset: FungibleAsset);
}

module 0x1::primary_fungible_store {
  use 0x1::fungible_asset::{FungibleAsset, FungibleStore};
  use 0x1::object::DeriveRef;

  #[resource_group_member(group = 0x1::object::ObjectGroup)]
  struct DeriveRefPod has key { metadata_derive_ref: DeriveRef }

  #[view]
  public fun balance<T: key>(account: address, metadata: Object<T>): u64;
  #[view]
  public fun primary_store_exists<T: key>(account: address, metadata: Object<T>): bool;
  #[view]
  public fun primary_store_address<T: key>(owner: address, metadata: Object<T>): address;
  public fun ensure_primary_store_exists<T: key>(
    owner: address, metadata: Object<T>): Object<FungibleStore>;
  public entry fun transfer<T: key>(
    sender: &signer, metadata: Object<T>, recipient: address, amount: u64);
  public fun withdraw<T: key>(owner: &signer, metadata: Object<T>, amount: u64): FungibleAsset;
  public fun deposit(owner: address, asset: FungibleAsset);
}
`;
