/**
 * What stored transactions have in common, as it is in their bytes: names of the framework's resources, events and
 * functions. Compression refers to these bytes, so the list is part of the store's format and never changes.
 */
import { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import { writeModuleId } from '../../move/types/module-id.ts';
import { encodeStructTag } from '../../move/types/resource-group.ts';
import { parseStructTag } from '../../move/types/type-parser.ts';

/** Functions that users call, as in an entry function payload. */
const FUNCTIONS = [
  '0x1::multisig_account::create_transaction',
  '0x1::code::publish_package_txn',
  '0x4::aptos_token::mint',
  '0x3::token::create_token_script',
  '0x3::token_transfers::offer_script',
  '0x1::object::transfer_call',
  '0x1::aptos_account::transfer_fungible_assets',
  '0x1::primary_fungible_store::transfer',
  '0x1::aptos_account::transfer_coins',
  '0x1::coin::transfer',
  '0x1::aptos_account::transfer',
];

/** Resources and events. The nearest are the cheapest to refer to: what is written most is last. */
const STRUCTS = [
  '0x1::delegation_pool::DelegationPool',
  '0x1::multisig_account::MultisigAccount',
  '0x1::code::PackageRegistry',
  '0x1::stake::StakePool',
  '0x1::stake::ValidatorConfig',
  '0x1::stake::DistributeRewards',
  '0x1::staking_config::StakingRewardsConfig',
  '0x1::reconfiguration_state::State',
  '0x1::reconfiguration::NewEpochEvent',
  '0x1::state_storage::StateStorageUsage',
  '0x1::storage_gas::StorageGas',
  '0x3::token::TokenDepositEvent',
  '0x3::token::TokenStore',
  '0x3::token::Collections',
  '0x4::royalty::Royalty',
  '0x4::property_map::PropertyMap',
  '0x4::aptos_token::AptosToken',
  '0x4::token::TokenIdentifiers',
  '0x4::token::Token',
  '0x4::collection::ConcurrentSupply',
  '0x4::collection::Mint',
  '0x4::collection::Collection',
  '0x1::object::TransferEvent',
  '0x1::fungible_asset::Untransferable',
  '0x1::fungible_asset::ConcurrentSupply',
  '0x1::fungible_asset::Metadata',
  '0x1::aptos_account::DirectCoinTransferConfigUpdated',
  '0x1::account::KeyRotationEvent',
  '0x1::account::CoinRegisterEvent',
  '0x1::account::CoinRegister',
  '0x1::coin::PairedCoinType',
  '0x1::coin::CoinInfo<0x1::aptos_coin::AptosCoin>',
  '0x1::nonce_validation::NonceHistory',
  '0x1::randomness::PerBlockRandomness',
  '0x1::decryption::PerBlockDecryptionKey',
  '0x1::stake::PendingTransactionFee',
  '0x1::stake::ValidatorPerformance',
  '0x1::timestamp::CurrentTimeMicroseconds',
  '0x1::reconfiguration::Configuration',
  '0x1::block::CommitHistory',
  '0x1::block::BlockResource',
  '0x1::block::NewBlock',
  '0x1::block::NewBlockEvent',
  '0x1::coin::CoinDeposit',
  '0x1::coin::CoinWithdraw',
  '0x1::coin::DepositEvent',
  '0x1::coin::WithdrawEvent',
  '0x1::coin::CoinStore<0x1::aptos_coin::AptosCoin>',
  '0x1::fungible_asset::ConcurrentFungibleBalance',
  '0x1::primary_fungible_store::DeriveRefPod',
  '0x1::fungible_asset::FungibleStore',
  '0x1::object::ObjectCore',
  '0x1::object::ObjectGroup',
  '0x1::account::Account',
  '0x1::fungible_asset::Deposit',
  '0x1::fungible_asset::Withdraw',
  '0x1::transaction_fee::FeeStatement',
];

/** Variant of a struct in a type tag, and of a resource in a path. */
const STRUCT_TAG = 7;
const RESOURCE_PATH = 1;

export const TRANSACTION_DICTIONARY = Buffer.concat([
  ...FUNCTIONS.map((text) => {
    const { address, module, name } = parseStructTag(text);
    const writer = new BcsWriter();
    writeModuleId(writer, { address, name: module });
    return writer.string(name).view();
  }),
  ...STRUCTS.map((text) => {
    const isEvent = !/Coin(Store|Info)|Account$/.test(text);
    const variant = isEvent ? STRUCT_TAG : RESOURCE_PATH;
    return Buffer.concat([Buffer.of(variant), encodeStructTag(parseStructTag(text))]);
  }),
]);
