/** Transfers of an asset from the indexer: newest transaction first, events of a transaction in their order. */

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

/** Larger than every version and every event index. */
const END = (1n << 63n) - 1n;

interface TransfersPage {
  readonly assets: readonly string[];
  /** The page begins below this version; absent: with the newest. */
  readonly before: bigint | undefined;
  /** The page also has the rows of version `before` after this event. */
  readonly event: bigint | undefined;
  readonly limit: number;
}

/**
 * The variables of the query. A page can begin in the middle of a transaction, because one transaction may fill more
 * than a page.
 */
export function transfersPage({ assets, before = END, event = END, limit }: TransfersPage) {
  return { assets, before: String(before), event: String(event), limit };
}
