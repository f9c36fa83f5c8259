/**
 * All balances of an account, asset by asset (docs/extensions.md). The rows of balances contain the assets, in the
 * order of their metadata's addresses. A row belongs to a coin, to a fungible asset, or to both if they are paired. An
 * address does not contain the coin's type, so the types are searched among the account's coin stores.
 */
import { BcsReader } from '../../move/bcs/bcs-reader.ts';
import { tryParse } from '../../move/errors.ts';
import { type Address, addressBytes, addressFromBytes } from '../../move/types/address.ts';
import {
  NATIVE_METADATA_ADDRESS,
  pairedMetadataAddress,
} from '../../move/types/derived-address.ts';
import {
  APTOS_COIN_TAG,
  coinInfoTag,
  FUNGIBLE_METADATA_TAG,
  OBJECT_GROUP_TAG,
} from '../../move/types/framework-tag.ts';
import { decodeResourceGroup, findGroupMember } from '../../move/types/resource-group.ts';
import {
  type AccessPathKey,
  type HashedStateKey,
  hashedStateKey,
  parsePhysicalStateKey,
  resourceGroupStateKey,
  resourceStateKey,
} from '../../move/types/state-key.ts';
import type { StructTag } from '../../move/types/type-tag.ts';
import { LedgerError } from '../../state/ledger-error.ts';
import type { PruningGuard } from '../../state/pruning-guard.ts';
import type { StateSource } from '../../state/source.ts';
import type { BalanceHolder, StoredBalance } from '../../store/columns/balance-column.ts';
import type { StateEntry } from '../../store/columns/state-column.ts';
import { YieldBudget } from '../../yield-budget.ts';
import { balanceAt, CoinAsset, FungibleAsset } from './balance.ts';

/** Maximum number of assets of a page; each takes up to four reads. */
export const MAX_BALANCES_PER_PAGE = 100;
/** Maximum number of an account's state keys searched for coin stores: less than a second, in steps. */
const MAX_SCANNED_KEYS = 100_000;
const KEYS_PER_STEP = 256;

/** How amounts of an asset are displayed. */
export interface AssetUnit {
  readonly name: string;
  readonly symbol: string;
  readonly decimals: number;
}

export interface HeldBalance {
  readonly metadata: Address;
  /** The type of the coin; `undefined` if the account never had a coin store for the asset. */
  readonly coin: StructTag | undefined;
  /** More than 0. */
  readonly amount: bigint;
  /** `undefined` if it is not in the state at this version. */
  readonly unit: AssetUnit | undefined;
}

export interface BalancePage {
  readonly balances: readonly HeldBalance[];
  /** The metadata that the next page begins with; `undefined` on the last page. */
  readonly next: Address | undefined;
}

export interface BalanceListRequest {
  readonly address: Address;
  readonly version: bigint;
  /** The first metadata; absent: from the beginning. */
  readonly start?: Address | undefined;
  /** 1 to MAX_BALANCES_PER_PAGE. */
  readonly limit: number;
  readonly pace?: YieldBudget;
}

interface BalanceListSources {
  readonly source: Pick<StateSource, 'balances' | 'accountKeys' | 'stateMany'>;
  readonly guard: PruningGuard;
}

type BalanceRow = readonly [BalanceHolder, StoredBalance];
type Coins = ReadonlyMap<Address, StructTag>;

/**
 * A page of the balances that are not 0. It may have fewer than `limit` without being the last.
 * @throws LedgerError `version_pruned`; `internal_error` for a balance that does not decode, and if coins are missing
 *   after `maxKeys` keys of the account
 */
export async function listBalances(
  { source, guard }: BalanceListSources,
  request: BalanceListRequest,
  maxKeys = MAX_SCANNED_KEYS,
): Promise<BalancePage> {
  const { address, version, start, limit } = request;
  const owner = addressBytes(address);
  const from = start === undefined ? undefined : addressBytes(start);
  const { rows: page, next } = await source.balances(owner, { from, limit, version });
  const coins = await coinsOf(source, request, page, maxKeys);
  const held: Omit<HeldBalance, 'unit'>[] = [];
  const state = (key: HashedStateKey, at: bigint) => guard.state(address, key, at);
  for (const [holder, row] of page) {
    const metadata = addressFromBytes(holder.metadata);
    const coin = coins.get(metadata);
    const asset = coin === undefined ? new FungibleAsset(metadata) : new CoinAsset(coin);
    const amount = await balanceAt(
      { index: { balance: () => row }, state },
      address,
      asset,
      version,
    );
    if (amount > 0n) held.push({ metadata, coin, amount });
  }
  const units = await unitsOf(source, held, version);
  // Without this check, rows of other objects that were pruned meanwhile would be silently missing.
  await guard.assertRetained(version, address);
  return {
    balances: held.map((one, at) => ({ ...one, unit: units[at] })),
    next: next === undefined ? undefined : addressFromBytes(next),
  };
}

/**
 * The coins of a page by their paired metadata: those for which the account has or had a coin store.
 * @throws LedgerError `internal_error` if a coin that may have an amount is not among the first `maxKeys` keys
 */
async function coinsOf(
  source: BalanceListSources['source'],
  { address, version, pace = new YieldBudget() }: BalanceListRequest,
  rows: readonly BalanceRow[],
  maxKeys: number,
): Promise<Coins> {
  const coins = new Map<Address, StructTag>([[NATIVE_METADATA_ADDRESS, APTOS_COIN_TAG]]);
  const counts = new Map(
    rows.map(([{ metadata }, row]) => [
      addressFromBytes(metadata),
      row.version > version || row.coin !== 0n,
    ]),
  );
  counts.delete(NATIVE_METADATA_ADDRESS);
  let from: Buffer | undefined;
  for (let scanned = 0; counts.size > 0; scanned += KEYS_PER_STEP) {
    if (scanned >= maxKeys) {
      if (![...counts.values()].includes(true)) break;
      const message = `the account has more than ${maxKeys} state keys; ask for one balance at a time`;
      throw new LedgerError('internal_error', message);
    }
    const page = await source.accountKeys(address, {
      from,
      limit: Math.min(KEYS_PER_STEP, maxKeys - scanned),
      version,
      kinds: ['resource'],
    });
    for (const key of page.keys) {
      const coin = coinOfStore(key);
      if (coin === undefined) continue;
      const metadata = pairedMetadataAddress(coin);
      if (counts.delete(metadata)) coins.set(metadata, coin);
    }
    if (page.next === undefined) break;
    from = page.next;
    await pace.nextTurn();
  }
  return coins;
}

function coinOfStore(physical: Buffer): StructTag | undefined {
  const { parsed } = parsePhysicalStateKey(physical) as AccessPathKey;
  if (parsed?.kind !== 'resource') return undefined;
  const { address, module, name, typeArguments } = parsed.tag;
  const [coin] = typeArguments;
  const isStore = address === APTOS_COIN_TAG.address && module === 'coin' && name === 'CoinStore';
  return isStore && coin?.kind === 'struct' ? coin.struct : undefined;
}

/** Units from the metadata of the fungible asset, or else from the coin's own information. */
async function unitsOf(
  source: BalanceListSources['source'],
  held: readonly Omit<HeldBalance, 'unit'>[],
  version: bigint,
): Promise<(AssetUnit | undefined)[]> {
  const groups = held.map(({ metadata }) => resourceGroupStateKey(metadata, OBJECT_GROUP_TAG));
  const coins = held.flatMap(({ coin }) => coin ?? []);
  const infos = coins.map((coin) => resourceStateKey(coin.address, coinInfoTag(coin)));
  const values = await source.stateMany([...groups, ...infos].map(hashedStateKey), version);
  const infoOf = new Map(coins.map((coin, at) => [coin, values[groups.length + at]]));
  return held.map(({ coin }, at) => {
    const info = coin && infoOf.get(coin)?.bytes;
    return unitInGroup(values[at]) ?? (info && tryParse(() => readUnit(info)));
  });
}

function unitInGroup(group: StateEntry | undefined): AssetUnit | undefined {
  const members = group?.bytes && tryParse(() => decodeResourceGroup(group.bytes!));
  const bytes = members && findGroupMember(members, FUNGIBLE_METADATA_TAG);
  return bytes && tryParse(() => readUnit(bytes));
}

/** Both kinds of resource begin with the same three fields. */
function readUnit(bytes: Uint8Array): AssetUnit {
  const reader = new BcsReader(bytes);
  return { name: reader.string(), symbol: reader.string(), decimals: reader.u8() };
}
