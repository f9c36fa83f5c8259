/**
 * Part 2 of 6: the chain's own modules at 0x1, for blocks, epochs, time, validators, features and fees (layouts:
 * docs/spec/ledger.md §2.3, §2.7, docs/spec/move.md §4.2).
 */
export const CHAIN_MODULES = `
module 0x1::chain_id {
  struct ChainId has key { id: u8 }

  #[view]
  public fun get(): u8 acquires ChainId {
    LdConst address 0x1; ImmBorrowGlobal ChainId; ImmBorrowField ChainId.id; ReadRef; Ret;
  }
}

module 0x1::chain_status {
  struct GenesisEndMarker has key {}

  #[view]
  public fun is_operating(): bool {
    LdConst address 0x1; Exists GenesisEndMarker; Ret;
  }
}

module 0x1::timestamp {
  friend 0x1::block;

  struct CurrentTimeMicroseconds has key { microseconds: u64 }

  public fun update_global_time(vm: &signer, proposer: address, timestamp: u64);
  #[view]
  public fun now_microseconds(): u64 acquires CurrentTimeMicroseconds {
    LdConst address 0x1; ImmBorrowGlobal CurrentTimeMicroseconds;
    ImmBorrowField CurrentTimeMicroseconds.microseconds; ReadRef; Ret;
  }
  #[view]
  public fun now_seconds(): u64 acquires CurrentTimeMicroseconds {
    Call now_microseconds; LdU64 1000000; Div; Ret;
  }
}

module 0x1::features {
  struct Features has key { features: vector<u8> }
  struct PendingFeatures has key { features: vector<u8> }

  public fun change_feature_flags_for_next_epoch(
    framework: &signer, enable: vector<u64>, disable: vector<u64>);
  #[view]
  public fun is_enabled(feature: u64): bool acquires Features {
    let flags: &vector<u8>;
    let place: u64;
    LdConst address 0x1; Exists Features; BrFalse no;
    LdConst address 0x1; ImmBorrowGlobal Features; ImmBorrowField Features.features; StLoc flags;
    CopyLoc feature; LdU64 8; Div; StLoc place;
    CopyLoc place; CopyLoc flags; VecLen<u8>; Lt; BrFalse no;
    MoveLoc flags; MoveLoc place; VecImmBorrow<u8>; ReadRef;
    LdU8 1; MoveLoc feature; LdU64 8; Mod; CastU8; Shl; BitAnd; LdU8 0; Neq; Ret;
  no:
    LdFalse; Ret;
  }
  public fun module_event_migration_enabled(): bool;
  public fun get_module_event_migration_feature(): u64;
}

module 0x1::version {
  struct Version has drop, store, key { major: u64 }
  struct SetVersionCapability has key {}

  public entry fun set_version(framework: &signer, major: u64);
}

module 0x1::gas_schedule {
  struct GasEntry has copy, drop, store { key: String, val: u64 }
  struct GasScheduleV2 has copy, drop, store, key {
    feature_version: u64,
    entries: vector<GasEntry>,
  }

  public fun set_for_next_epoch(framework: &signer, schedule: vector<u8>);
}

module 0x1::consensus_config {
  struct ConsensusConfig has drop, store, key { config: vector<u8> }

  public fun set_for_next_epoch(framework: &signer, config: vector<u8>);
}

module 0x1::execution_config {
  struct ExecutionConfig has drop, store, key { config: vector<u8> }

  public fun set_for_next_epoch(framework: &signer, config: vector<u8>);
}

module 0x1::block {
  use 0x1::table_with_length::TableWithLength;

  struct BlockResource has key {
    height: u64,
    epoch_interval: u64,
    new_block_events: EventHandle<NewBlockEvent>,
    update_epoch_interval_events: EventHandle<UpdateEpochIntervalEvent>,
  }
  struct CommitHistory has key {
    max_capacity: u32,
    next_idx: u32,
    table: TableWithLength<u32, NewBlockEvent>,
  }
  #[event]
  struct NewBlock has drop, store {
    hash: address,
    epoch: u64,
    round: u64,
    height: u64,
    previous_block_votes_bitvec: vector<u8>,
    proposer: address,
    failed_proposer_indices: vector<u64>,
    time_microseconds: u64,
  }
  struct NewBlockEvent has copy, drop, store { ..NewBlock }
  #[event]
  struct UpdateEpochInterval has drop, store { old_epoch_interval: u64, new_epoch_interval: u64 }
  struct UpdateEpochIntervalEvent has drop, store { ..UpdateEpochInterval }

  #[view]
  public fun get_current_block_height(): u64 acquires BlockResource {
    LdConst address 0x1; ImmBorrowGlobal BlockResource; ImmBorrowField BlockResource.height;
    ReadRef; Ret;
  }
  #[view]
  public fun get_epoch_interval_secs(): u64 acquires BlockResource {
    LdConst address 0x1; ImmBorrowGlobal BlockResource; ImmBorrowField BlockResource.epoch_interval;
    ReadRef; LdU64 1000000; Div; Ret;
  }
  public fun update_epoch_interval_microsecs(framework: &signer, new_epoch_interval: u64);
}

module 0x1::reconfiguration {
  friend 0x1::block;

  struct Configuration has key {
    epoch: u64,
    last_reconfiguration_time: u64,
    events: EventHandle<NewEpochEvent>,
  }
  struct DisableReconfiguration has key {}
  #[event]
  struct NewEpoch has drop, store { epoch: u64 }
  #[event]
  struct NewEpochEvent has drop, store { epoch: u64 }

  public fun current_epoch(): u64;
  public fun last_reconfiguration_time(): u64;
  public(friend) fun reconfigure();
}

module 0x1::stake {
  friend 0x1::block;
  friend 0x1::reconfiguration;

  struct IndividualValidatorPerformance has drop, store {
    successful_proposals: u64,
    failed_proposals: u64,
  }
  struct ValidatorPerformance has key { validators: vector<IndividualValidatorPerformance> }
  struct ValidatorConfig has copy, drop, store, key {
    consensus_pubkey: vector<u8>,
    network_addresses: vector<u8>,
    fullnode_addresses: vector<u8>,
    validator_index: u64,
  }
  struct ValidatorInfo has copy, drop, store {
    addr: address,
    voting_power: u64,
    config: ValidatorConfig,
  }
  struct ValidatorSet has copy, drop, store, key {
    consensus_scheme: u8,
    active_validators: vector<ValidatorInfo>,
    pending_inactive: vector<ValidatorInfo>,
    pending_active: vector<ValidatorInfo>,
    total_voting_power: u128,
    total_joining_power: u128,
  }
  enum TransactionFeeConfig has drop, store, key {
    V0 { max_fee_octa_allowed_per_epoch_per_pool: u64 },
  }
  #[event]
  struct DistributeRewards has drop, store { pool_address: address, rewards_amount: u64 }

  #[view]
  public fun get_validator_index(pool_address: address): u64 acquires ValidatorConfig {
    MoveLoc pool_address; ImmBorrowGlobal ValidatorConfig;
    ImmBorrowField ValidatorConfig.validator_index; ReadRef; Ret;
  }
  public(friend) fun on_new_epoch();
}

module 0x1::transaction_fee {
  use 0x1::fungible_asset::BurnRef;

  struct AptosFABurnCapabilities has key { burn_ref: BurnRef }
  #[event]
  struct FeeStatement has drop, store {
    total_charge_gas_units: u64,
    execution_gas_units: u64,
    io_gas_units: u64,
    storage_fee_octas: u64,
    storage_fee_refund_octas: u64,
  }

  public(friend) fun burn_fee(account: address, fee: u64);
}

module 0x1::transaction_validation {
  struct TransactionValidation has key {
    module_addr: address,
    module_name: vector<u8>,
    script_prologue_name: vector<u8>,
    module_prologue_name: vector<u8>,
    multi_agent_prologue_name: vector<u8>,
    user_epilogue_name: vector<u8>,
  }
  enum ReplayProtector { Nonce(u64), SequenceNumber(u64) }

  error 1001 PROLOGUE_EINVALID_ACCOUNT_AUTH_KEY "The authentication key does not belong to the account";
  error 1002 PROLOGUE_ESEQUENCE_NUMBER_TOO_OLD "The sequence number was used before";
}

module 0x1::genesis {
  struct AccountMap has drop { account_address: address, balance: u64 }

  fun create_accounts(framework: &signer, accounts: vector<AccountMap>);
}
`;
