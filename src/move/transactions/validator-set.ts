/** `0x1::stake::ValidatorSet`, from which the next epoch's validators are read (docs/spec/ledger.md §2.7). */

import type { BcsReader } from '../bcs/bcs-reader.ts';
import type { BcsWriter } from '../bcs/bcs-writer.ts';
import { readSizedBytes, writeSizedBytes } from '../bcs/fixed-bytes.ts';
import { ADDRESS_BYTES, type Address } from '../types/address.ts';
import { codec } from '../values/framework-resource.ts';
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

export const validatorSetCodec = codec<ValidatorSet>(
  (reader) => ({
    consensusScheme: reader.u8(),
    active: reader.vector(MIN_VALIDATOR_BYTES, readValidatorInfo),
    pendingInactive: reader.vector(MIN_VALIDATOR_BYTES, readValidatorInfo),
    pendingActive: reader.vector(MIN_VALIDATOR_BYTES, readValidatorInfo),
    totalVotingPower: reader.u128(),
    totalJoiningPower: reader.u128(),
  }),
  (writer, set) => {
    writer.u8(set.consensusScheme);
    writer.vector(set.active, writeValidatorInfo);
    writer.vector(set.pendingInactive, writeValidatorInfo);
    writer.vector(set.pendingActive, writeValidatorInfo);
    writer.u128(set.totalVotingPower).u128(set.totalJoiningPower);
  },
);

function readValidatorInfo(reader: BcsReader): ValidatorInfo {
  return {
    address: reader.address(),
    votingPower: reader.u64(),
    consensusKey: readSizedBytes(reader, CONSENSUS_KEY_BYTES, 'consensus key'),
    networkAddresses: reader.bytes(),
    fullnodeAddresses: reader.bytes(),
    validatorIndex: reader.u64(),
  };
}

function writeValidatorInfo(writer: BcsWriter, info: ValidatorInfo): void {
  writer.address(info.address).u64(info.votingPower);
  writeSizedBytes(writer, info.consensusKey, CONSENSUS_KEY_BYTES, 'consensus key');
  writer.bytes(info.networkAddresses).bytes(info.fullnodeAddresses).u64(info.validatorIndex);
}

/** The state of an epoch that this set validates: active and leaving validators by their index. */
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
