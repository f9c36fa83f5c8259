/**
 * Renders the data of events in genesis files as JSON, with a decoder of its own: struct by struct from lists of fields
 * in this file, with the rules of docs/spec/encode.md §B1, and without code of src/.
 */
import { FileCursor, shortAddress } from './genesis-file.ts';

type Read = (cursor: FileCursor) => string;

const u64: Read = (cursor) => `"${cursor.u64()}"`;
const address: Read = (cursor) => `"${shortAddress(cursor.address())}"`;
const bytes: Read = (cursor) => `"0x${cursor.bytes().toString('hex')}"`;

function list(item: Read): Read {
  return (cursor) => {
    const items: string[] = [];
    for (let left = cursor.uleb(); left > 0; left -= 1) items.push(item(cursor));
    return `[${items.join(',')}]`;
  };
}

function struct(fields: Readonly<Record<string, Read>>): Read {
  return (cursor) => {
    const members = Object.entries(fields).map(([name, read]) => `"${name}":${read(cursor)}`);
    return `{${members.toSorted().join(',')}}`;
  };
}

const typeInfo = struct({ account_address: address, module_name: bytes, struct_name: bytes });

/** Fields in the order of their declaration. */
const EVENTS: ReadonlyMap<string, Read> = new Map([
  ['0x1::account::CoinRegisterEvent', struct({ type_info: typeInfo })],
  [
    '0x1::block::NewBlockEvent',
    struct({
      hash: address,
      epoch: u64,
      round: u64,
      height: u64,
      previous_block_votes_bitvec: bytes,
      proposer: address,
      failed_proposer_indices: list(u64),
      time_microseconds: u64,
    }),
  ],
  ['0x1::coin::DepositEvent', struct({ amount: u64 })],
  ['0x1::coin::WithdrawEvent', struct({ amount: u64 })],
  ['0x1::reconfiguration::NewEpochEvent', struct({ epoch: u64 })],
  ['0x1::stake::AddStakeEvent', struct({ pool_address: address, amount_added: u64 })],
  ['0x1::stake::JoinValidatorSetEvent', struct({ pool_address: address })],
  [
    '0x1::stake::RotateConsensusKeyEvent',
    struct({ pool_address: address, old_consensus_pubkey: bytes, new_consensus_pubkey: bytes }),
  ],
  [
    '0x1::stake::SetOperatorEvent',
    struct({ pool_address: address, old_operator: address, new_operator: address }),
  ],
  [
    '0x1::stake::UpdateNetworkAndFullnodeAddressesEvent',
    struct({
      pool_address: address,
      old_network_addresses: bytes,
      new_network_addresses: bytes,
      old_fullnode_addresses: bytes,
      new_fullnode_addresses: bytes,
    }),
  ],
  [
    '0x1::staking_contract::CreateStakingContractEvent',
    struct({
      operator: address,
      voter: address,
      pool_address: address,
      principal: u64,
      commission_percentage: u64,
    }),
  ],
  [
    '0x1::vesting::CreateVestingContractEvent',
    struct({
      operator: address,
      voter: address,
      grant_amount: u64,
      withdrawal_address: address,
      vesting_contract_address: address,
      staking_pool_address: address,
      commission_percentage: u64,
    }),
  ],
  [
    '0x1::voting::RegisterForumEvent',
    struct({ hosting_account: address, proposal_type_info: typeInfo }),
  ],
]);

/** The JSON of an event's data; every byte must be used. */
export function renderEventData(type: string, data: Buffer): string {
  const read = EVENTS.get(type);
  if (read === undefined) throw new Error(`no fields written down for ${type}`);
  const cursor = new FileCursor(data);
  const text = read(cursor);
  if (!cursor.isAtEnd) throw new Error(`bytes left in ${type}`);
  return text;
}

/** Number of event types above. */
export const RENDERED_TYPES = EVENTS.size;
