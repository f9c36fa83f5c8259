/**
 * Configurations of the default genesis as BCS, with the reference's values for a new local network
 * (docs/spec/genesis.md §4).
 */
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';

const MIB = 1024 * 1024;

export const EPOCH_SECS = 60;
export const LOCKUP_SECS = 7_200;
export const VOTING_SECS = 3_600;

/** The framework's own version number, which does not follow releases. */
export const FRAMEWORK_VERSION = 4n;

/** 10 % a year, in billionths per epoch. */
export const REWARDS_DENOMINATOR = 1_000_000_000n;
export const REWARDS_RATE = REWARDS_DENOMINATOR / 10n / BigInt((365 * 24 * 3_600) / EPOCH_SECS);
/** Maximum percentage of the voting power that may join in one epoch. */
export const VOTING_POWER_INCREASE_LIMIT = 50n;

/** Stake of the only validator, in octas. */
export const VALIDATOR_STAKE = 100_000_000n;

/** OnChainConsensusConfig V5. Nodes of a local network do not vote: only tools read this. */
export const CONSENSUS_CONFIG = encodeBcs((writer) => {
  writer.uleb32(4);
  // JolteonV2: decoupled execution, back pressure limit, rounds excluded from reputation.
  writer.uleb32(2).bool(true).u64(10).u64(40);
  // Leader by reputation, ProposerAndVoterV2: weights of active, inactive and failed validators, failure threshold in
  // percent, windows of proposers and voters, weighted by voting power, epochs of history.
  writer.uleb32(2).uleb32(1).u64(1_000).u64(10).u64(1).u32(10).u64(10).u64(1).bool(true).u32(5);
  // Maximum number of stored failed authors; quorum store; order votes.
  writer.u64(10).bool(true).bool(true);
  // Maximum validator transactions of a block, and their bytes; no window; blocks are checked for randomness.
  writer
    .uleb32(1)
    .u64(2)
    .u64(2 * MIB)
    .u8(0)
    .bool(true);
});

/** OnChainExecutionConfig V7. */
export const EXECUTION_CONFIG = encodeBcs((writer) => {
  writer.uleb32(7);
  // Shuffled by use case: spread factors of senders, platform use cases and user use cases.
  writer.uleb32(4).u64(32).u64(0).u64(4);
  // Limits of a block: effective gas, its factors for execution and I/O, window of conflicts, conflicts by members of
  // groups, publications conflict, bytes of output including the transactions, recorded in the block's epilogue.
  writer.uleb32(2).u64(200_000).u64(1).u64(1).u32(9).bool(false).bool(true);
  writer
    .option(4 * MIB, (to, bytes) => to.u64(bytes))
    .bool(true)
    .bool(true);
  // The gas limit of a block is enabled; duplicates are found by hash and authenticator; burnt gas price; version of
  // the auxiliary info.
  writer.bool(true).uleb32(1).u64(90).u8(1);
});

/** RandomnessConfig V1: thresholds of the stake for secrecy and for reconstruction, times 2^64. */
export const RANDOMNESS_CONFIG = encodeBcs((writer) => {
  const scale = 1n << 64n;
  const thresholds = encodeBcs((to) => to.u128(scale / 2n).u128((scale * 2n) / 3n));
  writer.string('0x1::randomness_config::ConfigV1').bytes(thresholds);
});

/** JWKConsensusConfig V1 without providers: no keys are fetched. */
export const JWK_CONSENSUS_CONFIG = encodeBcs((writer) =>
  writer.string('0x1::jwk_consensus_config::ConfigV1').bytes(Buffer.of(0)),
);

/** The limits of keyless accounts. The default genesis has no verification key for their proofs. */
export const KEYLESS_CONFIG = encodeBcs((writer) => {
  writer.vector(['test.recovery.aud'], (to, name) => to.string(name));
  // Maximum signatures of a transaction, horizon in seconds, no training wheels, maximum bytes of parts.
  writer.u16(3).u64(10_000_000).u8(0).u16(93).u16(120).u16(350).u32(300);
});
