/** What moved of an asset, as the indexer has it: the newest transaction first, and its events in their order. */

export const TRANSFERS_QUERY = `query Transfers($assets: [String!], $before: bigint, $event: bigint, $limit: Int) {
  fungible_asset_activities(
    where: {
      asset_type: { _in: $assets }, is_gas_fee: { _eq: false }, transaction_version: { _lte: $before }
      _not: { transaction_version: { _eq: $before }, event_index: { _lte: $event } }
    }
    order_by: [{ transaction_version: desc }, { event_index: asc }], limit: $limit
  ) {
    transaction_version event_index transaction_timestamp owner_address amount type entry_function_id_str
  }
}`;

export interface TransfersAnswer {
  readonly fungible_asset_activities: readonly {
    readonly transaction_version: unknown;
    readonly event_index: unknown;
    readonly transaction_timestamp: string;
    readonly owner_address: string | null;
    readonly amount: unknown;
    readonly type: string;
    readonly entry_function_id_str: string | null;
  }[];
}

/** Above every version and every index of an event. */
const END = (1n << 63n) - 1n;

interface TransfersPage {
  readonly assets: readonly string[];
  /** The version that the page begins below; absent: the newest. */
  readonly before: bigint | undefined;
  /** The rows of version `before` after this event are on the page, too. */
  readonly event: bigint | undefined;
  readonly limit: number;
}

/** The variables of the query. A page goes on at an event, because one transaction may fill more than a page. */
export function transfersPage({ assets, before = END, event = END, limit }: TransfersPage) {
  return { assets, before: String(before), event: String(event), limit };
}
