/** Natives about how the chain is set up, and how large its state is (docs/spec/vm.md §6.12). */
import { andThen } from '../../maybe-promise.ts';
import { BcsError, type BcsReader, decodeBcs } from '../../move/bcs/bcs-reader.ts';
import { missingNative, type Native } from '../native.ts';
import { bytesOf } from './arguments.ts';

/** Variants of the configuration of consensus from this one on have one for transactions of validators. */
const FIRST_WITH_VALIDATOR_TRANSACTIONS = 2;
const CONFIG_VARIANTS = 5;
/** Fewest bytes of a round and its proposer. */
const ROUND_BYTES = 40;

/** Whether validators make transactions; bytes that do not decode say that they do not. */
const validatorTransactionsEnabled: Native = (_, [config]) => {
  try {
    return [decodeBcs(bytesOf(config), readIsEnabled)];
  } catch (error) {
    if (error instanceof BcsError) return [false];
    throw error;
  }
};

/** Reads an `OnChainConsensusConfig` to its end. */
function readIsEnabled(reader: BcsReader): boolean {
  const variant = reader.variant(CONFIG_VARIANTS, 'OnChainConsensusConfig');
  if (variant < FIRST_WITH_VALIDATOR_TRANSACTIONS) {
    skipMain(reader);
    return false;
  }
  skipAlgorithm(reader);
  const isEnabled = reader.variant(2, 'ValidatorTxnConfig') === 1;
  if (isEnabled) {
    reader.u64();
    reader.u64();
  }
  if (variant > FIRST_WITH_VALIDATOR_TRANSACTIONS) reader.option((inner) => inner.u64());
  if (variant > FIRST_WITH_VALIDATOR_TRANSACTIONS + 1) reader.bool();
  return isEnabled;
}

function skipAlgorithm(reader: BcsReader): void {
  const variant = reader.variant(3, 'ConsensusAlgorithmConfig');
  if (variant === 1) {
    reader.u64();
    if (reader.variant(2, 'AnchorElectionMode') === 1) skipReputation(reader);
    return;
  }
  skipMain(reader);
  reader.bool();
  if (variant === 2) reader.bool();
}

/** `ConsensusConfigV1`. */
function skipMain(reader: BcsReader): void {
  reader.bool();
  reader.u64();
  reader.u64();
  const election = reader.variant(4, 'ProposerElectionType');
  if (election < 2) reader.u32();
  else if (election === 2) skipReputation(reader);
  else
    reader.map(
      ROUND_BYTES,
      (inner) => inner.u64(),
      (inner) => inner.address(),
    );
  reader.u64();
}

/** `LeaderReputationType`: both variants have the same fields. */
function skipReputation(reader: BcsReader): void {
  reader.variant(2, 'LeaderReputationType');
  for (let weights = 0; weights < 3; weights += 1) reader.u64();
  reader.u32();
  reader.u64();
  reader.u64();
  reader.bool();
  reader.u32();
}

/** How much state there is before the first transaction of an epoch: `Usage`. */
const stateUsage: Native = ({ world }) => {
  const usage = world.stateUsage?.();
  if (usage === undefined)
    throw missingNative('state_storage', 'get_state_storage_usage_only_at_epoch_beginning');
  return andThen(usage, ({ items, bytes }) => [[items, bytes]]);
};

export const CHAIN_NATIVES: Readonly<Record<string, Native>> = {
  'consensus_config::validator_txn_enabled_internal': validatorTransactionsEnabled,
  'state_storage::get_state_storage_usage_only_at_epoch_beginning': stateUsage,
};
