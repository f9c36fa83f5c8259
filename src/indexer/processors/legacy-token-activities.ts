/** Activities of tokens of the older standard (`0x3`), from their events. */
import type { RowSink } from '../rows/row-buffer.ts';
import { tokenDataId, tokenName } from './legacy-tokens.ts';
import {
  type ChainEvent,
  type Fields,
  fullAddress,
  type TransactionFacts,
} from './transaction-facts.ts';

interface TokenActivity {
  /** Identifies the token, without a version of its properties. */
  readonly id: Fields;
  readonly version: string;
  readonly amount: string;
  readonly from?: string;
  readonly to?: string;
}

type Read = (data: Fields, account: string) => TokenActivity;

const withdrawn: Read = ({ id, amount }, account) => ({ ...placeOf(id), amount, from: account });
const deposited: Read = ({ id, amount }, account) => ({ ...placeOf(id), amount, to: account });
const offered: Read = ({ token_id: id, amount, to_address: to }, account) => ({
  ...placeOf(id),
  ...{ amount, from: account, to: fullAddress(to) },
});
const minted: Read = ({ id, amount }, account) => ({ id, version: '0', amount, from: account });
const changed: Read = ({ old_id: id }, account) => ({
  ...placeOf(id),
  ...{ amount: '0', from: account, to: account },
});

/** Keyed by type: the events of streams, and the module events that replaced them. */
const EVENTS: Readonly<Record<string, Read>> = {
  '0x3::token::WithdrawEvent': withdrawn,
  '0x3::token::TokenWithdraw': withdrawn,
  '0x3::token::DepositEvent': deposited,
  '0x3::token::TokenDeposit': deposited,
  '0x3::token::BurnTokenEvent': withdrawn,
  '0x3::token::Burn': withdrawn,
  '0x3::token::MintTokenEvent': minted,
  '0x3::token::Mint': minted,
  '0x3::token::MutateTokenPropertyMapEvent': changed,
  '0x3::token::MutatePropertyMap': changed,
  '0x3::token_transfers::TokenOfferEvent': offered,
  '0x3::token_transfers::Offer': offered,
  '0x3::token_transfers::TokenClaimEvent': offered,
  '0x3::token_transfers::Claim': offered,
  '0x3::token_transfers::TokenCancelOfferEvent': offered,
  '0x3::token_transfers::CancelOffer': offered,
};

export function legacyTokenActivities(facts: TransactionFacts, rows: RowSink): void {
  facts.events.forEach((event, index) => {
    const activity = EVENTS[event.type]?.(event.data, accountOf(event));
    if (activity === undefined) return;
    rows.put('token_activities_v2', {
      transaction_version: facts.version,
      event_index: index,
      event_account_address: fullAddress(event.guid.account_address),
      token_data_id: tokenDataId(tokenName(activity.id)),
      property_version_v1: activity.version,
      type: event.type,
      from_address: activity.from ?? null,
      to_address: activity.to ?? null,
      token_amount: activity.amount,
      before_value: null,
      after_value: null,
      entry_function_id_str: facts.entryFunction ?? null,
      token_standard: 'v1',
      is_fungible_v2: null,
      transaction_timestamp: facts.timestamp,
    });
  });
}

/** The account of an event: from its data, or else from its stream. */
function accountOf({ data, guid }: ChainEvent): string {
  const { account, creator } = data;
  return fullAddress(account ?? creator ?? guid.account_address);
}

function placeOf({ token_data_id: id, property_version: version }: Fields) {
  return { id: id as Fields, version: version as string };
}
