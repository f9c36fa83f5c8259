/**
 * The processors. Each creates the rows of one subject from a transaction, its changes and known coins, and nothing
 * else.
 */
import type { RowSink } from '../rows/row-buffer.ts';
import { accountKeys } from './account-keys.ts';
import { accountTransactions } from './account-transactions.ts';
import { assetActivities } from './asset-activities.ts';
import type { CoinPairs } from './coin-pairs.ts';
import { events } from './events.ts';
import { fungibleAssets } from './fungible-assets.ts';
import { legacyTokenActivities } from './legacy-token-activities.ts';
import { legacyTokens } from './legacy-tokens.ts';
import { objects } from './objects.ts';
import { staking } from './staking.ts';
import { tableItems } from './table-items.ts';
import { tokenActivities } from './token-activities.ts';
import { tokens } from './tokens.ts';
import type { TransactionFacts } from './transaction-facts.ts';
import { userTransactions } from './user-transactions.ts';

/** @param pairs coins of the assets in the transaction, looked up before the processors run */
type Processor = (facts: TransactionFacts, rows: RowSink, pairs: CoinPairs) => void;

/** Keyed by the names in `processor_status`, which clients query. */
const PROCESSORS: Readonly<Record<string, readonly Processor[]>> = {
  account_restoration_processor: [accountKeys],
  account_transactions_processor: [accountTransactions],
  default_processor: [tableItems],
  events_processor: [events],
  fungible_asset_processor: [fungibleAssets, assetActivities],
  objects_processor: [objects],
  stake_processor: [staking],
  token_v2_processor: [tokens, tokenActivities, legacyTokens, legacyTokenActivities],
  user_transaction_processor: [userTransactions],
};

export const PROCESSOR_NAMES = Object.keys(PROCESSORS);

const ALL = Object.values(PROCESSORS).flat();

export function process(facts: TransactionFacts, rows: RowSink, pairs: CoinPairs): void {
  for (const processor of ALL) processor(facts, rows, pairs);
}
