import { defineTable, toMany, toOne } from './table.ts';

const ZERO_ADDRESS = `0x${'0'.repeat(64)}`;

export const STAKING_TABLES = [
  defineTable('delegated_staking_activities', {
    key: ['transaction_version', 'event_index'],
    indexes: [['delegator_address'], ['pool_address']],
    columns: {
      amount: 'numeric',
      delegator_address: 'text',
      event_index: 'bigint',
      event_type: 'text',
      pool_address: 'text',
      transaction_version: 'bigint',
    },
  }),
  defineTable('delegated_staking_pools', {
    key: ['staking_pool_address'],
    columns: { first_transaction_version: 'bigint', staking_pool_address: 'text' },
    relations: {
      current_staking_pool: toOne('current_staking_pool_voter', {
        staking_pool_address: 'staking_pool_address',
      }),
    },
  }),
  defineTable('delegated_staking_pool_balances', {
    key: ['transaction_version', 'staking_pool_address'],
    columns: {
      active_table_handle: 'text',
      inactive_table_handle: 'text',
      operator_commission_percentage: 'numeric',
      staking_pool_address: 'text',
      total_coins: 'numeric',
      total_shares: 'numeric',
      transaction_version: 'bigint',
    },
    hasAggregate: true,
  }),
  defineTable('current_delegated_staking_pool_balances', {
    key: ['staking_pool_address'],
    columns: {
      active_table_handle: 'text',
      inactive_table_handle: 'text',
      last_transaction_version: 'bigint',
      operator_commission_percentage: 'numeric',
      staking_pool_address: 'text',
      total_coins: 'numeric',
      total_shares: 'numeric',
    },
  }),
  defineTable('current_staking_pool_voter', {
    key: ['staking_pool_address'],
    columns: {
      last_transaction_version: 'bigint',
      operator_address: 'text',
      staking_pool_address: 'text',
      voter_address: 'text',
    },
    relations: {
      operator_aptos_name: toMany('current_aptos_names', {
        operator_address: 'registered_address',
      }),
    },
  }),
  defineTable('current_delegator_balances', {
    key: ['delegator_address', 'pool_address', 'pool_type', 'table_handle'],
    indexes: [['pool_address']],
    columns: {
      delegator_address: 'text',
      last_transaction_version: 'bigint',
      parent_table_handle: 'text',
      pool_address: 'text',
      pool_type: 'text',
      shares: 'numeric',
      table_handle: 'text',
    },
    relations: {
      current_pool_balance: toOne('current_delegated_staking_pool_balances', {
        pool_address: 'staking_pool_address',
      }),
      staking_pool_metadata: toOne('current_staking_pool_voter', {
        pool_address: 'staking_pool_address',
      }),
    },
  }),
  defineTable('delegator_distinct_pool', {
    columns: { delegator_address: 'text?', pool_address: 'text?' },
    relations: {
      current_pool_balance: toOne('current_delegated_staking_pool_balances', {
        pool_address: 'staking_pool_address',
      }),
      staking_pool_metadata: toOne('current_staking_pool_voter', {
        pool_address: 'staking_pool_address',
      }),
    },
    hasAggregate: true,
    view: `
      SELECT DISTINCT delegator_address, pool_address
      FROM current_delegator_balances
      WHERE shares > 0`,
  }),
  defineTable('num_active_delegator_per_pool', {
    columns: { num_active_delegator: 'bigint?', pool_address: 'text?' },
    view: `
      SELECT count(DISTINCT delegator_address) AS num_active_delegator, pool_address
      FROM current_delegator_balances
      WHERE shares > 0 AND pool_type = 'active_shares' AND delegator_address <> '${ZERO_ADDRESS}'
      GROUP BY pool_address`,
  }),
  defineTable('current_delegated_voter', {
    key: ['delegation_pool_address', 'delegator_address'],
    columns: {
      delegation_pool_address: 'text',
      delegator_address: 'text',
      last_transaction_timestamp: 'timestamp',
      last_transaction_version: 'bigint',
      pending_voter: 'text?',
      table_handle: 'text?',
      voter: 'text?',
    },
  }),
  defineTable('proposal_votes', {
    key: ['transaction_version', 'proposal_id', 'voter_address'],
    columns: {
      num_votes: 'numeric',
      proposal_id: 'bigint',
      should_pass: 'boolean',
      staking_pool_address: 'text',
      transaction_timestamp: 'timestamp',
      transaction_version: 'bigint',
      voter_address: 'text',
    },
    hasAggregate: true,
  }),
];
