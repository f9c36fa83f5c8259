/** Transfers of coins and fungible assets, and gas fees. */
import type { RowSink } from '../rows/row-buffer.ts';
import { APT_COIN, type CoinPairs, MAX_TYPE_CHARACTERS } from './coin-pairs.ts';
import { COIN_STORE, storeFacts } from './fungible-assets.ts';
import { feePayerOf } from './signers.ts';
import {
  type ChainEvent,
  fullAddress,
  primaryStore,
  type TransactionFacts,
  typeArgument,
} from './transaction-facts.ts';

const FUNGIBLE = '0x1::fungible_asset::';
/** The events of the module itself name the store. The older ones are in the store's own stream. */
const FUNGIBLE_EVENTS = new Set(
  ['Withdraw', 'Deposit', 'Frozen'].flatMap((name) => [
    `${FUNGIBLE}${name}`,
    `${FUNGIBLE}${name}Event`,
  ]),
);
const COIN_EVENTS: Readonly<Record<string, string>> = {
  '0x1::coin::CoinDeposit': 'deposit_events',
  '0x1::coin::CoinWithdraw': 'withdraw_events',
};
const COIN_STREAM_EVENTS: Readonly<Record<string, string>> = {
  '0x1::coin::DepositEvent': 'deposit_events',
  '0x1::coin::WithdrawEvent': 'withdraw_events',
};
const FEE_STATEMENT = '0x1::transaction_fee::FeeStatement';
const GAS_FEE_EVENT = '0x1::aptos_coin::GasFeeEvent';
/** Index of gas fees, which are in no event. */
const GAS_INDEX = -1;
const MAX_FUNCTION_CHARACTERS = 1_000;

/** The values that differ between activities. */
interface Activity {
  readonly storage: string;
  readonly owner: string | null;
  readonly asset: string | null;
  readonly standard: 'v1' | 'v2';
  readonly amount?: string;
  readonly isFrozen?: boolean;
}

export function assetActivities(facts: TransactionFacts, rows: RowSink, pairs: CoinPairs): void {
  facts.events.forEach((event, index) => {
    const activity = FUNGIBLE_EVENTS.has(event.type)
      ? fungibleActivity(facts, event)
      : coinActivity(facts, event, pairs);
    if (activity !== undefined) {
      rows.put('fungible_asset_activities', rowOf(facts, activity, event.type, index));
    }
  });
  if (facts.isOfUser) putGas(facts, rows, pairs);
}

function rowOf(facts: TransactionFacts, activity: Activity, type: string, index: number) {
  const { storage, owner, asset, standard, amount = null, isFrozen = null } = activity;
  return {
    transaction_version: facts.version,
    event_index: index,
    type,
    storage_id: storage,
    owner_address: owner,
    asset_type: asset,
    token_standard: standard,
    amount,
    is_frozen: isFrozen,
    transaction_timestamp: facts.timestamp,
    block_height: facts.blockHeight,
    is_transaction_success: facts.transaction.success,
    entry_function_id_str: facts.entryFunction?.slice(0, MAX_FUNCTION_CHARACTERS) ?? null,
    gas_fee_payer_address: null,
    is_gas_fee: false,
    storage_refund_amount: '0',
  };
}

function fungibleActivity(facts: TransactionFacts, { guid, type, data }: ChainEvent): Activity {
  const storage = fullAddress(data.store ?? guid.account_address);
  const store = storeFacts(facts, storage);
  return {
    ...{ storage, owner: store?.owner ?? null, asset: store?.metadata ?? null, standard: 'v2' },
    ...(type.startsWith(`${FUNGIBLE}Frozen`)
      ? { isFrozen: data.frozen as boolean }
      : { amount: data.amount as string }),
  };
}

function coinActivity(
  facts: TransactionFacts,
  event: ChainEvent,
  pairs: CoinPairs,
): Activity | undefined {
  const moved = movedCoin(facts, event);
  if (moved === undefined || moved.coin.length > MAX_TYPE_CHARACTERS) return undefined;
  const { coin, owner } = moved;
  const storage = primaryStore(owner, pairs.metadataOf(coin));
  return { storage, owner, asset: coin, standard: 'v1', amount: event.data.amount };
}

function movedCoin(
  facts: TransactionFacts,
  { guid, type, data }: ChainEvent,
): { readonly coin: string; readonly owner: string } | undefined {
  if (COIN_EVENTS[type] !== undefined) {
    return { coin: data.coin_type, owner: fullAddress(data.account) };
  }
  const stream = COIN_STREAM_EVENTS[type];
  if (stream === undefined) return undefined;
  const owner = fullAddress(guid.account_address);
  // The type of the store with the stream names the coin.
  for (const { address, type: resource, data: store } of facts.writes) {
    const coin = address === owner ? typeArgument(resource, COIN_STORE) : undefined;
    if (coin === undefined) continue;
    if (store[stream].guid.id.creation_num === guid.creation_number) return { coin, owner };
  }
  return undefined;
}

function putGas(facts: TransactionFacts, rows: RowSink, pairs: CoinPairs): void {
  const { gas_used: used, gas_unit_price: price } = facts.transaction;
  const statement = facts.events.find(({ type }) => type === FEE_STATEMENT);
  const owner = facts.sender!;
  const activity: Activity = {
    storage: primaryStore(owner, pairs.metadataOf(APT_COIN)),
    ...{ owner, asset: APT_COIN, standard: 'v1' },
    amount: String(BigInt(used) * BigInt(price!)),
  };
  rows.put('fungible_asset_activities', {
    ...rowOf(facts, activity, GAS_FEE_EVENT, GAS_INDEX),
    is_gas_fee: true,
    gas_fee_payer_address: feePayerOf(facts) ?? null,
    storage_refund_amount: statement?.data.storage_fee_refund_octas ?? '0',
  });
}
