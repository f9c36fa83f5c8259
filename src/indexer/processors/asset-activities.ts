/** What has moved of coins and fungible assets, and what gas has cost. */
import type { RowSink } from '../rows/row-buffer.ts';
import { APT_COIN, type CoinPairs } from './coin-pairs.ts';
import { COIN_STORE, MAX_TYPE_CHARACTERS, storeFacts } from './fungible-assets.ts';
import { feePayerOf } from './signers.ts';
import {
  type ChainEvent,
  type Fields,
  fullAddress,
  primaryStore,
  type TransactionFacts,
  typeArgument,
} from './transaction-facts.ts';

const FUNGIBLE = '0x1::fungible_asset::';
/** The events of the module itself name the store, the older ones are in the store's own stream. */
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
/** Gas is in no event. */
const GAS_INDEX = -1;
const MAX_FUNCTION_CHARACTERS = 1_000;

export function assetActivities(facts: TransactionFacts, rows: RowSink, pairs: CoinPairs): void {
  const shared = {
    transaction_version: facts.version,
    transaction_timestamp: facts.timestamp,
    block_height: facts.blockHeight,
    is_transaction_success: facts.transaction.success,
    entry_function_id_str: facts.entryFunction?.slice(0, MAX_FUNCTION_CHARACTERS) ?? null,
    gas_fee_payer_address: null,
    is_gas_fee: false,
    storage_refund_amount: '0',
    is_frozen: null,
    amount: null,
  };
  const put = (row: Fields): void => rows.put('fungible_asset_activities', { ...shared, ...row });
  facts.events.forEach((event, index) => {
    const row = FUNGIBLE_EVENTS.has(event.type)
      ? fungibleActivity(facts, event)
      : coinActivity(facts, event, pairs);
    if (row !== undefined) put({ ...row, type: event.type, event_index: index });
  });
  if (facts.isOfUser) put(gasActivity(facts, pairs));
}

function fungibleActivity(facts: TransactionFacts, { guid, type, data }: ChainEvent): Fields {
  const address = fullAddress(data.store ?? guid.account_address);
  const store = storeFacts(facts, address);
  return {
    storage_id: address,
    owner_address: store?.owner ?? null,
    asset_type: store?.metadata ?? null,
    token_standard: 'v2',
    ...(type.startsWith(`${FUNGIBLE}Frozen`)
      ? { is_frozen: data.frozen }
      : { amount: data.amount }),
  };
}

function coinActivity(
  facts: TransactionFacts,
  event: ChainEvent,
  pairs: CoinPairs,
): Fields | undefined {
  const moved = movedCoin(facts, event);
  if (moved === undefined || moved.coin.length > MAX_TYPE_CHARACTERS) return undefined;
  const { coin, owner } = moved;
  return {
    storage_id: primaryStore(owner, pairs.metadataOf(coin)),
    owner_address: owner,
    asset_type: coin,
    token_standard: 'v1',
    amount: event.data.amount,
  };
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
  // The store that has the stream says which coin it is.
  for (const { address, type: resource, data: store } of facts.writes) {
    const coin = address === owner ? typeArgument(resource, COIN_STORE) : undefined;
    if (coin === undefined) continue;
    if (store[stream].guid.id.creation_num === guid.creation_number) return { coin, owner };
  }
  return undefined;
}

function gasActivity(facts: TransactionFacts, pairs: CoinPairs): Fields {
  const { gas_used: used, gas_unit_price: price } = facts.transaction;
  const statement = facts.events.find(({ type }) => type === FEE_STATEMENT);
  const owner = facts.sender!;
  return {
    event_index: GAS_INDEX,
    type: GAS_FEE_EVENT,
    storage_id: primaryStore(owner, pairs.metadataOf(APT_COIN)),
    owner_address: owner,
    asset_type: APT_COIN,
    token_standard: 'v1',
    amount: String(BigInt(used) * BigInt(price!)),
    is_gas_fee: true,
    gas_fee_payer_address: feePayerOf(facts) ?? null,
    storage_refund_amount: statement?.data.storage_fee_refund_octas ?? '0',
  };
}
