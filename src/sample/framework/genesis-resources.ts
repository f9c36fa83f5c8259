/** What genesis puts at the framework's own addresses beside blocks and assets: accounts, settings, code. */

import type { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import { ADDRESS_ONE, type Address, addressBytes, padAddress } from '../../move/types/address.ts';
import { packageRegistryKey, writePackage } from '../applications/publishing.ts';
import { parseModules } from '../assembler/declare-parse.ts';
import type { Effects } from '../effects.ts';
import { derivedBytes } from '../random.ts';
import { moduleKey, resourceKey, SingleSlots, writeEventHandle } from '../slots.ts';
import { APPLICATION_ADDRESSES, APPLICATION_MODULES, CAFE } from './application-modules.ts';
import { type AssembledModule, assembleModules, frameworkDeclarations } from './framework.ts';

/** Goes up when the same seed would give another ledger. */
export const GENERATOR_VERSION = 1;

/** The resource at 0xcafe that tells how a sample ledger was made. */
export const SAMPLE_RESOURCE = '0xcafe::sample::Sample';

const FRAMEWORK_ACCOUNTS: readonly Address[] = ['1', '3', '4'].map(padAddress);
/** Creation numbers that 0x1 has given away: its account's two handles, epochs, and two of blocks. */
const FRAMEWORK_CREATION_NUMBERS = 5n;
const FRAMEWORK_VERSION = 1n;
const GAS_FEATURE_VERSION = 46n;
const GAS_ENTRIES: readonly (readonly [key: string, value: bigint])[] = [
  ['txn.min_transaction_gas_units', 2_760_000n],
  ['txn.maximum_number_of_gas_units', 2_000_000n],
  ['txn.storage_fee_per_state_slot_create', 40_000n],
];

export interface SampleSettings {
  readonly seed: bigint;
  readonly accounts: number;
}

let assembled: readonly AssembledModule[] | undefined;

/** All modules that genesis publishes: the framework's and the applications'. Assembled once. */
export function genesisModules(): readonly AssembledModule[] {
  assembled ??= assembleGenesisModules();
  return assembled;
}

function assembleGenesisModules(): AssembledModule[] {
  const framework = frameworkDeclarations();
  const applications = parseModules(APPLICATION_MODULES, APPLICATION_ADDRESSES);
  return assembleModules([...framework, ...applications]);
}

/** Creates modules, registries and settings. */
export function createGenesisResources(effects: Effects, settings: SampleSettings): void {
  const slots = new SingleSlots();
  const create = (key: Buffer, write: (writer: BcsWriter) => unknown): void =>
    effects.create(
      slots,
      slots.add(key, (writer) => void write(writer)),
    );
  const at = (type: string, write: (writer: BcsWriter) => unknown): void =>
    create(resourceKey(ADDRESS_ONE, type), write);
  const modules = genesisModules();
  for (const { address, name, bytes } of modules) {
    create(moduleKey(address, name), (writer) => writer.fixed(bytes));
  }
  for (const address of [...FRAMEWORK_ACCOUNTS, CAFE]) {
    create(packageRegistryKey(address), (writer) => writeRegistry(writer, address, modules));
  }
  for (const address of FRAMEWORK_ACCOUNTS) {
    create(resourceKey(address, '0x1::account::Account'), (to) => writeAccount(to, address));
  }
  create(resourceKey(CAFE, SAMPLE_RESOURCE), (writer) =>
    writer.u64(BigInt(GENERATOR_VERSION)).u64(settings.seed).u64(BigInt(settings.accounts)),
  );
  at('0x1::chain_status::GenesisEndMarker', (writer) => writer.bool(false));
  at('0x1::version::Version', (writer) => writer.u64(FRAMEWORK_VERSION));
  at('0x1::gas_schedule::GasScheduleV2', (writer) =>
    writer
      .u64(GAS_FEATURE_VERSION)
      .vector(GAS_ENTRIES, (to, [key, value]) => to.string(key).u64(value)),
  );
  at('0x1::consensus_config::ConsensusConfig', (writer) => writer.bytes(Buffer.of(1)));
  at('0x1::transaction_validation::TransactionValidation', writeValidation);
  const handle = (label: string): Buffer => derivedBytes(settings.seed, label);
  at('0x1::aggregator_factory::AggregatorFactory', (to) => to.fixed(handle('aggregators')));
  at('0x1::account::OriginatingAddress', (to) => to.fixed(handle('originating addresses')));
}

function writeRegistry(
  writer: BcsWriter,
  address: Address,
  modules: readonly AssembledModule[],
): void {
  const own = modules.filter((module) => module.address === address);
  writer.length32(1);
  writePackage(writer, {
    name: address === CAFE ? 'SampleApplications' : `SampleFramework${address.slice(-1)}`,
    upgradeNumber: 0,
    moduleNames: own.map((module) => module.name),
  });
}

/** `0x1::account::Account` of a framework address: its authentication key is no key at all. */
function writeAccount(writer: BcsWriter, address: Address): void {
  const bytes = addressBytes(address);
  const isFramework = address === ADDRESS_ONE;
  writer
    .bytes(bytes)
    .u64(0n)
    .u64(isFramework ? FRAMEWORK_CREATION_NUMBERS : 2n);
  writeEventHandle(writer, 0, 0, bytes);
  writeEventHandle(writer, 0, 1, bytes);
  writer.u8(0).u8(0);
}

function writeValidation(writer: BcsWriter): void {
  writer.address(ADDRESS_ONE).bytes(Buffer.from('transaction_validation'));
  for (const name of ['script_prologue', 'module_prologue', 'multi_agent_script_prologue']) {
    writer.bytes(Buffer.from(name));
  }
  writer.bytes(Buffer.from('epilogue'));
}
