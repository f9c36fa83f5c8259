/**
 * Part 3 of 6: accounts, multisig accounts and published code at 0x1 (layouts: docs/spec/ledger.md §5.10; events:
 * docs/spec/http.md §7.6).
 */
export const ACCOUNT_MODULES = `
module 0x1::account {
  use 0x1::type_info::TypeInfo;
  friend 0x1::aptos_account;
  friend 0x1::coin;
  friend 0x1::multisig_account;
  friend 0x1::resource_account;
  friend 0x1::transaction_validation;

  error 1 EACCOUNT_ALREADY_EXISTS "Account already exists";
  error 2 EACCOUNT_DOES_NOT_EXIST "Account does not exist";
  error 3 ESEQUENCE_NUMBER_TOO_BIG "The sequence number cannot grow any further";

  struct Account has store, key {
    authentication_key: vector<u8>,
    sequence_number: u64,
    guid_creation_num: u64,
    coin_register_events: EventHandle<CoinRegisterEvent>,
    key_rotation_events: EventHandle<KeyRotationEvent>,
    rotation_capability_offer: CapabilityOffer<RotationCapability>,
    signer_capability_offer: CapabilityOffer<SignerCapability>,
  }
  struct CapabilityOffer<phantom T> has store { for: Option<address> }
  struct RotationCapability has drop, store { account: address }
  struct SignerCapability has drop, store { account: address }
  struct OriginatingAddress has key { address_map: Table<address, address> }
  #[event]
  struct CoinRegister has drop, store { account: address, type_info: TypeInfo }
  struct CoinRegisterEvent has drop, store { type_info: TypeInfo }
  #[event]
  struct KeyRotation has drop, store {
    account: address,
    old_authentication_key: vector<u8>,
    new_authentication_key: vector<u8>,
  }
  struct KeyRotationEvent has drop, store {
    old_authentication_key: vector<u8>,
    new_authentication_key: vector<u8>,
  }

  #[view]
  public fun exists_at(addr: address): bool {
    Call has_default_accounts; BrTrue yes;
    MoveLoc addr; Exists Account; Ret;
  yes:
    LdTrue; Ret;
  }
  #[view]
  public fun get_authentication_key(addr: address): vector<u8> acquires Account {
    CopyLoc addr; Call has_resource; BrTrue found;
    ImmBorrowLoc addr; Call 0x1::bcs::to_bytes<address>; Ret;
  found:
    MoveLoc addr; ImmBorrowGlobal Account; ImmBorrowField Account.authentication_key; ReadRef; Ret;
  }
  #[view]
  public fun get_guid_next_creation_num(addr: address): u64 acquires Account {
    CopyLoc addr; Call has_resource; BrTrue found;
    LdU64 0; Ret;
  found:
    MoveLoc addr; ImmBorrowGlobal Account; ImmBorrowField Account.guid_creation_num; ReadRef; Ret;
  }
  #[view]
  public fun get_sequence_number(addr: address): u64 acquires Account {
    CopyLoc addr; Call has_resource; BrTrue found;
    LdU64 0; Ret;
  found:
    MoveLoc addr; ImmBorrowGlobal Account; ImmBorrowField Account.sequence_number; ReadRef; Ret;
  }
  fun has_default_accounts(): bool {
    LdU64 91; Call 0x1::features::is_enabled; Ret;
  }
  fun has_resource(addr: address): bool {
    MoveLoc addr; Exists Account; BrTrue yes;
    Call has_default_accounts; BrTrue no;
    LdU64 6; LdU64 2; Call 0x1::error::canonical; Abort;
  no:
    LdFalse; Ret;
  yes:
    LdTrue; Ret;
  }
  public entry fun rotate_authentication_key(
    account: &signer, from_scheme: u8, from_public_key_bytes: vector<u8>, to_scheme: u8,
    to_public_key_bytes: vector<u8>, cap_rotate_key: vector<u8>, cap_update_table: vector<u8>);
  entry fun rotate_authentication_key_call(account: &signer, new_auth_key: vector<u8>);
  public entry fun offer_signer_capability(
    account: &signer, proof: vector<u8>, scheme: u8, public_key: vector<u8>, recipient: address);
  public fun new_event_handle<T: drop + store>(account: &signer): EventHandle<T>;
  public(friend) fun create_account(addr: address): signer;
  public(friend) fun register_coin<CoinType>(addr: address);
}

module 0x1::aptos_account {
  use 0x1::fungible_asset::Metadata;

  error 1 EACCOUNT_NOT_FOUND "Account does not exist";
  error 2 EACCOUNT_NOT_REGISTERED_FOR_APT "Account is not registered to receive the native coin";

  struct DirectTransferConfig has key {
    allow_arbitrary_coin_transfers: bool,
    update_coin_transfer_events: EventHandle<DirectCoinTransferConfigUpdatedEvent>,
  }
  struct DirectCoinTransferConfigUpdatedEvent has drop, store { new_allow_direct_transfers: bool }

  #[view]
  public fun can_receive_direct_coin_transfers(account: address): bool
    acquires DirectTransferConfig {
    CopyLoc account; Exists DirectTransferConfig; BrFalse yes;
    MoveLoc account; ImmBorrowGlobal DirectTransferConfig;
    ImmBorrowField DirectTransferConfig.allow_arbitrary_coin_transfers; ReadRef; Ret;
  yes:
    LdTrue; Ret;
  }
  public entry fun create_account(auth_key: address);
  public entry fun transfer(source: &signer, to: address, amount: u64);
  public entry fun transfer_coins<CoinType>(from: &signer, to: address, amount: u64);
  public entry fun transfer_fungible_assets(
    from: &signer, metadata: Object<Metadata>, to: address, amount: u64);
  public entry fun batch_transfer(
    source: &signer, recipients: vector<address>, amounts: vector<u64>);
  public entry fun set_allow_direct_coin_transfers(account: &signer, allow: bool);
}

module 0x1::resource_account {
  use 0x1::account::SignerCapability;
  use 0x1::simple_map::SimpleMap;

  struct Container has key { store: SimpleMap<address, SignerCapability> }

  public entry fun create_resource_account(
    origin: &signer, seed: vector<u8>, optional_auth_key: vector<u8>);
}

module 0x1::multisig_account {
  use 0x1::account::SignerCapability;
  use 0x1::simple_map::SimpleMap;

  struct MultisigAccount has key {
    owners: vector<address>,
    num_signatures_required: u64,
    transactions: Table<u64, MultisigTransaction>,
    last_executed_sequence_number: u64,
    next_sequence_number: u64,
    signer_cap: Option<SignerCapability>,
    metadata: SimpleMap<String, vector<u8>>,
    add_owners_events: EventHandle<AddOwnersEvent>,
    remove_owners_events: EventHandle<RemoveOwnersEvent>,
    update_signature_required_events: EventHandle<UpdateSignaturesRequiredEvent>,
    create_transaction_events: EventHandle<CreateTransactionEvent>,
    vote_events: EventHandle<VoteEvent>,
    execute_rejected_transaction_events: EventHandle<ExecuteRejectedTransactionEvent>,
    execute_transaction_events: EventHandle<TransactionExecutionSucceededEvent>,
    transaction_execution_failed_events: EventHandle<TransactionExecutionFailedEvent>,
    metadata_updated_events: EventHandle<MetadataUpdatedEvent>,
  }
  struct MultisigTransaction has copy, drop, store {
    payload: Option<vector<u8>>,
    payload_hash: Option<vector<u8>>,
    votes: SimpleMap<address, bool>,
    creator: address,
    creation_time_secs: u64,
  }
  struct ExecutionError has copy, drop, store {
    abort_location: String,
    error_type: String,
    error_code: u64,
  }
  struct AddOwnersEvent has drop, store { owners_added: vector<address> }
  struct RemoveOwnersEvent has drop, store { owners_removed: vector<address> }
  struct UpdateSignaturesRequiredEvent has drop, store {
    old_num_signatures_required: u64,
    new_num_signatures_required: u64,
  }
  struct CreateTransactionEvent has drop, store {
    creator: address,
    sequence_number: u64,
    transaction: MultisigTransaction,
  }
  struct VoteEvent has drop, store { owner: address, sequence_number: u64, approved: bool }
  struct ExecuteRejectedTransactionEvent has drop, store {
    sequence_number: u64,
    num_rejections: u64,
    executor: address,
  }
  struct TransactionExecutionSucceededEvent has drop, store {
    executor: address,
    sequence_number: u64,
    transaction_payload: vector<u8>,
    num_approvals: u64,
  }
  struct TransactionExecutionFailedEvent has drop, store {
    ..TransactionExecutionSucceededEvent,
    execution_error: ExecutionError,
  }
  struct MetadataUpdatedEvent has drop, store {
    old_metadata: SimpleMap<String, vector<u8>>,
    new_metadata: SimpleMap<String, vector<u8>>,
  }
  #[event]
  struct TransactionExecutionSucceeded has drop, store {
    multisig_account: address,
    ..TransactionExecutionSucceededEvent,
  }

  #[view]
  public fun owners(multisig_account: address): vector<address> acquires MultisigAccount {
    MoveLoc multisig_account; ImmBorrowGlobal MultisigAccount;
    ImmBorrowField MultisigAccount.owners; ReadRef; Ret;
  }
  #[view]
  public fun num_signatures_required(multisig_account: address): u64 acquires MultisigAccount {
    MoveLoc multisig_account; ImmBorrowGlobal MultisigAccount;
    ImmBorrowField MultisigAccount.num_signatures_required; ReadRef; Ret;
  }
  public entry fun create_with_owners(
    owner: &signer, additional_owners: vector<address>, num_signatures_required: u64,
    metadata_keys: vector<String>, metadata_values: vector<vector<u8>>);
  public entry fun create_transaction(
    owner: &signer, multisig_account: address, payload: vector<u8>);
  public entry fun approve_transaction(
    owner: &signer, multisig_account: address, sequence_number: u64);
}

module 0x1::code {
  use 0x1::copyable_any::Any;

  error 1 EMODULE_NAME_CLASH "Package contains a module that is already published in another package";
  error 2 EUPGRADE_IMMUTABLE "Cannot upgrade an immutable package";

  struct PackageRegistry has drop, store, key { packages: vector<PackageMetadata> }
  struct PackageMetadata has copy, drop, store {
    name: String,
    upgrade_policy: UpgradePolicy,
    upgrade_number: u64,
    source_digest: String,
    manifest: vector<u8>,
    modules: vector<ModuleMetadata>,
    deps: vector<PackageDep>,
    extension: Option<Any>,
  }
  struct PackageDep has copy, drop, store { account: address, package_name: String }
  struct ModuleMetadata has copy, drop, store {
    name: String,
    source: vector<u8>,
    source_map: vector<u8>,
    extension: Option<Any>,
  }
  struct UpgradePolicy has copy, drop, store { policy: u8 }
  #[event]
  struct PublishPackage has drop, store { code_address: address, is_upgrade: bool }

  public entry fun publish_package_txn(
    owner: &signer, metadata_serialized: vector<u8>, code: vector<vector<u8>>);
}
`;
