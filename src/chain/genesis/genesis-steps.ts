/**
 * The functions of a framework that initialize a new network, in the order of the reference (docs/spec/genesis.md §3).
 */

import { U64_MAX } from '../../move/bcs/bcs-reader.ts';
import { type BcsWriter, encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { authenticationKey } from '../../move/crypto/authentication-key.ts';
import { ADDRESS_ONE, ADDRESS_ZERO, type Address } from '../../move/types/address.ts';
import type { ModuleId } from '../../move/types/module-id.ts';
import {
  CONSENSUS_CONFIG,
  EPOCH_SECS,
  EXECUTION_CONFIG,
  FRAMEWORK_VERSION,
  JWK_CONSENSUS_CONFIG,
  KEYLESS_CONFIG,
  LOCKUP_SECS,
  RANDOMNESS_CONFIG,
  REWARDS_DENOMINATOR,
  REWARDS_RATE,
  VOTING_POWER_INCREASE_LIMIT,
  VOTING_SECS,
} from './configurations.ts';
import { DEFAULT_FEATURES } from './features.ts';
import { packagesOf } from './framework-packages.ts';
import { CORE_RESOURCES } from './genesis-keys.ts';
import { validatorOf } from './validator.ts';

/** A function of 0x1 that genesis calls. */
export interface GenesisStep {
  readonly module: string;
  readonly name: string;
  readonly signers: readonly Address[];
  /** BCS of each argument after the signers. */
  readonly args: readonly Buffer[];
}

export interface GenesisSettings {
  /** u8. */
  readonly chainId: number;
  /** Ed25519, 32 bytes: it signs for the core resources account. */
  readonly mintPublicKey: Buffer;
  /** The validator's keys are derived from it. */
  readonly seed: string;
  /** Lines of a name and a figure. */
  readonly gasSchedule: string;
}

/** Feature version of the gas schedule, which decides how the figures are used. */
const GAS_FEATURE_VERSION = 52;
const MICROSECONDS = 1_000_000;

/** Kinds of derivable accounts that a new network registers. The module of each has a function `authenticate`. */
const DERIVABLE_ACCOUNTS = ['solana', 'ethereum', 'sui'];

/** The steps before the packages are registered. */
export function initialSteps(settings: GenesisSettings): GenesisStep[] {
  return [
    unsignedStep('genesis', 'initialize', ...initializeArgs(settings)),
    frameworkStep('features', 'change_feature_flags_internal', ...featureArgs()),
    frameworkStep(
      'genesis',
      'initialize_core_resources_and_aptos_coin',
      bcs((writer) => writer.bytes(mintAuthenticationKey(settings.mintPublicKey))),
    ),
    frameworkStep('config_buffer', 'initialize'),
    frameworkStep('dkg', 'initialize'),
    frameworkStep('reconfiguration_state', 'initialize'),
    // Code that uses randomness deposits no gas and cannot set its own gas limit.
    frameworkStep('randomness_api_v0_config', 'initialize', Buffer.of(0), Buffer.of(0)),
    frameworkStep('randomness_config_seqnum', 'initialize'),
    frameworkStep('randomness_config', 'initialize', RANDOMNESS_CONFIG),
    frameworkStep('randomness', 'initialize'),
    frameworkStep('aptos_governance', 'initialize', ...governanceArgs()),
    frameworkStep('account_abstraction', 'initialize'),
    ...DERIVABLE_ACCOUNTS.map(derivableAccount),
    frameworkStep('genesis', 'create_initialize_validators', validators(settings.seed)),
    { ...frameworkStep('version', 'initialize_for_test'), signers: [CORE_RESOURCES] },
    frameworkStep('jwk_consensus_config', 'initialize', JWK_CONSENSUS_CONFIG),
    frameworkStep('jwks', 'initialize'),
    frameworkStep('keyless_account', 'update_configuration', KEYLESS_CONFIG),
    frameworkStep('genesis', 'set_genesis_end'),
    { ...frameworkStep('block', 'emit_genesis_block_event'), signers: [ADDRESS_ZERO] },
    unsignedStep('reconfiguration', 'emit_genesis_reconfiguration_event'),
  ];
}

export function packageSteps(modules: readonly ModuleId[]): GenesisStep[] {
  return packagesOf(modules).map(({ address, bytes }) => ({
    ...frameworkStep('code', 'initialize', bytes),
    signers: [ADDRESS_ONE, address],
  }));
}

function unsignedStep(module: string, name: string, ...args: readonly Buffer[]): GenesisStep {
  return { module, name, signers: [], args };
}

function frameworkStep(module: string, name: string, ...args: readonly Buffer[]): GenesisStep {
  return { module, name, signers: [ADDRESS_ONE], args };
}

function derivableAccount(kind: string): GenesisStep {
  return frameworkStep(
    'account_abstraction',
    'register_derivable_authentication_function',
    bcs((writer) => writer.address(ADDRESS_ONE)),
    bcs((writer) => writer.string(`${kind}_derivable_account`)),
    bcs((writer) => writer.string('authenticate')),
  );
}

function bcs(write: (writer: BcsWriter) => unknown): Buffer {
  return encodeBcs(write);
}

function u64(value: bigint | number): Buffer {
  return encodeBcs((writer) => writer.u64(value));
}

function bytes(value: Buffer): Buffer {
  return encodeBcs((writer) => writer.bytes(value));
}

function initializeArgs({ chainId, gasSchedule }: GenesisSettings): Buffer[] {
  return [
    bytes(encodeGasSchedule(gasSchedule)),
    Buffer.of(chainId),
    u64(FRAMEWORK_VERSION),
    bytes(CONSENSUS_CONFIG),
    bytes(EXECUTION_CONFIG),
    u64(EPOCH_SECS * MICROSECONDS),
    // Minimum and maximum stake.
    u64(0),
    u64(U64_MAX),
    u64(LOCKUP_SECS),
    // Validators may join.
    Buffer.of(1),
    u64(REWARDS_RATE),
    u64(REWARDS_DENOMINATOR),
    u64(VOTING_POWER_INCREASE_LIMIT),
  ];
}

/** BCS of GasScheduleV2 (docs/spec/genesis.md §6). */
function encodeGasSchedule(text: string): Buffer {
  const entries = text.trimEnd().split('\n');
  return encodeBcs((writer) => {
    writer.u64(GAS_FEATURE_VERSION);
    writer.vector(entries, (to, line) => {
      const [name, value] = line.split(' ');
      to.string(name!).u64(BigInt(value!));
    });
  });
}

function featureArgs(): Buffer[] {
  const enabled = [...DEFAULT_FEATURES.keys()];
  return [bcs((writer) => writer.vector(enabled, (to, flag) => to.u64(flag))), Buffer.of(0)];
}

function mintAuthenticationKey(publicKey: Buffer): Buffer {
  return authenticationKey({ kind: 'ed25519', publicKey, signature: Buffer.alloc(64) })!;
}

/** Votes that a proposal needs, stake that a proposer needs, duration of a vote in seconds. */
function governanceArgs(): Buffer[] {
  return [bcs((writer) => writer.u128(0n)), u64(0), u64(VOTING_SECS)];
}

function validators(seed: string): Buffer {
  return bcs((writer) => writer.vector([validatorOf(seed)], (to, one) => to.fixed(one.bytes)));
}
