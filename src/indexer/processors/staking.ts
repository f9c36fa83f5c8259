/** Staking pools, delegated stake, and votes. */
import type { RowSink } from '../rows/row-buffer.ts';
import {
  type ChainEvent,
  type DecodedItem,
  type Fields,
  fullAddress,
  type TableWrite,
  type TransactionFacts,
} from './transaction-facts.ts';

const POOL = '0x1::delegation_pool::DelegationPool';
const OWNERSHIP = '0x1::delegation_pool::DelegationPoolOwnership';
const STAKE_POOL = '0x1::stake::StakePool';
const DELEGATIONS =
  'vector<0x1::smart_table::Entry<address, 0x1::delegation_pool::VoteDelegation>>';
const VOTES = new Set(['0x1::aptos_governance::Vote', '0x1::aptos_governance::VoteEvent']);

/** Members with the amount, by name of the event. */
const AMOUNTS: Readonly<Record<string, string>> = {
  AddStake: 'amount_added',
  UnlockStake: 'amount_unlocked',
  WithdrawStake: 'amount_withdrawn',
  ReactivateStake: 'amount_reactivated',
};
const ACTIVITY =
  /^0x1::delegation_pool::(AddStake|UnlockStake|WithdrawStake|ReactivateStake)(?:Event)?$/;

export function staking(facts: TransactionFacts, rows: RowSink): void {
  facts.events.forEach((event, index) => {
    putActivity(facts, event, index, rows);
    if (VOTES.has(event.type)) putVote(facts, event, rows);
  });
  for (const { address, type, data } of facts.writes) {
    if (type === STAKE_POOL) putVoter(facts, address, data, rows);
    if (type === POOL) putPool(facts, address, data, rows);
    if (type === OWNERSHIP) {
      // The resource is written only once.
      rows.put('delegated_staking_pools', {
        staking_pool_address: fullAddress(data.pool_address),
        first_transaction_version: facts.version,
      });
    }
  }
  for (const write of facts.tableWrites) {
    const { decoded: item } = write;
    if (item === undefined) continue;
    if (item.keyType === 'address' && item.valueType === 'u128') {
      putShares(facts, write, item, rows);
    }
    if (item.valueType === DELEGATIONS) putDelegations(facts, write, item, rows);
  }
}

function putActivity(
  { version }: TransactionFacts,
  { type, data }: ChainEvent,
  index: number,
  rows: RowSink,
): void {
  const name = ACTIVITY.exec(type)?.[1];
  if (name === undefined) return;
  rows.put('delegated_staking_activities', {
    transaction_version: version,
    event_index: index,
    delegator_address: fullAddress(data.delegator_address),
    pool_address: fullAddress(data.pool_address),
    // Module events are shown with the name of the older event.
    event_type: `0x1::delegation_pool::${name}Event`,
    amount: data[AMOUNTS[name]!],
  });
}

function putVote(
  { version, timestamp }: TransactionFacts,
  { data }: ChainEvent,
  rows: RowSink,
): void {
  rows.put('proposal_votes', {
    transaction_version: version,
    transaction_timestamp: timestamp,
    proposal_id: data.proposal_id,
    voter_address: fullAddress(data.voter),
    staking_pool_address: fullAddress(data.stake_pool),
    num_votes: data.num_votes,
    should_pass: data.should_pass,
  });
}

function putVoter(facts: TransactionFacts, address: string, data: Fields, rows: RowSink): void {
  rows.put('current_staking_pool_voter', {
    staking_pool_address: address,
    voter_address: fullAddress(data.delegated_voter),
    operator_address: fullAddress(data.operator_address),
    last_transaction_version: facts.version,
  });
}

function putPool({ version }: TransactionFacts, address: string, data: Fields, rows: RowSink) {
  const { total_coins: coins, total_shares: shares, scaling_factor: factor } = data.active_shares;
  const row = {
    staking_pool_address: address,
    total_coins: coins,
    total_shares: quotient(shares, factor),
    operator_commission_percentage: quotient(data.operator_commission_percentage, '100'),
    active_table_handle: activeHandle(data),
    inactive_table_handle: fullAddress(data.inactive_shares.handle),
  };
  rows.put('delegated_staking_pool_balances', { ...row, transaction_version: version });
  rows.put('current_delegated_staking_pool_balances', {
    ...row,
    last_transaction_version: version,
  });
}

function activeHandle({ active_shares: active }: Fields): string {
  return fullAddress(active.shares.inner.handle);
}

/** Puts a delegator's shares. The pool itself is written with each change of its shares. */
function putShares(
  facts: TransactionFacts,
  { handle }: TableWrite,
  { key, value, owner }: DecodedItem,
  rows: RowSink,
): void {
  const pool = facts.resource(owner, POOL);
  if (pool === undefined) return;
  const isActive = handle === activeHandle(pool);
  const { scaling_factor: factor } = pool.active_shares;
  rows.put('current_delegator_balances', {
    delegator_address: fullAddress(key as string),
    pool_address: owner,
    pool_type: isActive ? 'active_shares' : 'inactive_shares',
    table_handle: handle,
    parent_table_handle: isActive ? handle : fullAddress(pool.inactive_shares.handle),
    shares: value === undefined ? '0' : quotient(value as string, factor),
    last_transaction_version: facts.version,
  });
}

function putDelegations(
  { version, timestamp }: TransactionFacts,
  { handle }: TableWrite,
  { value, owner }: DecodedItem,
  rows: RowSink,
): void {
  for (const { key, value: delegation } of (value ?? []) as readonly Fields[]) {
    rows.put('current_delegated_voter', {
      delegation_pool_address: owner,
      delegator_address: fullAddress(key),
      table_handle: handle,
      voter: fullAddress(delegation.voter),
      pending_voter: fullAddress(delegation.pending_voter),
      last_transaction_version: version,
      last_transaction_timestamp: timestamp,
    });
  }
}

/** Decimal places: as many as the scaling factor of a pool, 10^16, has zeros. */
const DIGITS = 16n;

/** A quotient as a decimal, exact if the divisor is a power of ten up to 10^16. */
function quotient(dividend: string, divisor: string): string {
  const scaled = (BigInt(dividend) * 10n ** DIGITS) / BigInt(divisor);
  const whole = scaled / 10n ** DIGITS;
  const rest = String(scaled % 10n ** DIGITS)
    .padStart(Number(DIGITS), '0')
    .replace(/0+$/, '');
  return rest === '' ? String(whole) : `${whole}.${rest}`;
}
