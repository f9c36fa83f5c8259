/** `0x1::stake::ValidatorSet`, from which the next epoch's validators are read (docs/spec/ledger.md §2.7). */
import type { BcsReader } from '../bcs/bcs-reader.ts';
import type { BcsWriter } from '../bcs/bcs-writer.ts';
import { readSizedBytes, writeSizedBytes } from '../bcs/fixed-bytes.ts';
import { ADDRESS_BYTES, type Address } from '../types/address.ts';
import { address, byteString, structCodec, u64 } from '../values/framework-resource.ts';
import { CONSENSUS_KEY_BYTES, type EpochState } from './waypoint.ts';

interface ValidatorInfo {
  readonly address: Address;
  readonly votingPower: bigint;
  /** BLS12-381, 48 bytes. */
  readonly consensusKey: Buffer;
  readonly networkAddresses: Buffer;
  readonly fullnodeAddresses: Buffer;
  readonly validatorIndex: bigint;
}

export interface ValidatorSet {
  readonly consensusScheme: number;
  readonly active: readonly ValidatorInfo[];
  /** Leave at the end of the epoch; they still validate. */
  readonly pendingInactive: readonly ValidatorInfo[];
  readonly pendingActive: readonly ValidatorInfo[];
  readonly totalVotingPower: bigint;
  readonly totalJoiningPower: bigint;
}

const MIN_VALIDATOR_BYTES = ADDRESS_BYTES + 8 + 1 + CONSENSUS_KEY_BYTES + 1 + 1 + 8;

const validatorInfoCodec = structCodec<ValidatorInfo>({
  address,
  votingPower: u64,
  consensusKey: {
    read: (at) => readSizedBytes(at, CONSENSUS_KEY_BYTES, 'consensus key'),
    write: (to, key) => writeSizedBytes(to, key, CONSENSUS_KEY_BYTES, 'consensus key'),
  },
  networkAddresses: byteString,
  fullnodeAddresses: byteString,
  validatorIndex: u64,
});

const validators = {
  read: (at: BcsReader) => at.vector(MIN_VALIDATOR_BYTES, validatorInfoCodec.read),
  write: (to: BcsWriter, infos: readonly ValidatorInfo[]) =>
    to.vector(infos, validatorInfoCodec.write),
};
const u128 = {
  read: (at: BcsReader) => at.u128(),
  write: (to: BcsWriter, value: bigint) => to.u128(value),
};

export const validatorSetCodec = structCodec<ValidatorSet>({
  consensusScheme: { read: (at) => at.u8(), write: (to, scheme) => to.u8(scheme) },
  active: validators,
  pendingInactive: validators,
  pendingActive: validators,
  totalVotingPower: u128,
  totalJoiningPower: u128,
});

export function epochStateOf(epoch: bigint, set: ValidatorSet): EpochState {
  const validators = [...set.active, ...set.pendingInactive]
    .sort((left, right) => compareIndices(left.validatorIndex, right.validatorIndex))
    .map(({ address, consensusKey, votingPower }) => ({ address, consensusKey, votingPower }));
  return { epoch, validators };
}

function compareIndices(left: bigint, right: bigint): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
