/** Activities of digital assets: mints, burns, changes and transfers. */
import type { RowSink } from '../rows/row-buffer.ts';
import { burnedFrom, ownersBefore, TOKEN } from './tokens.ts';
import {
  type ChainEvent,
  type Fields,
  fullAddress,
  type TransactionFacts,
} from './transaction-facts.ts';

interface TokenActivity {
  /** The type in the row, which is the name of the older event. */
  readonly type: string;
  readonly token: string;
  readonly row: Fields;
}

/** Keyed by type: events of the module, and the older ones in streams. */
const ACTIVITIES: Readonly<
  Record<string, (facts: TransactionFacts, event: ChainEvent) => TokenActivity>
> = {
  '0x4::collection::Mint': minted,
  '0x4::collection::MintEvent': minted,
  '0x4::collection::Burn': burned,
  '0x4::collection::BurnEvent': burned,
  '0x4::token::Mutation': changed,
  '0x4::token::MutationEvent': changed,
  '0x1::object::Transfer': transferred,
  '0x1::object::TransferEvent': transferred,
};

export function tokenActivities(facts: TransactionFacts, rows: RowSink): void {
  facts.events.forEach((event, index) => {
    const activity = ACTIVITIES[event.type]?.(facts, event);
    if (activity === undefined) return;
    const { type, token, row } = activity;
    const isToken =
      facts.resource(token, TOKEN) !== undefined || event.type.startsWith('0x4::collection::Burn');
    if (!isToken) return;
    rows.put('token_activities_v2', {
      transaction_version: facts.version,
      event_index: index,
      event_account_address: fullAddress(event.guid.account_address),
      token_data_id: token,
      property_version_v1: '0',
      type,
      token_amount: '1',
      before_value: null,
      after_value: null,
      entry_function_id_str: facts.entryFunction ?? null,
      token_standard: 'v2',
      is_fungible_v2: null,
      transaction_timestamp: facts.timestamp,
      from_address: null,
      to_address: null,
      ...row,
    });
  });
}

function minted(facts: TransactionFacts, { data }: ChainEvent): TokenActivity {
  const token = fullAddress(data.token);
  const from = facts.ownerOf(token) ?? null;
  return { type: '0x4::collection::MintEvent', token, row: { from_address: from } };
}

function burned(facts: TransactionFacts, { data }: ChainEvent): TokenActivity {
  const token = fullAddress(data.token);
  const [first] = ownersBefore(facts, token);
  const from = burnedFrom(facts, token) ?? first ?? null;
  return { type: '0x4::collection::BurnEvent', token, row: { from_address: from } };
}

function changed(facts: TransactionFacts, { guid, data }: ChainEvent): TokenActivity {
  const token = fullAddress(data.token_address ?? guid.account_address);
  return {
    type: '0x4::token::MutationEvent',
    token,
    row: {
      from_address: facts.ownerOf(token) ?? null,
      before_value: data.old_value,
      after_value: data.new_value,
    },
  };
}

function transferred(_: TransactionFacts, { data }: ChainEvent): TokenActivity {
  return {
    type: '0x1::object::TransferEvent',
    token: fullAddress(data.object),
    row: { from_address: fullAddress(data.from), to_address: fullAddress(data.to) },
  };
}
