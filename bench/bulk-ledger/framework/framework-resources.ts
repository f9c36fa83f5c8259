/** Accounts, settings and code that genesis stores at the framework's addresses. */

import { type BcsWriter, encodeBcs } from '../../../src/move/bcs/bcs-writer.ts';
import {
  ADDRESS_ONE,
  type Address,
  addressBytes,
  padAddress,
} from '../../../src/move/types/address.ts';
import type { ValueWriter } from '../../../src/sample/calls.ts';
import { CAFE } from '../../../src/sample/publishers.ts';
import { derivedBytes } from '../../../src/sample/random.ts';
import { SAMPLE_RESOURCE, type SampleSettings } from '../../../src/sample/settings.ts';
import { packageRegistry } from '../applications/publishing.ts';
import { GAS_UNIT_PRICE } from '../model/chain.ts';
import type { Effects } from '../model/effects.ts';
import { writeEventHandle } from '../model/events.ts';
import { moduleKey, resourceKey, singleSlot } from '../model/slots.ts';
import { genesisModules } from './framework.ts';

const FRAMEWORK_ACCOUNTS: readonly Address[] = ['1', '3', '4'].map(padAddress);
/** In gas units; no block reaches it. */
const BLOCK_GAS_LIMIT = 100_000;
const GAS_ENTRIES: readonly (readonly [key: string, value: number])[] = [
  ['txn.min_transaction_gas_units', 2_760_000],
  ['txn.maximum_number_of_gas_units', 2_000_000],
  ['txn.min_price_per_gas_unit', GAS_UNIT_PRICE],
  ['txn.max_price_per_gas_unit', 10_000_000_000],
  ['txn.max_transaction_size_in_bytes', 65_536],
  ['txn.gas_unit_scaling_factor', 1_000_000],
  ['txn.storage_fee_per_state_slot_create', 40_000],
];

export function createFrameworkResources(effects: Effects, settings: SampleSettings): void {
  const create = (address: Address, type: string, write: ValueWriter): void =>
    effects.create(singleSlot(resourceKey(address, type), write));
  const modules = genesisModules();
  for (const { address, name, bytes } of modules) {
    effects.create(singleSlot(moduleKey(address, name), (writer) => writer.fixed(bytes)));
  }
  for (const address of [...FRAMEWORK_ACCOUNTS, CAFE]) {
    const own = modules.filter((module) => module.address === address);
    const name = address === CAFE ? 'SampleApplications' : `SampleFramework${address.slice(-1)}`;
    const moduleNames = own.map((module) => module.name);
    effects.create(packageRegistry(address, () => ({ name, upgradeNumber: 0, moduleNames })));
  }
  for (const address of FRAMEWORK_ACCOUNTS) {
    create(address, '0x1::account::Account', (to) => writeAccount(to, address));
  }
  create(CAFE, SAMPLE_RESOURCE, (to) =>
    // 0: no version of the sample generator, because nothing can be executed on this ledger.
    to.exactU64(0).u64(settings.seed).exactU64(settings.accounts),
  );
  const at = (type: string, write: ValueWriter): void => create(ADDRESS_ONE, type, write);
  at('0x1::chain_status::GenesisEndMarker', (to) => to.bool(false));
  at('0x1::version::Version', (to) => to.exactU64(1));
  at('0x1::gas_schedule::GasScheduleV2', (to) =>
    to.exactU64(46).vector(GAS_ENTRIES, (inner, [key, value]) => inner.string(key).exactU64(value)),
  );
  at('0x1::consensus_config::ConsensusConfig', (to) => to.bytes(Buffer.of(1)));
  at('0x1::execution_config::ExecutionConfig', (to) => to.bytes(encodeBcs(writeExecutionConfig)));
  at('0x1::transaction_validation::TransactionValidation', (to) => {
    to.address(ADDRESS_ONE).string('transaction_validation');
    to.string('script_prologue').string('module_prologue');
    to.string('multi_agent_script_prologue').string('epilogue');
  });
  const handle = (label: string): Buffer => derivedBytes(settings.seed, label);
  at('0x1::aggregator_factory::AggregatorFactory', (to) => to.fixed(handle('aggregators')));
  at('0x1::account::OriginatingAddress', (to) => to.fixed(handle('originating addresses')));
}

/** A V4 (docs/spec/transactions.md §7): a use-case-aware shuffler, a gas limit, and deduplication. */
function writeExecutionConfig(writer: BcsWriter): void {
  writer.uleb32(4);
  writer.uleb32(4).exactU64(10).exactU64(10).exactU64(10);
  writer.uleb32(1).exactU64(BLOCK_GAS_LIMIT);
  writer.uleb32(1);
}

/** Writes `0x1::account::Account` of a framework address: its authentication key is not the hash of any key. */
function writeAccount(writer: BcsWriter, address: Address): void {
  const bytes = addressBytes(address);
  // Two for the account's own handles; 0x1 also used one number for epochs and two for blocks.
  const creationNumbers = address === ADDRESS_ONE ? 5 : 2;
  writer.bytes(bytes).exactU64(0).exactU64(creationNumbers);
  writeEventHandle(writer, 0, 0, bytes);
  writeEventHandle(writer, 0, 1, bytes);
  writer.u8(0).u8(0);
}
