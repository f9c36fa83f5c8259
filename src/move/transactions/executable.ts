/**
 * What a user transaction runs, an entry function or a script, and the configuration that orderless and encrypted
 * payloads add to it (docs/spec/ledger.md §3.4, docs/spec/encode.md §A5).
 */
import {
  address,
  byteString,
  type CodecValue,
  constant,
  list,
  option,
  soleVariant,
  structCodec,
  text,
  u64,
  variants,
} from '../bcs/codec.ts';
import { ModuleId } from '../types/module-id.ts';
import { TypeTag } from '../types/type-tag.ts';
import { TransactionArgument } from './transaction-argument.ts';

/** Its fields, shared by the enums that have it as a kind. */
export const ENTRY_FUNCTION = {
  module: ModuleId,
  function: text,
  typeArguments: list(TypeTag),
  /** The BCS of each argument. */
  args: list(byteString),
};
export const SCRIPT = {
  code: byteString,
  typeArguments: list(TypeTag),
  args: list(TransactionArgument),
};

export const EntryFunction = structCodec({ kind: constant('entryFunction'), ...ENTRY_FUNCTION });
export type EntryFunction = CodecValue<typeof EntryFunction>;

export const Script = structCodec({ kind: constant('script'), ...SCRIPT });
export type Script = CodecValue<typeof Script>;

/** What the owner of a multisig account runs. */
export const MultisigPayload = variants('MultisigTransactionPayload', {
  entryFunction: ENTRY_FUNCTION,
  script: SCRIPT,
});

/** What an orderless or encrypted payload runs; `encrypted` has no content. */
export const Executable = variants('TransactionExecutable', {
  script: SCRIPT,
  entryFunction: ENTRY_FUNCTION,
  empty: {},
  encrypted: {},
});
export type Executable = CodecValue<typeof Executable>;

/** The requested multiple of the usual limits, in percent. */
const multipliers = soleVariant(
  'LimitMultipliers',
  structCodec({ executionPercent: u64, ioPercent: u64 }),
);
const OF_POOL = { poolAddress: address, multipliers };

const TransactionLimitsRequest = variants('TransactionLimitsRequest', {
  stakePoolOwner: { multipliers },
  delegatedVoter: OF_POOL,
  delegationPoolDelegator: OF_POOL,
});
export type TransactionLimitsRequest = CodecValue<typeof TransactionLimitsRequest>;

const EXTRA_CONFIG = {
  multisigAddress: option(address),
  replayProtectionNonce: option(u64),
};

export const ExtraConfig = variants('TransactionExtraConfig', {
  v1: EXTRA_CONFIG,
  v2: { ...EXTRA_CONFIG, limitsRequest: option(TransactionLimitsRequest) },
});
export type ExtraConfig = CodecValue<typeof ExtraConfig>;
