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
  public fun owner<T: key>(object: Object<T>): address acquires ObjectCore {
    let at: address;
    ImmBorrowLoc object; Call object_address<T>; StLoc at;
    CopyLoc at; Exists ObjectCore; BrTrue found;
    LdU64 6; LdU64 2; Call 0x1::error::canonical; Abort;
  found:
    MoveLoc at; ImmBorrowGlobal ObjectCore; ImmBorrowField ObjectCore.owner; ReadRef; Ret;
  }
  public fun is_object(object: address): bool {
    MoveLoc object; Exists ObjectCore; Ret;
  }
  #[view]
  public fun is_owner<T: key>(object: Object<T>, owner: address): bool acquires ObjectCore {
    MoveLoc object; Call owner<T>; MoveLoc owner; Eq; Ret;
  }
  public fun object_address<T: key>(object: &Object<T>): address {
    MoveLoc object; ImmBorrowField Object<T>.inner; ReadRef; Ret;
  }
  public fun create_user_derived_object_address(source: address, derive_from: address): address {
    MoveLoc source; MoveLoc derive_from; Call create_user_derived_object_address_impl; Ret;
  }
  native fun create_user_derived_object_address_impl(
    source: address, derive_from: address): address;
  public fun address_to_object<T: key>(object: address): Object<T> {
    CopyLoc object; Exists ObjectCore; BrTrue found;
    LdU64 6; LdU64 2; Call 0x1::error::canonical; Abort;
  found:
    MoveLoc object; Pack Object<T>; Ret;
  }
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

  error 3 ECOIN_INFO_NOT_PUBLISHED "There is no coin of this type";
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
  public fun balance<CoinType>(owner: address): u64 acquires CoinConversionMap, CoinStore {
    let paired: Option<Object<Metadata>>;
    let amount: u64;
    Call paired_metadata<CoinType>; StLoc paired;
    LdU64 0; StLoc amount;
    CopyLoc owner; Exists CoinStore<CoinType>; BrFalse asset;
    CopyLoc owner; ImmBorrowGlobal CoinStore<CoinType>; ImmBorrowField CoinStore<CoinType>.coin;
    ImmBorrowField Coin<CoinType>.value; ReadRef; StLoc amount;
  asset:
    ImmBorrowLoc paired; Call 0x1::option::is_some<Object<Metadata>>; BrFalse done;
    MoveLoc amount; MoveLoc owner;
    ImmBorrowLoc paired; Call 0x1::option::borrow<Object<Metadata>>; ReadRef;
    Call 0x1::primary_fungible_store::balance<Metadata>; Add; Ret;
  done:
    MoveLoc amount; Ret;
  }
  #[view]
  public fun name<CoinType>(): String acquires CoinInfo {
    Call coin_address<CoinType>; ImmBorrowGlobal CoinInfo<CoinType>;
    ImmBorrowField CoinInfo<CoinType>.name; ReadRef; Ret;
  }
  #[view]
  public fun symbol<CoinType>(): String acquires CoinInfo {
    Call coin_address<CoinType>; ImmBorrowGlobal CoinInfo<CoinType>;
    ImmBorrowField CoinInfo<CoinType>.symbol; ReadRef; Ret;
  }
  #[view]
  public fun decimals<CoinType>(): u8 acquires CoinInfo {
    Call coin_address<CoinType>; ImmBorrowGlobal CoinInfo<CoinType>;
    ImmBorrowField CoinInfo<CoinType>.decimals; ReadRef; Ret;
  }
  #[view]
  public fun supply<CoinType>(): Option<u128> acquires CoinConversionMap, CoinInfo {
    let tracked: &Option<OptionalAggregator>;
    let paired: Option<Object<Metadata>>;
    let asset: Option<u128>;
    let amount: u128;
    Call coin_address<CoinType>; ImmBorrowGlobal CoinInfo<CoinType>;
    ImmBorrowField CoinInfo<CoinType>.supply; StLoc tracked;
    CopyLoc tracked; Call 0x1::option::is_some<OptionalAggregator>; BrFalse none;
    MoveLoc tracked; Call 0x1::option::borrow<OptionalAggregator>;
    Call 0x1::optional_aggregator::read; StLoc amount;
    Call paired_metadata<CoinType>; StLoc paired;
    ImmBorrowLoc paired; Call 0x1::option::is_some<Object<Metadata>>; BrFalse done;
    ImmBorrowLoc paired; Call 0x1::option::borrow<Object<Metadata>>; ReadRef;
    Call 0x1::fungible_asset::supply<Metadata>; StLoc asset;
    MoveLoc amount; ImmBorrowLoc asset; Call 0x1::option::borrow<u128>; ReadRef; Add; StLoc amount;
  done:
    MoveLoc amount; Call 0x1::option::some<u128>; Ret;
  none:
    MoveLoc tracked; Pop; Call 0x1::option::none<u128>; Ret;
  }
  #[view]
  public fun paired_metadata<CoinType>(): Option<Object<Metadata>> acquires CoinConversionMap {
    let map: &Table<TypeInfo, Object<Metadata>>;
    let coin: TypeInfo;
    LdConst address 0x1; Exists CoinConversionMap; BrFalse none;
    LdConst address 0x1; ImmBorrowGlobal CoinConversionMap;
    ImmBorrowField CoinConversionMap.coin_to_fungible_asset_map; StLoc map;
    Call 0x1::type_info::type_of<CoinType>; StLoc coin;
    CopyLoc map; CopyLoc coin; Call 0x1::table::contains<TypeInfo, Object<Metadata>>; BrFalse none;
    MoveLoc map; MoveLoc coin; Call 0x1::table::borrow<TypeInfo, Object<Metadata>>; ReadRef;
    Call 0x1::option::some<Object<Metadata>>; Ret;
  none:
    Call 0x1::option::none<Object<Metadata>>; Ret;
  }
  #[view]
  public fun is_account_registered<CoinType>(account: address): bool {
    Call coin_address<CoinType>; Exists CoinInfo<CoinType>; BrTrue yes;
    LdU64 1; LdU64 3; Call 0x1::error::canonical; Abort;
  yes:
    LdTrue; Ret;
  }
  fun coin_address<CoinType>(): address {
    let coin: TypeInfo;
    Call 0x1::type_info::type_of<CoinType>; StLoc coin;
    ImmBorrowLoc coin; Call 0x1::type_info::account_address; Ret;
  }
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
  public fun balance<T: key>(store: Object<T>): u64
    acquires ConcurrentFungibleBalance, FungibleStore {
    let at: address;
    let amount: u64;
    ImmBorrowLoc store; Call 0x1::object::object_address<T>; StLoc at;
    CopyLoc at; Call store_exists; BrTrue found;
    LdU64 6; LdU64 23; Call 0x1::error::canonical; Abort;
  found:
    CopyLoc at; ImmBorrowGlobal FungibleStore; ImmBorrowField FungibleStore.balance; ReadRef;
    StLoc amount;
    CopyLoc amount; LdU64 0; Neq; BrTrue done;
    CopyLoc at; Exists ConcurrentFungibleBalance; BrFalse done;
    MoveLoc at; ImmBorrowGlobal ConcurrentFungibleBalance;
    ImmBorrowField ConcurrentFungibleBalance.balance; Call 0x1::aggregator_v2::read<u64>; Ret;
  done:
    MoveLoc amount; Ret;
  }
  #[view]
  public fun supply<T: key>(metadata: Object<T>): Option<u128>
    acquires ConcurrentSupply, Supply {
    let at: address;
    ImmBorrowLoc metadata; Call 0x1::object::object_address<T>; StLoc at;
    CopyLoc at; Exists ConcurrentSupply; BrFalse other;
    MoveLoc at; ImmBorrowGlobal ConcurrentSupply; ImmBorrowField ConcurrentSupply.current;
    Call 0x1::aggregator_v2::read<u128>; Call 0x1::option::some<u128>; Ret;
  other:
    CopyLoc at; Exists Supply; BrFalse none;
    MoveLoc at; ImmBorrowGlobal Supply; ImmBorrowField Supply.current; ReadRef;
    Call 0x1::option::some<u128>; Ret;
  none:
    Call 0x1::option::none<u128>; Ret;
  }
  #[view]
  public fun name<T: key>(metadata: Object<T>): String acquires Metadata {
    ImmBorrowLoc metadata; Call 0x1::object::object_address<T>; ImmBorrowGlobal Metadata;
    ImmBorrowField Metadata.name; ReadRef; Ret;
  }
  #[view]
  public fun symbol<T: key>(metadata: Object<T>): String acquires Metadata {
    ImmBorrowLoc metadata; Call 0x1::object::object_address<T>; ImmBorrowGlobal Metadata;
    ImmBorrowField Metadata.symbol; ReadRef; Ret;
  }
  #[view]
  public fun decimals<T: key>(metadata: Object<T>): u8 acquires Metadata {
    ImmBorrowLoc metadata; Call 0x1::object::object_address<T>; ImmBorrowGlobal Metadata;
    ImmBorrowField Metadata.decimals; ReadRef; Ret;
  }
  #[view]
  public fun metadata<T: key>(metadata: Object<T>): Metadata acquires Metadata {
    ImmBorrowLoc metadata; Call 0x1::object::object_address<T>; ImmBorrowGlobal Metadata;
    ReadRef; Ret;
  }
  #[view]
  public fun is_frozen<T: key>(store: Object<T>): bool acquires FungibleStore {
    let at: address;
    ImmBorrowLoc store; Call 0x1::object::object_address<T>; StLoc at;
    CopyLoc at; Call store_exists; BrFalse no;
    MoveLoc at; ImmBorrowGlobal FungibleStore; ImmBorrowField FungibleStore.frozen; ReadRef; Ret;
  no:
    LdFalse; Ret;
  }
  #[view]
  public fun store_exists(store: address): bool {
    MoveLoc store; Exists FungibleStore; Ret;
  }
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
  public fun balance<T: key>(account: address, metadata: Object<T>): u64 {
    let store: address;
    MoveLoc account; MoveLoc metadata; Call primary_store_address<T>; StLoc store;
    CopyLoc store; Call 0x1::fungible_asset::store_exists; BrFalse none;
    MoveLoc store; Call 0x1::object::address_to_object<FungibleStore>;
    Call 0x1::fungible_asset::balance<FungibleStore>; Ret;
  none:
    LdU64 0; Ret;
  }
  #[view]
  public fun primary_store_exists<T: key>(account: address, metadata: Object<T>): bool {
    MoveLoc account; MoveLoc metadata; Call primary_store_address<T>;
    Call 0x1::fungible_asset::store_exists; Ret;
  }
  #[view]
  public fun primary_store_address<T: key>(owner: address, metadata: Object<T>): address {
    MoveLoc owner; ImmBorrowLoc metadata; Call 0x1::object::object_address<T>;
    Call 0x1::object::create_user_derived_object_address; Ret;
  }
  public fun ensure_primary_store_exists<T: key>(
    owner: address, metadata: Object<T>): Object<FungibleStore>;
  public entry fun transfer<T: key>(
    sender: &signer, metadata: Object<T>, recipient: address, amount: u64);
  public fun withdraw<T: key>(owner: &signer, metadata: Object<T>, amount: u64): FungibleAsset;
  public fun deposit(owner: address, asset: FungibleAsset);
}
`;
