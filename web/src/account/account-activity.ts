/**
 * The transactions that affected an account, in both directions, newest first: those that the indexer lists for it;
 * without an indexer, those that it sent, and those that changed one of its balances.
 */
import type { BalanceChange, HeldBalance } from '../asking/answers.ts';
import { ApiFailure, send } from '../asking/api-client.ts';
import { parseJson } from '../asking/exact-json.ts';
import { fullAddress, indexerRequest, readGraph } from '../asking/indexer.ts';
import {
  type ApiRequest,
  balanceHistoryRequest,
  listingRequest,
  NATIVE_COIN,
  summariesRequest,
} from '../asking/requests.ts';

/** Maximum number of assets whose histories are read without an indexer. */
const MAX_ASSETS = 20;

export interface ActivityPage {
  /** Descending. */
  readonly versions: readonly string[];
  /** Where the next page begins; undefined at the end. */
  readonly next: bigint | undefined;
  /** The source of the versions. */
  readonly source: 'indexer' | 'balances' | 'sent';
  readonly request: ApiRequest;
}

const QUERY = `query Activity($account: String, $before: bigint, $limit: Int) {
  account_transactions(
    where: { account_address: { _eq: $account }, transaction_version: { _lt: $before } }
    order_by: { transaction_version: desc }
    limit: $limit
  ) { transaction_version }
}`;

/** Above every version. */
const END = (1n << 63n) - 1n;

interface ActivityOptions {
  readonly address: string;
  readonly before: bigint | undefined;
  readonly limit: number;
  /** The oldest version that the node has. */
  readonly oldest: bigint;
}

export async function readActivity(
  options: ActivityOptions,
  signal: AbortSignal,
): Promise<ActivityPage> {
  const { address, before = END, limit } = options;
  const variables = { account: fullAddress(address), before: String(before), limit };
  const request = indexerRequest(QUERY, variables);
  if (request !== undefined) {
    try {
      type Found = { account_transactions: readonly { transaction_version: unknown }[] };
      const { account_transactions } = await readGraph<Found>(request, signal);
      const versions = account_transactions.map((one) => String(one.transaction_version));
      return pageOf({ versions, limit, source: 'indexer', request });
    } catch (error) {
      // A proxy in between, or a stopped indexer: fall back to the node.
      if (!(error instanceof ApiFailure)) throw error;
    }
  }
  return await readOfNode(options, signal);
}

function pageOf(facts: {
  versions: readonly string[];
  limit: number;
  source: ActivityPage['source'];
  request: ApiRequest;
}): ActivityPage {
  const { versions, limit, source, request } = facts;
  const next = versions.length < limit ? undefined : BigInt(versions.at(-1)!);
  return { versions, next, source, request };
}

async function readOfNode(
  { address, before, limit, oldest }: ActivityOptions,
  signal: AbortSignal,
): Promise<ActivityPage> {
  const end = before === undefined ? undefined : String(before - 1n);
  const request = summariesRequest(address, limit, end);
  if (before !== undefined && before <= oldest) {
    return pageOf({ versions: [], limit, source: 'balances', request });
  }
  const versionsOf = async (one: ApiRequest): Promise<string[]> => {
    const { text } = await send(one, signal);
    return parseJson<readonly { version: string }[]>(text).map(({ version }) => version);
  };
  const assets = await heldAssets(address, end, signal);
  const histories = assets.map(async (asset) => {
    const page = { to_version: end, limit };
    const found = await readHistory(balanceHistoryRequest(address, asset, page), signal);
    // The balance before the oldest version is unknown, so the one at that version is not a change.
    return found?.filter(({ version }) => oldest === 0n || BigInt(version) > oldest);
  });
  const [sent, ...changes] = await Promise.all([versionsOf(request), ...histories]);
  const all = new Set(sent as string[]);
  for (const change of changes) {
    for (const one of (change as readonly BalanceChange[] | undefined) ?? []) all.add(one.version);
  }
  const versions = [...all].sort((a, b) => (BigInt(a) < BigInt(b) ? 1 : -1)).slice(0, limit);
  const isKnown = changes.every((change) => change !== undefined);
  return pageOf({ versions, limit, source: isKnown ? 'balances' : 'sent', request });
}

/** Undefined if the node has no histories, as on a fork. */
async function readHistory(request: ApiRequest, signal: AbortSignal) {
  try {
    return parseJson<readonly BalanceChange[]>((await send(request, signal)).text);
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 403) return undefined;
    throw error;
  }
}

async function heldAssets(address: string, version: string | undefined, signal: AbortSignal) {
  const page = { limit: MAX_ASSETS, ...(version !== undefined && { ledger_version: version }) };
  const { text } = await send(listingRequest(address, 'balances', page), signal);
  const held = parseJson<readonly HeldBalance[]>(text).map(({ asset_type }) => asset_type);
  return [...new Set([NATIVE_COIN, ...held])];
}
